import type { components } from '../../generated/api.ts';
import { ErrorList, parameterError } from '../http/errors.ts';
import { dealtPositions } from '../records/positions.ts';

type CategoryOrder = components['schemas']['CategoryOrder'];

/** The places of the records of a menu, by their ids. */
export interface Places {
  categories: ReadonlyMap<number, { sort_order: number }>;
  items: ReadonlyMap<number, { category_id: number; sort_order: number }>;
}

/** The records that move, each with its new place. */
export interface Moves {
  categories: { category_id: number; sort_order: number }[];
  items: { item_id: number; category_id: number; sort_order: number }[];
}

/**
 * The moves that bring a menu into the wanted order.
 * @throws 422 unless the order names every category and every item of the menu exactly once
 */
export function movesTo(order: CategoryOrder[], places: Places): Moves {
  requireWhole(order, places);
  const categoryIds = order.map(({ category_id }) => category_id);
  const categories = withSortOrders(categoryIds, places.categories)
    .filter(({ id, sort_order }) => places.categories.get(id)?.sort_order !== sort_order)
    .map(({ id, sort_order }) => ({ category_id: id, sort_order }));
  const items = order.flatMap(({ category_id, items }) =>
    withSortOrders(items, residentsOf(category_id, items, places))
      .map(({ id, sort_order }) => ({ item_id: id, category_id, sort_order }))
      .filter(({ item_id, sort_order }) => {
        const place = places.items.get(item_id);
        return place?.category_id !== category_id || place.sort_order !== sort_order;
      }),
  );
  return { categories, items };
}

// The position of an item in another category means nothing in this one.
function residentsOf(category_id: number, ids: number[], { items }: Places): Places['items'] {
  const places = ids.flatMap((id) => {
    const place = items.get(id);
    return place?.category_id === category_id ? [[id, place] as const] : [];
  });
  return new Map(places);
}

function requireWhole(order: CategoryOrder[], { categories, items }: Places): void {
  const namedCategories = order.map(({ category_id }, place) => ({
    id: category_id,
    field: `/categories/${place}/category_id`,
  }));
  const namedItems = order.flatMap((category, place) =>
    category.items.map((id, index) => ({ id, field: `/categories/${place}/items/${index}` })),
  );
  const errors = new ErrorList();
  addNamingErrors(errors, 'category', namedCategories, categories);
  addNamingErrors(errors, 'item', namedItems, items);
  if (!errors.isEmpty) throw parameterError([...errors]);
}

function addNamingErrors(
  errors: ErrorList,
  noun: string,
  named: { id: number; field: string }[],
  places: ReadonlyMap<number, unknown>,
): void {
  const first = new Map<number, string>();
  for (const { id, field } of named) {
    const before = first.get(id);
    if (before) errors.add({ field, code: 'duplicate', message: `names the same ${noun} as ${before}` });
    else if (!places.has(id)) errors.add({ field, code: 'not_found', message: 'is not in this menu' });
    if (!before) first.set(id, field);
  }
  for (const id of places.keys()) {
    if (errors.isFull) return;
    if (!first.has(id))
      errors.add({ field: '/categories', code: 'missing', message: `leaves out ${noun} ${id}` });
  }
}

function withSortOrders(
  ids: number[],
  places: ReadonlyMap<number, { sort_order: number }>,
): { id: number; sort_order: number }[] {
  const positions = dealtPositions(ids.map((id) => ({ ...places.get(id), id })));
  return ids.map((id, index) => ({ id, sort_order: positions[index] ?? 0 }));
}
