import type { components } from '../../../generated/api.ts';
import type { StoredGroup, StoredItem, StoredMenu, StoredModifier } from '../stored-menu.ts';

export type MenuContent = components['schemas']['MenuContent'];
export type CategoryContent = components['schemas']['CategoryContent'];
export type ItemContent = components['schemas']['ItemContent'];
export type GroupContent = components['schemas']['ModifierGroupContent'];
export type ModifierContent = components['schemas']['ModifierContent'];
export type UseContent = components['schemas']['ModifierGroupUseContent'];

/** The names by which a document refers to other records. */
interface Names {
  group(id: number): { external_id: string } | { modifier_group_id: number };
  item(id: number): { external_id: string } | { item_id: number };
}

/**
 * The document that describes the menu as it is now.
 * @param withAvailability also what staff switch during service.
 */
export function contentOf(
  { menu, categories, items, groups }: StoredMenu,
  { withAvailability }: { withAvailability: boolean },
): MenuContent {
  const { is_active, ...texts } = menu;
  const itemsOf = Map.groupBy(items, (item) => item.category_id);
  const names = namesIn({ items, groups });
  return {
    ...texts,
    ...(withAvailability && { is_active }),
    categories: categories.map(({ category_id, external_id, name, description, hours }) => ({
      ...nameOf(external_id, { category_id }),
      name,
      description,
      hours,
      items: (itemsOf.get(category_id) ?? []).map((item) => itemContent(item, names, withAvailability)),
    })),
    modifier_groups: groups.map((group) => groupContent(group, names, withAvailability)),
  };
}

// The position of an item is its position in the document.
function itemContent(item: StoredItem, names: Names, withAvailability: boolean): ItemContent {
  const {
    item_id,
    category_id,
    sort_order,
    external_id,
    is_available,
    unavailable_until,
    modifier_groups,
    ...description
  } = item;
  return {
    ...nameOf(external_id, { item_id }),
    ...description,
    modifier_groups: usesContent(modifier_groups, names),
    ...(withAvailability && { is_available, unavailable_until }),
  };
}

function groupContent(group: StoredGroup, names: Names, withAvailability: boolean): GroupContent {
  const { modifier_group_id, external_id } = group;
  const { name, description, min_selections, max_selections, max_per_modifier, free_selections } = group;
  return {
    ...nameOf(external_id, { modifier_group_id }),
    ...{ name, description, min_selections, max_selections, max_per_modifier, free_selections },
    modifiers: group.modifiers.map((modifier) => modifierContent(modifier, names, withAvailability)),
  };
}

function modifierContent(modifier: StoredModifier, names: Names, withAvailability: boolean): ModifierContent {
  const { modifier_id, external_id, name, description, price, default_quantity, item_id } = modifier;
  const { allergens, dietary_tags, modifier_groups, is_available, unavailable_until } = modifier;
  return {
    ...nameOf(external_id, { modifier_id }),
    ...{ name, description, price, default_quantity },
    item: item_id === null ? null : names.item(item_id),
    ...{ allergens, dietary_tags, modifier_groups: usesContent(modifier_groups, names) },
    ...(withAvailability && { is_available, unavailable_until }),
  };
}

function usesContent(uses: StoredItem['modifier_groups'], names: Names): UseContent[] {
  return uses.map(({ modifier_group_id, ...numbers }) => ({ ...names.group(modifier_group_id), ...numbers }));
}

function namesIn({ items, groups }: Pick<StoredMenu, 'items' | 'groups'>): Names {
  const itemIds = new Map(items.map(({ item_id, external_id }) => [item_id, external_id]));
  const groupIds = new Map(
    groups.map(({ modifier_group_id, external_id }) => [modifier_group_id, external_id]),
  );
  return {
    group: (modifier_group_id) => nameOf(groupIds.get(modifier_group_id) ?? null, { modifier_group_id }),
    item: (item_id) => nameOf(itemIds.get(item_id) ?? null, { item_id }),
  };
}

// One name, not both: a document without our ids fits another menu too.
function nameOf<Id extends object>(external_id: string | null, id: Id): Id | { external_id: string } {
  return external_id === null ? id : { external_id };
}
