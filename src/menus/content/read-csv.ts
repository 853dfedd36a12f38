import { CsvError, type Info, type Options, parse } from 'csv-parse/sync';
import type { FieldError } from '../../http/errors.ts';
import { type Column, columns, type Kind, unguarded } from './csv-columns.ts';

/** One row of a menu's CSV: the fields of its record by their names in the document. */
export interface CsvRow {
  line: number;
  record: Kind;
  /** The category of the row, or the one that an item is in. */
  category: { external_id?: string; category_id?: unknown };
  fields: Record<string, unknown>;
}

/**
 * Reads the rows. A cell that is not what its column holds stays text, for the schema to refuse.
 * @returns the rows with their lines, counted from 1, and what is wrong with the file as CSV.
 */
export function readCsvRows(text: string): { rows: CsvRow[]; errors: FieldError[] } {
  const { lines, errors } = split(text);
  const [header, ...body] = lines.filter(({ cells }) => cells.some((cell) => cell.trim() !== ''));
  if (!header)
    return { rows: [], errors: [...errors, fieldError(1, undefined, 'required', 'names no columns')] };
  const names = header.cells.map((name) => name.trim());
  const { line } = header;
  for (const [index, name] of names.entries()) {
    if (names.indexOf(name) < index && name !== '')
      errors.push(fieldError(line, name, 'duplicate', 'appears twice'));
    else if (!isColumn(name) && name !== '')
      errors.push(fieldError(line, name, 'unknown', 'is not a known column'));
  }
  if (!names.includes('record')) {
    return {
      rows: [],
      errors: [...errors, fieldError(line, 'record', 'required', 'is a required column')],
    };
  }
  const rows = body.flatMap((one) => readRow(one, names, errors) ?? []);
  return { rows, errors };
}

interface Line {
  line: number;
  cells: string[];
}

function split(text: string): { lines: Line[]; errors: FieldError[] } {
  const bytes = Buffer.from(text);
  // Names of columns hold no separator, so the first one in the file is the one it uses.
  const delimiter = /[,;\t]/.exec(text)?.[0] ?? ',';
  const options: Options = {
    delimiter,
    info: true,
    relax_column_count: true,
    record_delimiter: ['\r\n', '\n', '\r'],
  };
  try {
    return { lines: numbered(bytes, parseRows(bytes, options)), errors: [] };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const sound = Number(error['records'] ?? 0);
    const before = sound > 0 ? parseRows(bytes, { ...options, to: sound }) : [];
    const line = 1 + lineBreaks(bytes, 0, before.at(-1)?.info.bytes ?? 0);
    return { lines: numbered(bytes, before), errors: [fieldError(line, undefined, 'csv', quoteError)] };
  }
}

const quoteError = 'is not valid CSV: a quote is misplaced or never closed';

type Parsed = { info: Info & { bytes: number }; record: string[] };

function parseRows(bytes: Buffer, options: Options): Parsed[] {
  return parse(bytes, options) as unknown as Parsed[];
}

// The parser counts a line break within a cell as it likes; offsets are exact.
function numbered(bytes: Buffer, parsed: Parsed[]): Line[] {
  let line = 1;
  let start = 0;
  return parsed.map(({ info, record }) => {
    const own = line;
    line += lineBreaks(bytes, start, info.bytes);
    start = info.bytes;
    return { line: own, cells: record };
  });
}

function lineBreaks(bytes: Buffer, start: number, end: number): number {
  let count = 0;
  for (let at = start; at < end; at += 1) {
    const isBreak = bytes[at] === 0x0a || (bytes[at] === 0x0d && bytes[at + 1] !== 0x0a);
    if (isBreak) count += 1;
  }
  return count;
}

function isColumn(name: string): name is Column {
  return Object.hasOwn(columns, name);
}

function readRow({ line, cells }: Line, names: string[], errors: FieldError[]): CsvRow | undefined {
  if (cells.some((cell, index) => cell !== '' && !names[index])) {
    errors.push(fieldError(line, undefined, 'too_many', 'has more cells than there are columns'));
  }
  const record = cells[names.indexOf('record')]?.trim().toLowerCase();
  if (record !== 'menu' && record !== 'category' && record !== 'item') {
    errors.push(fieldError(line, 'record', 'enum', 'must be menu, category or item'));
    return undefined;
  }
  const row: CsvRow = { line, record, category: {}, fields: {} };
  for (const [index, name] of names.entries()) {
    if (!isColumn(name) || name === 'record' || names.indexOf(name) < index) continue;
    const kinds: readonly Kind[] = columns[name].kinds;
    const cell = unguarded(cells[index] ?? '');
    if (kinds.includes(record)) readCell(row, name, cell);
    else if (cell !== '') errors.push(fieldError(line, name, 'unknown', `is not used in a ${record} row`));
  }
  // A time of return that is not written says "no plan" only beside a switch that is.
  if (row.fields['unavailable_until'] === null && row.fields['is_available'] === undefined) {
    delete row.fields['unavailable_until'];
  }
  return row;
}

function readCell({ category, fields }: CsvRow, column: Column, cell: string): void {
  const value = columns[column].read(cell);
  if (value === undefined) return;
  if (column === 'category_external_id') category.external_id = cell;
  else if (column === 'category_id') category.category_id = value;
  else fields[column] = value;
}

function fieldError(line: number, column: string | undefined, code: string, message: string): FieldError {
  return { field: cellName(line, column), code, message };
}

/** How an error names a place in a file. */
export function cellName(line: number, column: string | undefined): string {
  return (column === undefined ? `line ${line}` : `line ${line}, ${column}`).slice(0, 1024);
}
