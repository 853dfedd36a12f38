import { type Database, inTransaction } from '../db/database.ts';
import { data } from '../db/json.ts';
import { build, type Param } from '../db/statement.ts';
import { acceptedETags, requireMatch } from '../http/conditional.ts';
import { parameterError } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { ok } from '../http/reply.ts';
import { isReachable } from '../records/record-kind.ts';
import { change, changedFields, raised, type Written, write, written } from '../records/write.ts';
import { type ModifierKey, modifierKey } from './keys.ts';
import { lockGroups, takeTurn } from './lock.ts';
import { lockModifier, modifiers, requireModifier, type Uses } from './modifier.ts';
import { nestingErrors, readNestings } from './nesting.ts';
import { noteShowingMenus } from './shown-groups.ts';
import { noteUses, requireMeetable, sameUses, wantedUses } from './uses.ts';

/**
 * Sets the whole list of groups that a modifier offers, in one transaction with its event. Two writers that would
 * together create a circle are serialized, and the second sees what the first has written.
 */
export async function setModifierModifierGroups(
  call: Call<'setModifierModifierGroups'>,
): Promise<Reply<'setModifierModifierGroups'>> {
  const { params, caller, headers, body, requestId } = call;
  const key = modifierKey(params, caller);
  const wanted = wantedUses(body);
  const if_match = acceptedETags(headers['if-match']);
  const { etag, resource } = await inTransaction(call.database, async (database) => {
    await requireModifier(database, key);
    await takeTurn(database, key);
    const [modifier] = await lockModifier(database, key);
    if (!modifier) {
      await requireModifier(database, key);
      throw new Error('the modifier is not held');
    }
    requireMatch(if_match, modifier.etag);
    await requireMeetable(database, key, wanted);
    await requireFlat(database, key, wanted);
    if (sameUses(modifier.modifier_groups, wanted)) return modifier;
    await lockGroups(database, key);
    const [changed] = await set(database, { ...key, uses: JSON.stringify(wanted), ...written(requestId) });
    if (!changed) throw new Error('the modifier that is held was not changed');
    await noteUses(database, { account_id: key.account_id, items: [], modifiers: [key.modifier_id] });
    await noteShowingMenus(database, key);
    return changed;
  });
  return ok(data(resource), { ETag: etag });
}

/** @throws 422 for a group that would lie within itself, or too deep. */
async function requireFlat(database: Database, key: ModifierKey, wanted: Uses): Promise<void> {
  const nestings = wanted.map(({ modifier_group_id }, place) => ({
    outer: key.modifier_group_id,
    inner: modifier_group_id,
    field: `/modifier_groups/${place}/modifier_group_id`,
  }));
  const errors = nestingErrors(nestings, await readNestings(database, key));
  if (errors.length > 0) throw parameterError(errors);
}

type Values = ModifierKey & Written & { /** JSON. */ uses: string };

const set = write(
  'modifierGroups.setModifierModifierGroups',
  (p: Param<Values>) =>
    build
      .updateTable('modifier')
      .set({ modifier_groups: p('uses', 'json'), ...raised(p, 'modifier') })
      .where(isReachable(modifiers, p))
      .returning([
        ...change(modifiers, 'modifier.updated', { previous: changedFields(modifiers) }),
        modifiers.eTag('new').as('etag'),
      ]),
  ['etag', 'resource'],
  { through: 'modifier' },
);
