import type { components } from '../../../generated/api.ts';
import type { ErrorList } from '../../http/errors.ts';
import { groupLimit } from '../../modifier-groups/modifier-group.ts';
import { absenceErrors } from '../../records/absence.ts';
import type { StoredGroup, StoredItem, StoredMenu, StoredModifier } from '../stored-menu.ts';
import type { GroupContent, ItemContent, MenuContent, ModifierContent, UseContent } from './document.ts';
import { finder, type Match, records } from './find.ts';
import { newPriceErrors } from './new-price.ts';

type Schemas = components['schemas'];

/** A group by the names that it has after the import. */
export type GroupName = Schemas['ModifierGroupReference'];
/** Likewise an item. */
export type ItemName = Schemas['ItemReference'];

export type GroupMatch = Match<GroupContent, StoredGroup> & {
  name: GroupName;
  /** Undefined when the document does not mention them. */
  modifiers: ModifierMatch[] | undefined;
};

export type ModifierMatch = Match<ModifierContent, StoredModifier> & {
  /** Undefined when the document does not mention them, or the group. */
  uses: UseMatch[] | undefined;
  item: ItemName | null | undefined;
};

export interface UseMatch {
  pointer: string;
  group: GroupName;
  min_selections: number | null;
  max_selections: number | null;
}

/** An item by its id, which may be on another menu of the location. */
export interface ItemMention {
  item_id: number;
  pointer: string;
}

type FoundItem = Match<ItemContent, StoredItem>;

/** Whether the document mentions modifier groups. It may violate its schema. */
export function speaksOfGroups(content: MenuContent): boolean {
  if (content?.modifier_groups !== undefined) return true;
  return records(content?.categories).some(([, { items }]) =>
    records(items).some(([, { modifier_groups }]) => modifier_groups !== undefined),
  );
}

/**
 * Finds the groups of a document, and their uses in it. The document may violate its schema.
 * @param stored undefined: examines the document alone.
 */
export function groupMatcher(content: MenuContent, stored: StoredMenu | undefined, errors: ErrorList) {
  const find = finder<'modifier_group_id', GroupContent, StoredGroup>(
    {
      id: 'modifier_group_id',
      stored: stored?.groups,
      place: 'a modifier group of this location',
      neededWhenNew: ['name'],
    },
    errors,
  );
  const found = records(content?.modifier_groups).map(([index, sent]) => {
    const pointer = `/data/modifier_groups/${index}`;
    return { sent, pointer, stored: find(sent, pointer) };
  });
  const names = groupNames(found, stored?.groups ?? []);
  const count = names.length;
  if (count > groupLimit) {
    const message = `would be ${count} at the location with the others; at most ${groupLimit} are allowed`;
    errors.add({ field: '/data/modifier_groups', code: 'too_many', message });
  }
  const nameById = new Map(names.map((name) => [name.modifier_group_id, name]));
  const nameByExternalId = new Map(names.map((name) => [name.external_id, name]));
  return { matchUses, matchGroups };

  /** @returns undefined when no uses are given */
  function matchUses(
    { modifier_groups }: { modifier_groups?: UseContent[] },
    place: string,
  ): UseMatch[] | undefined {
    if (modifier_groups === undefined) return undefined;
    const used = new Set<GroupName>();
    return records(modifier_groups).flatMap(([index, sent]) => {
      const pointer = `${place}/modifier_groups/${index}`;
      const group = groupOf(sent, pointer);
      if (!group) return [];
      if (used.has(group))
        errors.add({ field: pointer, code: 'duplicate', message: 'names a group for the second time' });
      used.add(group);
      const { min_selections = null, max_selections = null } = sent;
      return [{ pointer, group, min_selections, max_selections }];
    });
  }

  function groupOf({ modifier_group_id, external_id }: UseContent, pointer: string): GroupName | undefined {
    const report = (field: string, code: string, message: string) =>
      errors.add({ field: `${pointer}/${field}`, code, message });
    if (modifier_group_id === undefined && external_id === undefined) {
      report('external_id', 'required', 'is required when there is no modifier_group_id');
      return undefined;
    }
    const group =
      modifier_group_id === undefined
        ? nameByExternalId.get(external_id as string)
        : nameById.get(modifier_group_id);
    const field = modifier_group_id === undefined ? 'external_id' : 'modifier_group_id';
    if (stored && !group)
      report(field, 'not_found', 'is not a modifier group of the document or the location');
    if (group && external_id !== undefined && group.external_id !== external_id)
      report('external_id', 'conflict', 'is not the external_id of this group');
    return group;
  }

  /** @param items of the document, for which modifiers may stand */
  function matchGroups(items: readonly FoundItem[]): {
    groups: GroupMatch[];
    mentions: ItemMention[];
    groupName: (id: number) => GroupName;
    itemName: (id: number) => ItemName;
  } {
    const itemNames = items.map(({ sent, stored }) => ({
      item_id: stored?.item_id ?? null,
      external_id: sent.external_id ?? stored?.external_id ?? null,
    }));
    const itemById = new Map(itemNames.map((name) => [name.item_id, name]));
    const itemByExternalId = new Map(itemNames.map((name) => [name.external_id, name]));
    const itemName = (item_id: number) => itemById.get(item_id) ?? { item_id, external_id: null };
    const ofMenu = new Set(stored?.items.map(({ item_id }) => item_id));
    const mentions: ItemMention[] = [];

    const groups = found.map((group, index) => {
      const findModifier = finder<'modifier_id', ModifierContent, StoredModifier>(
        {
          id: 'modifier_id',
          stored: stored && (group.stored?.modifiers ?? []),
          place: 'in this group',
          neededWhenNew: ['name'],
        },
        errors,
      );
      const modifiers = records(group.sent.modifiers).map(([index, sent]) => {
        const pointer = `${group.pointer}/modifiers/${index}`;
        const own = findModifier(sent, pointer);
        errors.add(...absenceErrors(sent, pointer), ...newPriceErrors(sent, pointer, own, stored?.currency));
        const uses = matchUses(sent, pointer);
        return { sent, pointer, stored: own, uses, item: itemOf(sent, pointer, own) };
      });
      const name = names[index] as GroupName;
      return { ...group, name, modifiers: group.sent.modifiers && modifiers };
    });
    return { groups, mentions, groupName: (id) => nameById.get(id) as GroupName, itemName };

    function itemOf({ item }: ModifierContent, place: string, own: StoredModifier | undefined) {
      if (item === undefined || item === null) return item;
      const { item_id, external_id } = item;
      const report = (field: string, code: string, message: string) =>
        errors.add({ field: `${place}/item${field}`, code, message });
      if (item_id === undefined) {
        const name = itemByExternalId.get(external_id ?? null);
        if (external_id === undefined) report('', 'required', 'needs an external_id or an item_id');
        else if (stored && !name) report('/external_id', 'not_found', 'is not an item of the document');
        return name;
      }
      if (external_id !== undefined) report('', 'conflict', 'has both an external_id and an item_id');
      // A reference to a deleted item may stay, as it does in the modifier.
      if (item_id !== own?.item_id && !ofMenu.has(item_id))
        mentions.push({ item_id, pointer: `${place}/item/item_id` });
      return itemName(item_id);
    }
  }
}

/** The names of all groups there will be: first those of the document, in its order. */
function groupNames(
  found: readonly Match<GroupContent, StoredGroup>[],
  stored: readonly StoredGroup[],
): GroupName[] {
  const matched = new Set(found.map((one) => one.stored));
  return [
    ...found.map(({ sent, stored }) => ({
      modifier_group_id: stored?.modifier_group_id ?? null,
      external_id: sent.external_id ?? stored?.external_id ?? null,
    })),
    ...stored
      .filter((one) => !matched.has(one))
      .map(({ modifier_group_id, external_id }) => ({ modifier_group_id, external_id })),
  ];
}
