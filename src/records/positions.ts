import { largestSortOrder } from './sort-order.ts';

/** Where a record stands now among its siblings: by `sort_order`, then by id. */
export interface Position {
  sort_order: number;
  id: number;
}

/**
 * Gives records the `sort_order`s that put them in the order of the list, changing as few as it can see to: a record
 * keeps its own where that fits, unless counting from 0 changes fewer.
 * @param present undefined for a record that is new among these siblings.
 */
export function orderedPositions(present: (Position | undefined)[]): number[] {
  const kept = keepingWhatFits(present);
  const counted = present.map((_, index) => index);
  const changes = (next: number[]) => next.filter((one, index) => one !== present[index]?.sort_order).length;
  const overflows = (kept.at(-1) ?? 0) > largestSortOrder;
  return overflows || changes(counted) <= changes(kept) ? counted : kept;
}

function keepingWhatFits(present: (Position | undefined)[]): number[] {
  let last: Position = { sort_order: -1, id: Number.POSITIVE_INFINITY };
  return present.map((own) => {
    const fits =
      own && (own.sort_order > last.sort_order || (own.sort_order === last.sort_order && own.id > last.id));
    // A new record gets a higher id than all the others, and what has moved might have any.
    last = fits ? own : { sort_order: last.sort_order + 1, id: Number.POSITIVE_INFINITY };
    return last.sort_order;
  });
}
