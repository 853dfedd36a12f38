import { isCurrent } from '../../http/conditional.ts';
import type { Call, Reply } from '../../http/handler.ts';
import { notModified, ok, okAs } from '../../http/reply.ts';
import { requireReach } from '../../records/reach.ts';
import { menuKey } from '../menu.ts';
import { selectMenuETag } from '../menu-detail.ts';
import { readStored } from '../stored-menu.ts';
import { contentOf } from './document.ts';
import { representationETag } from './etags.ts';
import { writeCsv } from './write-csv.ts';

/** The whole menu as one document, in the form that importMenu takes. */
export async function exportMenu(call: Call<'exportMenu'>): Promise<Reply<'exportMenu'>> {
  const { database, params, query, caller, headers, mediaType } = call;
  const key = menuKey(params, caller);
  if (headers['if-none-match'] !== undefined) {
    const [current] = await selectMenuETag(database, key);
    const etag = representationETag(requireReach(current, 'menu').etag, mediaType);
    if (isCurrent(headers['if-none-match'], etag)) return notModified(etag);
  }
  const stored = requireReach(await readStored(database, key), 'menu');
  const withAvailability = query.availability ?? false;
  const content = contentOf(stored, { withAvailability });
  const etag = representationETag(stored.etag, mediaType);
  return mediaType === 'text/csv'
    ? okAs(mediaType, writeCsv(content, { withAvailability }), { ETag: etag })
    : ok({ data: content }, { ETag: etag });
}
