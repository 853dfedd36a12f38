import type { components } from '../../../generated/api.ts';
import type { EncodedJson } from '../../db/json.ts';
import { isCurrent } from '../../http/conditional.ts';
import type { Call, Reply } from '../../http/handler.ts';
import { notModified, ok, okAs } from '../../http/reply.ts';
import { createTurns } from '../../http/turns.ts';
import { requireReach } from '../../records/reach.ts';
import { menuKey } from '../menu.ts';
import { selectMenuETag } from '../menu-detail.ts';
import { readStoredText, type StoredText, sizeOfStored, type WantedGroups } from '../stored-menu.ts';
import { representationETag } from './etags.ts';
import type { ExportQuestion } from './thread.ts';
import { converse, smallSize } from './threads.ts';
import { type Form, writeDocument } from './write-document.ts';

/** The whole menu as one document, in the form that importMenu accepts. */
export async function exportMenu(call: Call<'exportMenu'>): Promise<Reply<'exportMenu'>> {
  const { database, params, query, caller, headers, mediaType } = call;
  const key = menuKey(params, caller);
  if (headers['if-none-match'] !== undefined) {
    const [current] = await selectMenuETag(database, key);
    const etag = representationETag(requireReach(current, 'menu').etag, mediaType);
    if (isCurrent(headers['if-none-match'], etag)) return notModified(etag);
  }
  const { etag, document } = await inTurn(caller.clientId, async () => {
    const stored = requireReach(await readStoredText(database, key, groupsIn(mediaType)), 'menu');
    return {
      etag: representationETag(stored.etag, mediaType),
      document: await written(caller.clientId, stored, {
        mediaType,
        withAvailability: query.availability ?? false,
      }),
    };
  });
  return mediaType === 'text/csv'
    ? okAs(mediaType, document, { ETag: etag })
    : ok(document as EncodedJson<components['schemas']['MenuDocument']>, { ETag: etag });
}

// As many as imports.
const inTurn = createTurns(2);

// CSV has none.
function groupsIn(mediaType: Form['mediaType']): WantedGroups {
  return mediaType === 'text/csv' ? 'none' : 'of the menu';
}

async function written(clientId: string, stored: StoredText, form: Form): Promise<Buffer> {
  if (sizeOfStored(stored) <= smallSize) return Buffer.from(writeDocument(stored, form).buffer);
  const { ask, close } = converse(clientId, 'export');
  try {
    const document = await ask<Uint8Array<ArrayBuffer>>({ stored, form } satisfies ExportQuestion);
    return Buffer.from(document.buffer, document.byteOffset, document.byteLength);
  } finally {
    close();
  }
}
