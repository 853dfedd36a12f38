import { type RawBuilder, sql } from 'kysely';
import { categories } from '../../categories/category.ts';
import type { Database } from '../../db/database.ts';
import { build, type Param, statement } from '../../db/statement.ts';
import { itemEventTypes, itemFields, items, previousOfItem } from '../../items/item.ts';
import { searchColumns } from '../../items/search.ts';
import { absenceNotes } from '../../records/switches.ts';
import { changedFields } from '../../records/write.ts';
import { menuEventTypes, menus } from '../menu.ts';
import type { StoredMenu } from '../stored-menu.ts';
import { createGroups, updateGroups } from './apply-groups.ts';
import type { CategoryRow } from './plan.ts';
import type { Edits, NewIds } from './planner.ts';
import type { RemotePlanner } from './planners.ts';
import {
  firstAbsenceNotes,
  type Inserted,
  insertion,
  keptPrice,
  removal,
  type Target,
  updating,
  writeSlices,
} from './write-rows.ts';

/**
 * Carries out a plan: each kind of change is one statement with its events, or several if there are many rows.
 * @param transaction has locked every record of the menu, and the modifier groups that the plan names.
 * @param planner returns the rows that refer to new records, once those have ids.
 */
export async function applyEdits(
  transaction: Database,
  target: Target,
  { menu, categories, deletedItems, groups }: Edits,
  planner: Pick<RemotePlanner, 'placeItems' | 'placeModifiers'>,
): Promise<void> {
  // Deletions free their external_ids, and a category can be deleted only once its items have left.
  await deleteItems(transaction, { ...target, ids: deletedItems });
  const newGroups = groups ? idsOf(await createGroups(transaction, target, groups)) : new Map();
  const inserted = await insertCategories(transaction, { ...target, rows: categories.created });
  const items = await planner.placeItems(idsOf(inserted), newGroups);
  await writeSlices(updateItems, transaction, target, items.updated);
  const withUses = groups ? await writeSlices(setUses, transaction, target, items.uses) : [];
  const insertedItems = await writeSlices(insertItems, transaction, target, items.created);
  await deleteCategories(transaction, { ...target, ids: categories.deleted });
  await updateCategories(transaction, { ...target, rows: categories.updated });
  if (menu) await updateMenu(transaction, { ...target, rows: menu });
  if (groups) {
    const modifiers = await planner.placeModifiers(idsOf(insertedItems), newGroups);
    const users = [...withUses, ...insertedItems].map(({ id }) => id);
    await updateGroups(transaction, target, groups, { modifiers, items: users });
  }
  const changes = 1 + inserted.length + insertedItems.length;
  await raiseContentVersion(transaction, { ...target, changes });
}

function idsOf(inserted: Inserted[]): NewIds {
  return new Map(inserted.map(({ id, external_id }) => [external_id, id]));
}

// One statement for all of them raises the menu's version.
const ofMenu = { within: ['location_id', 'menu_id'], touch: { touchesMenu: false } } as const;

const categoryRows = {
  kind: categories,
  columns: {
    external_id: 'text',
    name: 'text',
    description: 'text',
    sort_order: 'integer',
    hours: 'jsonb',
  } satisfies Record<keyof Omit<CategoryRow, 'category_id'>, string>,
  ...ofMenu,
};

const itemRows = { kind: items, columns: itemFields, ...ofMenu };

const menuRows = {
  kind: menus,
  columns: {
    name: 'text',
    description: 'text',
    is_active: 'boolean',
    hours: 'jsonb',
  } satisfies Record<keyof StoredMenu['menu'], string>,
  ...ofMenu,
};

const deleteItems = removal('menus.importMenu.deleteItems', itemRows);
const insertCategories = insertion('menus.importMenu.insertCategories', categoryRows);
const updateItems = updating('menus.importMenu.updateItems', itemRows, itemEventTypes, {
  previous: previousOfItem,
  assign: (p) => ({
    ...absenceNotes(p, 'item', sql`wanted.is_available`),
    price: keptPrice('item'),
    ...searchable('item'),
  }),
});
// A separate statement, since the event of an item that reaches every limit has no room for its former uses as well.
const setUses = updating(
  'menus.importMenu.setUses',
  { ...itemRows, columns: { modifier_groups: 'json' } },
  'item.updated',
  { previous: changedFields(items) },
);
const insertItems = insertion(
  'menus.importMenu.insertItems',
  { ...itemRows, columns: { ...itemFields, modifier_groups: 'json' } },
  (p) => ({
    ...searchable(),
    ...firstAbsenceNotes(p),
  }),
);
const deleteCategories = removal('menus.importMenu.deleteCategories', categoryRows);
const updateCategories = updating('menus.importMenu.updateCategories', categoryRows, 'category.updated');
const updateMenu = updating('menus.importMenu.updateMenu', menuRows, menuEventTypes());

// By at least one for each new record, since records/create-in-menu.ts infers from it how many there can be.
type Raise = Target & { changes: number };
const raiseContentVersion = statement('menus.importMenu.raiseContentVersion', (p: Param<Raise>) =>
  build
    .updateTable('menu')
    .set({
      content_version: sql`menu.content_version + ${p('changes', 'bigint')}`,
      stamp: p('stamp', 'integer'),
    })
    .where('menu_id', '=', p('menu_id', 'bigint'))
    .where('account_id', '=', p('account_id', 'bigint')),
);

/** The columns derived from the texts; those of a stored row stay unless its texts change. */
function searchable(stored?: string): Record<string, RawBuilder<unknown>> {
  const made = searchColumns(sql.ref('wanted.name'), sql.ref('wanted.description'));
  if (!stored) return made;
  const isSame = sql`(${sql.ref(`${stored}.name`)}, ${sql.ref(`${stored}.description`)}) = (wanted.name, wanted.description)`;
  const kept = Object.entries(made).map(([column, value]) => [
    column,
    sql`case when ${isSame} then ${sql.ref(`${stored}.${column}`)} else ${value} end`,
  ]);
  return Object.fromEntries(kept);
}
