import type { components } from '../../generated/api.ts';
import { columns, jsonObject } from '../db/json.ts';
import { build, type Param, statement } from '../db/statement.ts';
import type { Call, Reply } from '../http/handler.ts';
import { type PageRequest, pageRequest, pageResponse } from '../http/pagination.ts';
import { type GroupKey, groupKey } from './keys.ts';
import { requireGroup } from './modifier-group.ts';

/** A page of the items and modifiers that offer the group, by id. @throws 404 or 403 for the group */
export async function listModifierGroupUses(
  call: Call<'listModifierGroupUses'>,
): Promise<Reply<'listModifierGroupUses'>> {
  const { database, params, query, caller } = call;
  const wanted = pageRequest(query);
  const key = groupKey(params, caller);
  // A use has no location of its own, so the group decides first.
  await requireGroup(database, key);
  const rows = await selectUses(database, { ...key, ...wanted });
  return pageResponse(rows, wanted, call);
}

const selectUses = statement('modifierGroups.listModifierGroupUses', (p: Param<GroupKey & PageRequest>) => {
  const used = columns('modifier_group_use');
  return build
    .selectFrom('modifier_group_use')
    .select([
      'modifier_group_use_id as id',
      jsonObject<components['schemas']['ModifierGroupUser']>({
        item_id: used.item_id,
        menu_id: used.menu_id,
        modifier_id: used.modifier_id,
        modifier_group_id: used.user_group_id,
        min_selections: used.min_selections,
        max_selections: used.max_selections,
      }).as('resource'),
    ])
    .where('account_id', '=', p('account_id', 'bigint'))
    .where('modifier_group_id', '=', p('modifier_group_id', 'bigint'))
    .where('modifier_group_use_id', '>', p('after', 'bigint'))
    .orderBy('modifier_group_use_id')
    .limit(p('limit', 'bigint'));
});
