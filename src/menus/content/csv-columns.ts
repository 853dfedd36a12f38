import { parse } from 'csv-parse/sync';

/** The kinds of rows in the CSV of a menu. */
export type Kind = 'menu' | 'category' | 'item';

/**
 * A column: the kinds of rows in which it has a meaning, and how to read its cells; undefined: the column is ignored.
 */
interface ColumnRule {
  kinds: readonly Kind[];
  read: (cell: string, form: CsvForm) => unknown;
}

/** What the cells of one file have in common. */
export interface CsvForm {
  /** Whether 4,5 is a number: where a comma separates the cells, it cannot be. */
  hasDecimalCommas: boolean;
}

/** The columns of a menu's CSV, in the order in which they are written. */
export const columns = {
  record: { kinds: ['menu', 'category', 'item'], read: text },
  category_external_id: { kinds: ['category', 'item'], read: optionalText },
  category_id: { kinds: ['category', 'item'], read: optionalId },
  external_id: { kinds: ['item'], read: optionalText },
  item_id: { kinds: ['item'], read: optionalId },
  name: { kinds: ['menu', 'category', 'item'], read: text },
  description: { kinds: ['menu', 'category', 'item'], read: text },
  price: { kinds: ['item'], read: decimal },
  photo_url: { kinds: ['item'], read: textOrNull },
  allergens: { kinds: ['item'], read: labels },
  dietary_tags: { kinds: ['item'], read: labels },
  is_active: { kinds: ['menu'], read: optionalSwitch },
  is_available: { kinds: ['item'], read: optionalSwitch },
  unavailable_until: { kinds: ['item'], read: textOrNull },
} as const satisfies Record<string, ColumnRule>;

export type Column = keyof typeof columns;

/** Columns that are written only when availability is asked for. */
export const availabilityColumns: readonly Column[] = ['is_active', 'is_available', 'unavailable_until'];

// What spreadsheets treat as the beginning of a formula (OWASP, CSV Injection), after any apostrophes of ours.
const formula = /^'*[=+\-@\t\r\n＝＋－＠]/;

/** Text that a spreadsheet does not treat as a formula: with an apostrophe before it if it looks like one. */
export function guarded(text: string): string {
  return formula.test(text) ? `'${text}` : text;
}

/** The text that `guarded` was given. */
export function unguarded(cell: string): string {
  return cell.startsWith("'") && formula.test(cell) ? cell.slice(1) : cell;
}

// A cell that cannot be read stays text, which the schema refuses.
function text(cell: string): string {
  return cell;
}

function optionalText(cell: string): string | undefined {
  return cell === '' ? undefined : cell;
}

function textOrNull(cell: string): string | null {
  return cell === '' ? null : cell;
}

function number(cell: string): number | string {
  return /^\s*-?\d+(\.\d+)?\s*$/.test(cell) ? Number(cell) : cell;
}

// With a point or a comma, never both: 1.234 has three decimal places, and 1.234,5 is ambiguous.
function decimal(cell: string, { hasDecimalCommas }: CsvForm): number | string {
  const value = number(hasDecimalCommas && !cell.includes('.') ? cell.replace(',', '.') : cell);
  return typeof value === 'number' ? value : cell;
}

function optionalId(cell: string): number | string | undefined {
  return cell.trim() === '' ? undefined : number(cell);
}

function optionalSwitch(cell: string): boolean | string | undefined {
  const word = cell.trim().toLowerCase();
  if (word === '') return undefined;
  return word === 'true' || (word === 'false' ? false : cell);
}

// The characters that the parser trims.
const aroundLabel = /^[ \t\n\r\f]+|[ \t\n\r\f]+$/g;

function labels(cell: string): string[] | string {
  if (cell.trim() === '') return [];
  if (!cell.includes('"')) return cell.split(';').map((label) => label.replaceAll(aroundLabel, ''));
  try {
    // Labels have no control characters, so the cell is one record whatever it contains.
    return parse(cell, { delimiter: ';', record_delimiter: '\u0000', trim: true })[0] ?? [];
  } catch {
    return cell;
  }
}
