import type { components } from '../../../generated/api.ts';
import { modifierDefaults } from '../../modifier-groups/modifier.ts';
import { groupDefaults } from '../../modifier-groups/modifier-group.ts';
import { keptPositions } from '../../records/positions.ts';
import type { StoredGroup, StoredItem, StoredModifier } from '../stored-menu.ts';
import { availability, type Part, sortOut } from './changes.ts';
import type { Matches } from './match.ts';
import type { GroupMatch, GroupName, ItemName, UseMatch } from './match-groups.ts';

type Schemas = components['schemas'];

export type UseValues = Schemas['ModifierGroupUseValues'];

/** A group as the document wants it; `modifier_group_id` is null when it is to be created. */
export type GroupRow = Omit<Schemas['ModifierGroupCreate'], 'modifiers'> & {
  modifier_group_id: number | null;
};

/** A modifier as the document wants it; `modifier_id` is null when it is to be created. */
export interface ModifierRow extends Required<Omit<Schemas['ModifierValues'], 'external_id' | 'item'>> {
  modifier_id: number | null;
  external_id: string | null;
  modifier_group: GroupName;
  item: ItemName | null;
}

/** The changes to the location's modifier groups. */
export interface GroupsPlan {
  modifier_groups: Omit<Part<GroupRow, Schemas['ModifierGroupValues'], never>, 'deleted'>;
  modifiers: Part<ModifierRow, Schemas['ModifierValues'], StoredModifier & { modifier_group: GroupName }>;
}

/** @param matches without errors. */
export function planGroups({ groups, groupName, itemName }: Matches): GroupsPlan {
  const rows = groups.flatMap((group) => modifierRows(group, { groupName, itemName }));
  return {
    modifier_groups: sortOut(
      groups.map(({ sent, stored }) => ({ old: stored, row: groupRow(sent, stored) })),
    ),
    modifiers: { ...sortOut(rows), deleted: groups.flatMap(removed) },
  };
}

/** The uses that a record will have: those in the document, or else those that it has. */
export function useValues(
  uses: UseMatch[] | undefined,
  old: { modifier_groups: StoredItem['modifier_groups'] } | undefined,
  groupName: (id: number) => GroupName,
): UseValues[] {
  if (uses)
    return uses.map(({ group, min_selections, max_selections }) => ({
      ...group,
      min_selections,
      max_selections,
    }));
  return (old?.modifier_groups ?? []).map(({ modifier_group_id, ...numbers }) => ({
    ...(groupName(modifier_group_id) ?? { modifier_group_id, external_id: null }),
    ...numbers,
  }));
}

/** The group as it will be. */
export function groupRow(sent: GroupMatch['sent'], old: StoredGroup | undefined): GroupRow {
  const kept = old ?? { ...groupDefaults, modifier_group_id: null, name: '' };
  return {
    modifier_group_id: kept.modifier_group_id,
    external_id: sent.external_id ?? kept.external_id,
    name: (sent.name ?? kept.name).trim(),
    description: sent.description ?? kept.description,
    min_selections: sent.min_selections ?? kept.min_selections,
    max_selections: sent.max_selections === undefined ? kept.max_selections : sent.max_selections,
    max_per_modifier: sent.max_per_modifier ?? kept.max_per_modifier,
    free_selections: sent.free_selections ?? kept.free_selections,
  };
}

function modifierRows(
  { name: modifier_group, modifiers = [] }: GroupMatch,
  { groupName, itemName }: Pick<Matches, 'groupName' | 'itemName'>,
) {
  const positions = keptPositions(
    modifiers.map(({ stored }) => (stored ? { sort_order: stored.sort_order, id: stored.modifier_id } : {})),
  );
  return modifiers.map(({ sent, stored: old, uses, item }, index) => {
    const known = old && {
      ...old,
      modifier_group,
      item: old.item_id === null ? null : itemName(old.item_id),
      modifier_groups: useValues(undefined, old, groupName),
    };
    const kept = known ?? { ...modifierDefaults, modifier_id: null, name: '', item: null };
    const row: ModifierRow = {
      modifier_id: kept.modifier_id,
      modifier_group,
      external_id: sent.external_id ?? kept.external_id,
      name: (sent.name ?? kept.name).trim(),
      description: sent.description ?? kept.description,
      price: sent.price ?? kept.price,
      ...availability(sent, old),
      default_quantity: sent.default_quantity ?? kept.default_quantity,
      item: item === undefined ? kept.item : item,
      allergens: sent.allergens ?? kept.allergens,
      dietary_tags: sent.dietary_tags ?? kept.dietary_tags,
      sort_order: positions[index] ?? 0,
      modifier_groups: useValues(uses, old, groupName),
    };
    return { old: known, row };
  });
}

function removed({ name: modifier_group, stored, modifiers }: GroupMatch) {
  if (!stored || !modifiers) return [];
  const found = new Set(modifiers.map((match) => match.stored));
  return stored.modifiers.filter((one) => !found.has(one)).map((one) => ({ ...one, modifier_group }));
}
