import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import {
  modifierEventTypes,
  modifierFields,
  modifiers,
  previousOfModifier,
} from '../../modifier-groups/modifier.ts';
import { groupFields, groups } from '../../modifier-groups/modifier-group.ts';
import { noteShowingMenus } from '../../modifier-groups/shown-groups.ts';
import { noteUses } from '../../modifier-groups/uses.ts';
import { absenceNotes } from '../../records/switches.ts';
import type { GroupEdits, ModifierRows } from './planner.ts';
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

/** Creates groups without modifiers, so that uses can refer to them. */
export async function createGroups(
  transaction: Database,
  target: Target,
  { created }: GroupEdits,
): Promise<Inserted[]> {
  return insertGroups(transaction, { ...target, rows: created });
}

/**
 * Changes groups and their modifiers, and finds the menus that show them.
 * @param items whose uses have changed
 */
export async function updateGroups(
  transaction: Database,
  target: Target,
  { updated, deletedModifiers }: GroupEdits,
  { modifiers, items }: { modifiers: ModifierRows; items: number[] },
): Promise<void> {
  await changeGroups(transaction, { ...target, rows: updated });
  await deleteModifiers(transaction, { ...target, ids: deletedModifiers });
  const changed = await writeSlices(updateModifiers, transaction, target, modifiers.updated);
  const inserted = await writeSlices(insertModifiers, transaction, target, modifiers.created);
  const users = [...changed, ...inserted].map(({ id }) => id);
  await noteUses(transaction, { account_id: target.account_id, items, modifiers: users });
  await noteShowingMenus(transaction, target);
}

const groupRows = { kind: groups, columns: groupFields, within: ['location_id'] } as const;
const modifierRows = {
  kind: modifiers,
  columns: { ...modifierFields, modifier_group_id: 'bigint', modifier_groups: 'json' },
  within: ['location_id'],
  touch: { through: 'modifier' },
} as const;

// No menu shows them yet.
const insertGroups = insertion('menus.importMenu.insertGroups', {
  ...groupRows,
  touch: { touchesMenu: false },
});
const changeGroups = updating(
  'menus.importMenu.updateGroups',
  { ...groupRows, touch: { through: 'modifier_group' } },
  'modifier_group.updated',
  { assign: () => ({ content_version: sql`modifier_group.content_version + 1` }) },
);
const deleteModifiers = removal('menus.importMenu.deleteModifiers', modifierRows);
const updateModifiers = updating('menus.importMenu.updateModifiers', modifierRows, modifierEventTypes, {
  previous: previousOfModifier,
  assign: (p) => ({
    ...absenceNotes(p, 'modifier', sql`wanted.is_available`),
    price: keptPrice('modifier'),
  }),
});
const insertModifiers = insertion('menus.importMenu.insertModifiers', modifierRows, firstAbsenceNotes);
