import { largestSortOrder } from './sort-order.ts';

/** The position of a record among its siblings: by `sort_order`, then by id. */
export interface Position {
  /** Absent when the record is new among them. */
  sort_order?: number;
  /** Absent when the record is still to be created, with a higher id than all the others. */
  id?: number;
}

/**
 * Assigns `sort_order`s that put records in the order of the list, by redistributing those that they already have: a
 * swap moves two records, wherever they are.
 */
export function dealtPositions(order: readonly Position[]): number[] {
  const held = order.flatMap(({ sort_order }) => sort_order ?? []);
  const dealt = held.toSorted((a, b) => a - b).values();
  const offers = order.map(({ sort_order }) => (sort_order === undefined ? undefined : dealt.next().value));
  return orCounted(place(order, offers, (moved) => moved.id));
}

/**
 * Assigns `sort_order`s that put records in the order of the list, changing few of them: a record keeps its own if that
 * fits, unless counting from 0 changes fewer.
 */
export function keptPositions(order: readonly Position[]): number[] {
  const offers = order.map(({ sort_order }) => sort_order);
  const kept = orCounted(place(order, offers));
  const counted = countedPositions(kept);
  const changes = (next: number[]) => next.filter((one, index) => one !== offers[index]).length;
  return changes(counted) <= changes(kept) ? counted : kept;
}

/**
 * Gives each record the value offered to it, or else the value right after its predecessor's. Records with the same
 * value are shown in the order of ids, so a value is used twice only if that is the wanted order.
 * @param idOfMoved the id of a record that does not get its offer; without it nothing shares a value with a moved
 *   record.
 */
function place(
  order: readonly Position[],
  offers: readonly (number | undefined)[],
  idOfMoved: (own: Position) => number | undefined = () => undefined,
): number[] {
  let last = { sort_order: -1, id: Number.POSITIVE_INFINITY };
  return order.map((own, index) => {
    const offer = offers[index] ?? -1;
    const staysBehind = offer === last.sort_order && offer === own.sort_order && (own.id ?? 0) > last.id;
    const fits = offer > last.sort_order || staysBehind;
    const id = (fits ? own.id : idOfMoved(own)) ?? Number.POSITIVE_INFINITY;
    last = { sort_order: fits ? offer : last.sort_order + 1, id };
    return last.sort_order;
  });
}

function orCounted(positions: number[]): number[] {
  return (positions.at(-1) ?? 0) > largestSortOrder ? countedPositions(positions) : positions;
}

function countedPositions(positions: readonly unknown[]): number[] {
  return positions.map((_, index) => index);
}
