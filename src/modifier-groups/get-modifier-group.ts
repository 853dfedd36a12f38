import type { Database } from '../db/database.ts';
import { data } from '../db/json.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { isCurrent } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { notModified, ok } from '../http/reply.ts';
import { requireReach, withinReach } from '../records/reach.ts';
import { isAtPath } from '../records/record-kind.ts';
import { type GroupKey, groupKey } from './keys.ts';
import { groupETag, groupJson, groups } from './modifier-group.ts';

/** One modifier group with its modifiers, or 304 if the client has it. @throws 404 or 403 */
export async function getModifierGroup(call: Call<'getModifierGroup'>): Promise<Reply<'getModifierGroup'>> {
  const { database, params, caller, headers } = call;
  const row = await readGroup(database, groupKey(params, caller));
  if (isCurrent(headers['if-none-match'], row.etag)) return notModified(row.etag);
  return ok(data(row.resource), { ETag: row.etag });
}

/** The group with its modifiers. @throws 404 or 403 */
export async function readGroup(database: Database, key: GroupKey) {
  const [found] = await selectGroup(database, key);
  return requireReach(found, 'modifier group');
}

const selectGroup = statement('modifierGroups.getModifierGroup', (p: Param<GroupKey>) =>
  build
    .selectFrom('modifier_group')
    .select([
      withinReach(p, 'modifier_group').as('within_reach'),
      groupETag().as('etag'),
      groupJson().as('resource'),
    ])
    .where(isAtPath(groups, p)),
);
