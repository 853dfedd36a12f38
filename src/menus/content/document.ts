import type { components } from '../../../generated/api.ts';
import type { StoredItem, StoredMenu } from './stored.ts';

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
    categories: categories.map((category) => ({
      ...nameOf(category.external_id, { category_id: category.category_id }),
      name: category.name,
      description: category.description,
      items: (itemsOf.get(category.category_id) ?? []).map((item) => itemContent(item, withAvailability)),
    })),
  };
}

function itemContent(item: StoredItem, withAvailability: boolean): ItemContent {
  const { name, description, price, photo_url, allergens, dietary_tags, is_available, unavailable_until } =
    item;
  return {
    ...nameOf(item.external_id, { item_id: item.item_id }),
    name,
    description,
    price,
    photo_url,
    allergens,
    dietary_tags,
    ...(withAvailability && { is_available, unavailable_until }),
  };
}

// One name, not both: a document without ids of ours fits another menu too.
function nameOf<Id extends object>(external_id: string | null, id: Id): Id | { external_id: string } {
  return external_id === null ? id : { external_id };
}
