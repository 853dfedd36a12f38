import { largestSortOrder } from './sort-order.ts';

/** Where a record stands now among its siblings: by `sort_order`, then by id. */
export interface Position {
  sort_order: number;
  id: number;
}

/** Records in the wanted order; undefined for one that is new among these siblings. */
type Order = readonly (Position | undefined)[];

/**
 * Gives records the `sort_order`s that put them in the order of the list, dealing out those that they have already: a
 * swap moves two, wherever they are.
 */
export function dealtPositions(order: Order): number[] {
  const held = order.flatMap((own) => own?.sort_order ?? []);
  const dealt = held.toSorted((a, b) => a - b).values();
  return orCounted(
    place(
      order,
      (own) => own && dealt.next().value,
      (own) => own?.id ?? Number.POSITIVE_INFINITY,
    ),
  );
}

/**
 * Gives records the `sort_order`s that put them in the order of the list, changing as few as it can see to: a record
 * keeps its own where that fits, unless counting from 0 changes fewer.
 */
export function keptPositions(order: Order): number[] {
  const kept = orCounted(place(order, (own) => own?.sort_order));
  const counted = countedPositions(kept);
  const changes = (next: number[]) => next.filter((one, index) => one !== order[index]?.sort_order).length;
  return changes(counted) <= changes(kept) ? counted : kept;
}

/**
 * Gives each record what is offered to it, or else what comes right after the one before it. Equal ones show in the
 * order of ids, so one is used twice only where that is the wanted order.
 * @param idOfMoved a new record has a higher id than all the others; what has moved is taken for new unless told.
 */
function place(
  order: Order,
  offer: (own: Position | undefined) => number | undefined,
  idOfMoved: (own: Position | undefined) => number = () => Number.POSITIVE_INFINITY,
): number[] {
  let last: Position = { sort_order: -1, id: Number.POSITIVE_INFINITY };
  return order.map((own) => {
    const sort_order = offer(own) ?? -1;
    const isOwn = own?.sort_order === sort_order;
    const fits =
      sort_order > last.sort_order || (sort_order === last.sort_order && isOwn && own.id > last.id);
    const id = fits && own ? own.id : idOfMoved(own);
    last = { sort_order: fits ? sort_order : last.sort_order + 1, id };
    return last.sort_order;
  });
}

function orCounted(positions: number[]): number[] {
  return (positions.at(-1) ?? 0) > largestSortOrder ? countedPositions(positions) : positions;
}

function countedPositions(positions: readonly unknown[]): number[] {
  return positions.map((_, index) => index);
}
