import { isDeepStrictEqual } from 'node:util';

/** Values of exactly the fields that change. */
export interface Change<Values> {
  old: Values;
  new: Values;
}

/** What happens to the records of one kind. */
export interface Part<Row, Values, Stored> {
  created: Row[];
  updated: (Change<Values> & { row: Row })[];
  deleted: Stored[];
  unchanged: number;
}

/** @param rows as the document wants them, each with the stored record in the same form. */
export function sortOut<Row extends object, Values extends object>(
  rows: { row: Row; old: object | undefined }[],
): Omit<Part<Row, Values, never>, 'deleted'> {
  const part: Omit<Part<Row, Values, never>, 'deleted'> = { created: [], updated: [], unchanged: 0 };
  for (const { row, old } of rows) {
    const change = old && changeOf<Values>(old, row);
    if (change) part.updated.push({ ...change, row });
    else if (old) part.unchanged += 1;
    else part.created.push(row);
  }
  return part;
}

/**
 * The fields in which `next` differs from `old`, with both values; null if there is none. Other fields of `old` do not
 * count.
 */
export function changeOf<Values extends object>(old: object, next: object): Change<Values> | null {
  const before = old as Record<string, unknown>;
  const changed = Object.entries(next).filter(
    // Most values are texts and numbers, and equal.
    ([field, value]) => !Object.is(value, before[field]) && !isDeepStrictEqual(value, before[field]),
  );
  if (changed.length === 0) return null;
  return {
    old: Object.fromEntries(changed.map(([field]) => [field, before[field]])) as Values,
    new: Object.fromEntries(changed) as Values,
  };
}

/** The availability in a document. */
interface Sent {
  is_available?: boolean;
  unavailable_until?: string | null;
}

/** As in updateItem: a time of return makes a record unavailable, and an available one has no such time. */
export function availability(
  { is_available: sent, unavailable_until: until }: Sent,
  old: { is_available: boolean; unavailable_until: string | null } | undefined,
) {
  const is_available = sent ?? (until ? false : (old?.is_available ?? true));
  const kept =
    until === undefined ? (old?.unavailable_until ?? null) : until && new Date(until).toISOString();
  return { is_available, unavailable_until: is_available ? null : kept };
}
