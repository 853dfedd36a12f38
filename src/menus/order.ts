import type { components } from '../../generated/api.ts';
import { type FieldError, parameterError } from '../http/errors.ts';
import { dealtPositions } from '../records/positions.ts';

type CategoryOrder = components['schemas']['CategoryOrder'];

/** The places that the records of a menu have, by their ids. */
export interface Places {
  categories: ReadonlyMap<number, { sort_order: number }>;
  items: ReadonlyMap<number, { category_id: number; sort_order: number }>;
}

/** The records that get another place, each with that place. */
export interface Moves {
  categories: { category_id: number; sort_order: number }[];
  items: { item_id: number; category_id: number; sort_order: number }[];
}

/**
 * What has to move for a menu to be in the wanted order.
 * @throws 422 unless the order names every category and every item of the menu exactly once
 */
export function movesTo(order: CategoryOrder[], places: Places): Moves {
  requireWhole(order, places);
  const categoryIds = order.map(({ category_id }) => category_id);
  const categories = withSortOrders(categoryIds, places.categories)
    .filter(({ id, sort_order }) => places.categories.get(id)?.sort_order !== sort_order)
    .map(({ id, sort_order }) => ({ category_id: id, sort_order }));
  const items = order.flatMap(({ category_id, items }) =>
    withSortOrders(items, residentsOf(category_id, places))
      .map(({ id, sort_order }) => ({ item_id: id, category_id, sort_order }))
      .filter(({ item_id, sort_order }) => {
        const place = places.items.get(item_id);
        return place?.category_id !== category_id || place.sort_order !== sort_order;
      }),
  );
  return { categories, items };
}

// Where an item stood in another category says nothing about its place in this one.
function residentsOf(category_id: number, { items }: Places): Places['items'] {
  return new Map([...items].filter(([, place]) => place.category_id === category_id));
}

function requireWhole(order: CategoryOrder[], { categories, items }: Places): void {
  const namedCategories = order.map(({ category_id }, place) => ({
    id: category_id,
    field: `/categories/${place}/category_id`,
  }));
  const namedItems = order.flatMap((category, place) =>
    category.items.map((id, index) => ({ id, field: `/categories/${place}/items/${index}` })),
  );
  const errors = [
    ...namingFaults('category', namedCategories, categories),
    ...namingFaults('item', namedItems, items),
  ];
  if (errors.length > 0) throw parameterError(errors);
}

function namingFaults(
  noun: string,
  named: { id: number; field: string }[],
  places: ReadonlyMap<number, unknown>,
): FieldError[] {
  const first = new Map<number, string>();
  const wrong = named.flatMap(({ id, field }): FieldError[] => {
    const before = first.get(id);
    if (before) return [{ field, code: 'duplicate', message: `names the same ${noun} as ${before}` }];
    first.set(id, field);
    return places.has(id) ? [] : [{ field, code: 'not_found', message: 'is not in this menu' }];
  });
  const missing = [...places.keys()]
    .filter((id) => !first.has(id))
    .map((id) => ({ field: '/categories', code: 'missing', message: `leaves out ${noun} ${id}` }));
  return [...wrong, ...missing];
}

function withSortOrders(
  ids: number[],
  places: ReadonlyMap<number, { sort_order: number }>,
): { id: number; sort_order: number }[] {
  const positions = dealtPositions(ids.map((id) => ({ ...places.get(id), id })));
  return ids.map((id, index) => ({ id, sort_order: positions[index] ?? 0 }));
}
