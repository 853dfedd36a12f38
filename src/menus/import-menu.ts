import { reachOf, requireReach } from '../records/reach.ts';
import { acceptedTags, requireMatch } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { ok } from '../http/reply.ts';
import { applyPlan } from './content/apply.ts';
import { diffOf } from './content/diff.ts';
import { type GivenDocument, readDocument } from './content/read-document.ts';
import { lockStored } from './content/lock.ts';
import { changesAnything, type Plan, planImport } from './content/plan.ts';
import { readStored, type StoredMenu } from './content/stored.ts';
import { menuTagsOf } from './content/etags.ts';
import { type MenuKey, requireMenu } from './menu.ts';
import { selectMenuTag } from './menu-detail.ts';

/**
 * Makes the menu equal to a document, in one transaction with its events. The difference is first made without a
 * lock, so that a faulty document, a dry run and one that changes nothing keep nobody waiting.
 */
export async function importMenu(call: Call<'importMenu'>): Promise<Reply<'importMenu'>> {
  const { database, params, query, caller, headers, body, bodyType, eventCommitted } = call;
  const key = { ...params, ...reachOf(caller) };
  const dryRun = query.dry_run ?? false;
  const accepted = menuTagsOf(acceptedTags(headers['if-match']));
  const document = readDocument(body, bodyType);

  const found = await readStored(database, key);
  if (document.isFaulty) document.match(found?.within_reach ? found : undefined);
  const stored = requireReach(found, 'menu');
  requireMatch(accepted, stored.etag);
  const plan = makePlan(document, stored);
  const { menu_id } = params;
  if (dryRun || !changesAnything(plan)) {
    return ok({ data: diffOf(menu_id, dryRun, plan) }, { ETag: stored.etag });
  }
  const done = await write(call, key, accepted, document);
  eventCommitted();
  return ok({ data: diffOf(menu_id, dryRun, done.plan) }, { ETag: done.etag });
}

function makePlan(document: GivenDocument, stored: StoredMenu): Plan {
  return planImport(document.content, stored, document.match(stored));
}

async function write(
  { database, caller, requestId }: Call<'importMenu'>,
  key: MenuKey,
  accepted: string[] | null,
  document: GivenDocument,
): Promise<{ plan: Plan; etag: string }> {
  const { menu_id, account_id } = key;
  for (;;) {
    const done = await database.transaction().execute(async (transaction) => {
      const stored = await lockStored(transaction, key);
      if (!stored) return undefined;
      requireMatch(accepted, stored.etag);
      const plan = makePlan(document, stored);
      const { location_id } = stored;
      await applyPlan(transaction, { account_id, location_id, menu_id, request_id: requestId }, plan);
      const [current] = await selectMenuTag(transaction, key);
      return { plan, etag: current?.etag ?? stored.etag };
    });
    if (done) return done;
    await requireMenu(database, menu_id, caller);
  }
}
