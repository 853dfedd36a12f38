import { type RawBuilder, sql } from 'kysely';
import { inTransaction } from '../db/database.ts';
import { type Param, statement } from '../db/statement.ts';
import { acceptedETags, requireMatch } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { noContent } from '../http/reply.ts';
import { items } from '../items/item.ts';
import { onConstraint } from '../records/constraints.ts';
import {
  type ChangeRow,
  change,
  changedFields,
  list,
  type Written,
  write,
  written,
} from '../records/write.ts';
import { readGroup } from './get-modifier-group.ts';
import { type GroupKey, groupKey } from './keys.ts';
import { lockGroups, takeTurn } from './lock.ts';
import { modifiers } from './modifier.ts';
import { groups } from './modifier-group.ts';
import { noteShowingMenus } from './shown-groups.ts';

/** Deletes a group with its modifiers, in one transaction with an event for each; `detach` ends its uses as well. */
export async function deleteModifierGroup(
  call: Call<'deleteModifierGroup'>,
): Promise<Reply<'deleteModifierGroup'>> {
  const { params, query, caller, headers, requestId } = call;
  const key = groupKey(params, caller);
  const values = { ...key, ...written(requestId) };
  await inTransaction(call.database, async (database) => {
    await readGroup(database, key);
    await takeTurn(database, key);
    await lockItems(database, key);
    await lockModifiers(database, key);
    await lockGroups(database, key);
    requireMatch(acceptedETags(headers['if-match']), (await readGroup(database, key)).etag);
    if (query.detach) {
      await lockMenus(database, key);
      await detachItems(database, values);
      await detachModifiers(database, values);
      await endUses(database, key);
    }
    await removeModifiers(database, values);
    await removeGroup(database, values);
    await noteShowingMenus(database, key);
  });
  return noContent();
}

type Values = GroupKey & Written;

// All that detaching changes is held before the first change, in the order in which every write locks.
const lockItems = statement(
  'modifierGroups.deleteModifierGroup.lockItems',
  (p: Param<GroupKey>) => sql<object>`
    select item_id from item where (item_id, account_id) in (${users(p, 'item_id')})
    order by item_id for no key update`,
);

const lockModifiers = statement(
  'modifierGroups.deleteModifierGroup.lockModifiers',
  (p: Param<GroupKey>) => sql<object>`
    select modifier_id from modifier
    where (modifier_id, account_id) in (
      ${users(p, 'modifier_id')}
      union all
      select modifier_id, account_id from modifier
      where account_id = ${p('account_id', 'bigint')} and modifier_group_id = ${p('modifier_group_id', 'bigint')})
    order by modifier_id for update`,
);

const lockMenus = statement(
  'modifierGroups.deleteModifierGroup.lockMenus',
  (p: Param<GroupKey>) => sql<object>`
    select menu_id from menu
    where account_id = ${p('account_id', 'bigint')} and menu_id = any (array(
      select unnest(menu_ids) from modifier_group
      where modifier_group_id = ${p('modifier_group_id', 'bigint')} and account_id = ${p('account_id', 'bigint')}))
    order by menu_id for no key update`,
);

const detachItems = write(
  'modifierGroups.deleteModifierGroup.items',
  (p: Param<Values>) => sql<ChangeRow<never>>`
    update item set modifier_groups = ${withoutGroup(p, 'item')}, ${raise(p, 'item')}
    where (item_id, account_id) in (${users(p, 'item_id')})
    returning ${list(change(items, 'item.updated', { previous: changedFields(items) }))}`,
  ['record'],
  { inSeveralMenus: true },
);

const detachModifiers = write(
  'modifierGroups.deleteModifierGroup.users',
  (p: Param<Values>) => sql<ChangeRow<never>>`
    update modifier set modifier_groups = ${withoutGroup(p, 'modifier')}, ${raise(p, 'modifier')}
    where (modifier_id, account_id) in (${users(p, 'modifier_id')})
    returning ${list(change(modifiers, 'modifier.updated', { previous: changedFields(modifiers) }))}`,
  ['record'],
  { through: 'modifier' },
);

const endUses = statement(
  'modifierGroups.deleteModifierGroup.uses',
  (p: Param<GroupKey>) => sql<object>`
    delete from modifier_group_use
    where account_id = ${p('account_id', 'bigint')} and modifier_group_id = ${p('modifier_group_id', 'bigint')}`,
);

// No menu shows the group by now, so none is touched.
const removeModifiers = write(
  'modifierGroups.deleteModifierGroup.modifiers',
  (p: Param<Values>) => sql<ChangeRow<never>>`
    delete from modifier
    where modifier_group_id = ${p('modifier_group_id', 'bigint')} and account_id = ${p('account_id', 'bigint')}
    returning ${list(change(modifiers, 'modifier.deleted', { row: 'old' }))}`,
  ['record'],
  { touchesMenu: false },
);

const removeGroup = onConstraint(
  write(
    'modifierGroups.deleteModifierGroup',
    (p: Param<Values>) => sql<ChangeRow<never>>`
      delete from modifier_group
      where modifier_group_id = ${p('modifier_group_id', 'bigint')} and account_id = ${p('account_id', 'bigint')}
      returning ${list(change(groups, 'modifier_group.deleted', { row: 'old' }))}`,
    ['record'],
    { touchesMenu: false },
  ),
  groups.constraints,
);

/** The items or modifiers that use the group. */
function users(p: Param<GroupKey>, column: 'item_id' | 'modifier_id'): RawBuilder<unknown> {
  return sql`select used.${sql.ref(column)}, used.account_id from modifier_group_use as used
      where used.account_id = ${p('account_id', 'bigint')}
        and used.modifier_group_id = ${p('modifier_group_id', 'bigint')} and used.${sql.ref(column)} is not null`;
}

function withoutGroup(p: Param<GroupKey>, table: 'item' | 'modifier'): RawBuilder<unknown> {
  return sql`(
      select coalesce(json_agg(use order by place), '[]')
      from json_array_elements(${sql.ref(`${table}.modifier_groups`)}) with ordinality as listed (use, place)
      where (use ->> 'modifier_group_id')::bigint <> ${p('modifier_group_id', 'bigint')})`;
}

function raise(p: Param<Written>, table: 'item' | 'modifier'): RawBuilder<unknown> {
  return sql`version = ${sql.ref(`${table}.version`)} + 1, stamp = ${p('stamp', 'integer')},
      updated_at = clock_timestamp()`;
}
