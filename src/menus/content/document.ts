import type { components } from '../../../generated/api.ts';
import type { StoredItem, StoredMenu } from '../stored-menu.ts';

export type MenuContent = components['schemas']['MenuContent'];
export type CategoryContent = components['schemas']['CategoryContent'];
export type ItemContent = components['schemas']['ItemContent'];

/**
 * The document that makes a menu what it is now.
 * @param withAvailability also what is switched on and off during service.
 */
export function contentOf(
  { menu, categories, items }: StoredMenu,
  { withAvailability }: { withAvailability: boolean },
): MenuContent {
  const { is_active, ...texts } = menu;
  const itemsOf = Map.groupBy(items, (item) => item.category_id);
  return {
    ...texts,
    ...(withAvailability && { is_active }),
    categories: categories.map(({ category_id, external_id, name, description }) => ({
      ...nameOf(external_id, { category_id }),
      name,
      description,
      items: (itemsOf.get(category_id) ?? []).map((item) => itemContent(item, withAvailability)),
    })),
  };
}

// The place of an item is where it stands in the document.
function itemContent(item: StoredItem, withAvailability: boolean): ItemContent {
  const { item_id, category_id, sort_order, external_id, is_available, unavailable_until, ...description } =
    item;
  return {
    ...nameOf(external_id, { item_id }),
    ...description,
    ...(withAvailability && { is_available, unavailable_until }),
  };
}

// One name, not both: a document without ids of ours fits another menu too.
function nameOf<Id extends object>(external_id: string | null, id: Id): Id | { external_id: string } {
  return external_id === null ? id : { external_id };
}
