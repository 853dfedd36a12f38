/** What a row of a menu's CSV is about. */
export type Kind = 'menu' | 'category' | 'item';

/** The columns of a menu's CSV, in the order in which they are written, and the rows in which each has a meaning. */
export const columns = {
  record: ['menu', 'category', 'item'],
  category_external_id: ['category', 'item'],
  category_id: ['category', 'item'],
  external_id: ['item'],
  item_id: ['item'],
  name: ['menu', 'category', 'item'],
  description: ['menu', 'category', 'item'],
  price: ['item'],
  photo_url: ['item'],
  allergens: ['item'],
  dietary_tags: ['item'],
  is_active: ['menu'],
  is_available: ['item'],
  unavailable_until: ['item'],
} as const satisfies Record<string, readonly Kind[]>;

export type Column = keyof typeof columns;

/** Columns that are written only when availability is asked for. */
export const availabilityColumns: readonly Column[] = ['is_active', 'is_available', 'unavailable_until'];

// What spreadsheets take for the beginning of a formula (OWASP, CSV Injection), after any apostrophes of ours.
const formula = /^'*[=+\-@\t\r\n＝＋－＠]/;

/** Text as a spreadsheet takes it for text: with an apostrophe before what looks like a formula. */
export function guarded(text: string): string {
  return formula.test(text) ? `'${text}` : text;
}

/** The text that `guarded` was given. */
export function unguarded(cell: string): string {
  return cell.startsWith("'") && formula.test(cell) ? cell.slice(1) : cell;
}
