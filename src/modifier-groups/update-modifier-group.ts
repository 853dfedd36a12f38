import { inTransaction } from '../db/database.ts';
import { data } from '../db/json.ts';
import { parameterError } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { ok } from '../http/reply.ts';
import { partialUpdate } from '../records/update.ts';
import { readGroup } from './get-modifier-group.ts';
import { groupKey } from './keys.ts';
import { takeTurn } from './lock.ts';
import { groupFields, groups, requireGroup } from './modifier-group.ts';
import { readRules, unmet } from './rules.ts';

/** Changes the fields present in the body, when the group's modifiers and uses still go with them. */
export async function updateModifierGroup(
  call: Call<'updateModifierGroup'>,
): Promise<Reply<'updateModifierGroup'>> {
  const { params, body, caller, headers, requestId } = call;
  const key = groupKey(params, caller);
  const { etag, resource } = await inTransaction(call.database, async (database) => {
    await requireGroup(database, key);
    await takeTurn(database, key);
    const [rules] = await readRules(database, { ...key, groups: [key.modifier_group_id] });
    const errors = rules ? unmet({ ...rules, ...body }) : [];
    if (errors.length > 0) throw parameterError(errors);
    await update({ database, headers, requestId }, key, body);
    return readGroup(database, key);
  });
  return ok(data(resource), { ETag: etag });
}

const update = partialUpdate({
  name: 'modifierGroups.updateModifierGroup',
  kind: groups,
  fields: groupFields,
  require: requireGroup,
  eventTypes: 'modifier_group.updated',
  contentVersion: true,
  options: { through: 'modifier_group' },
});
