import { inTransaction, patient } from '../../db/database.ts';
import { acceptedETags, requireMatch } from '../../http/conditional.ts';
import type { Call, Reply } from '../../http/handler.ts';
import { ok } from '../../http/reply.ts';
import { type MenuKey, requireMenu } from '../../records/menu-reach.ts';
import { requireReach } from '../../records/reach.ts';
import { lockStored } from '../lock-content.ts';
import { menuKey } from '../menu.ts';
import { selectMenuETag } from '../menu-detail.ts';
import { readStored, type StoredMenu } from '../stored-menu.ts';
import { applyPlan } from './apply.ts';
import { diffOf } from './diff.ts';
import { menuETagsOf } from './etags.ts';
import { changesAnything, type Plan, planImport } from './plan.ts';
import { readDocument, type SentDocument } from './read-document.ts';

/**
 * Makes the menu equal to a document, in one transaction with its events. The difference is first found without a
 * lock, so that a wrong document, a dry run and one that changes nothing keep nobody waiting.
 */
export async function importMenu(call: Call<'importMenu'>): Promise<Reply<'importMenu'>> {
  const { database, params, query, caller, headers, body, bodyType } = call;
  const key = menuKey(params, caller);
  const dryRun = query.dry_run ?? false;
  const accepted = menuETagsOf(acceptedETags(headers['if-match']));
  const document = readDocument(body, bodyType);
  const found = await readStored(database, key);
  if (document.isWrong) document.match(found?.within_reach ? found : undefined);
  const stored = requireReach(found, 'menu');
  requireMatch(accepted, stored.etag);

  const plan = planOf(document, stored);
  const { menu_id } = params;
  if (dryRun || !changesAnything(plan)) {
    return ok({ data: diffOf(menu_id, dryRun, plan) }, { ETag: stored.etag });
  }
  const done = await apply(call, key, accepted, document);
  return ok({ data: diffOf(menu_id, dryRun, done.plan) }, { ETag: done.etag });
}

function planOf(document: SentDocument, stored: StoredMenu): Plan {
  return planImport(document.content, stored, document.match(stored));
}

async function apply(
  { database, requestId }: Call<'importMenu'>,
  key: MenuKey,
  accepted: string[] | null,
  document: SentDocument,
): Promise<{ plan: Plan; etag: string }> {
  const { menu_id, account_id } = key;
  for (;;) {
    const done = await inTransaction(patient(database), async (transaction) => {
      const stored = await lockStored(transaction, key);
      if (!stored) return undefined;
      requireMatch(accepted, stored.etag);
      const plan = planOf(document, stored);
      const { location_id } = stored;
      await applyPlan(transaction, { account_id, location_id, menu_id, request_id: requestId }, plan);
      const [current] = await selectMenuETag(transaction, key);
      return { plan, etag: current?.etag ?? stored.etag };
    });
    if (done) return done;
    await requireMenu(database, key);
  }
}
