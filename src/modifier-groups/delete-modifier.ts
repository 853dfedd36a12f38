import { type Database, inTransaction } from '../db/database.ts';
import { ApiError } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { noContent } from '../http/reply.ts';
import { deletion } from '../records/delete.ts';
import { type ModifierKey, modifierKey } from './keys.ts';
import { lockGroups, takeTurn } from './lock.ts';
import { lockModifier, modifiers, requireModifier } from './modifier.ts';
import { readRules, unmet } from './rules.ts';
import { noteShowingMenus } from './shown-groups.ts';

/** Deletes a modifier, and with it its uses of other groups. */
export async function deleteModifier(call: Call<'deleteModifier'>): Promise<Reply<'deleteModifier'>> {
  const { database, params, caller, headers, requestId } = call;
  const key = modifierKey(params, caller);
  await inTransaction(database, async (transaction) => {
    await requireModifier(transaction, key);
    await takeTurn(transaction, key);
    await requireUnneeded(transaction, key);
    await lockModifier(transaction, key);
    await lockGroups(transaction, key);
    await deleteOne({ database: transaction, headers, requestId }, key);
    await noteShowingMenus(transaction, key);
  });
  return noContent();
}

const deleteOne = deletion({
  name: 'modifierGroups.deleteModifier',
  kind: modifiers,
  require: requireModifier,
  options: { through: 'modifier' },
});

async function requireUnneeded(database: Database, key: ModifierKey): Promise<void> {
  const [rules] = await readRules(database, { ...key, groups: [key.modifier_group_id] });
  const defaults = rules?.defaults.filter(({ modifier_id }) => modifier_id !== key.modifier_id) ?? [];
  if (!rules || defaults.length === rules.defaults.length || unmet({ ...rules, defaults }).length === 0)
    return;
  const detail =
    'Without this modifier, min_selections could not be reached. Lower it first, or add another modifier.';
  throw new ApiError(409, 'Conflict', 'modifier_required', detail);
}
