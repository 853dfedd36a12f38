/*
 * A cell is an installation with a database of its own. Ids are unique across cells as long as each has a number of its
 * own: cell n assigns ids from n · 2^43 on, so 1,024 cells share the integers below 2^53, which JavaScript represents
 * exactly.
 */

/** The highest number of a cell. */
export const lastCell = 1_023;

/** How many ids a cell can assign. */
export const idsOfCell = 2n ** 43n;

/** Where the ids of a cell begin. */
export function firstIdOf(number: number): bigint {
  return BigInt(number) * idsOfCell;
}
