import { data } from '../db/json.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { isCurrent } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { notModified, ok } from '../http/reply.ts';
import { requireReach, withinReach } from '../records/reach.ts';
import { isAtPath } from '../records/record-kind.ts';
import { type ModifierKey, modifierKey } from './keys.ts';
import { modifierJson, modifiers } from './modifier.ts';

/** One modifier, or 304 if the client has it. @throws 404 or 403 */
export async function getModifier(call: Call<'getModifier'>): Promise<Reply<'getModifier'>> {
  const { database, params, caller, headers } = call;
  const [found] = await selectModifier(database, modifierKey(params, caller));
  const row = requireReach(found, 'modifier');
  if (isCurrent(headers['if-none-match'], row.etag)) return notModified(row.etag);
  return ok(data(row.resource), { ETag: row.etag });
}

const selectModifier = statement('modifierGroups.getModifier', (p: Param<ModifierKey>) =>
  build
    .selectFrom('modifier')
    .select([
      withinReach(p, 'modifier').as('within_reach'),
      modifiers.eTag().as('etag'),
      modifierJson().as('resource'),
    ])
    .where(isAtPath(modifiers, p)),
);
