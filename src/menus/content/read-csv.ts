import { CsvError, type Info, type Options, parse } from 'csv-parse/sync';
import { ErrorList, type FieldError } from '../../http/errors.ts';
import { type Column, type CsvForm, columns, type Kind, unguarded } from './csv-columns.ts';

/** One row of a menu's CSV: the fields of its record, by their names in the document. */
export interface CsvRow {
  line: number;
  record: Kind;
  /** The category of the row, or the one that an item is in. */
  category: { external_id?: string; category_id?: unknown };
  fields: Record<string, unknown>;
}

/**
 * Reads the rows. A cell that cannot be read stays text, which the schema refuses.
 * @returns the rows with their lines, counted from 1, and the errors of the file as CSV.
 */
export function readCsvRows(text: string): { rows: CsvRow[]; errors: ErrorList } {
  const errors = new ErrorList();
  // Column names contain no separator, so the first one in the file is the one it uses.
  const delimiter = /[,;\t]/.exec(text)?.[0] ?? ',';
  const form: CsvForm = { hasDecimalCommas: delimiter === ';' };
  const [header, ...body] = split(text, delimiter, errors).filter(({ cells }) =>
    cells.some((cell) => cell.trim() !== ''),
  );
  if (!header) {
    errors.add(fieldError(1, undefined, 'required', 'names no columns'));
    return { rows: [], errors };
  }
  const places = readHeader(header, errors);
  const rows = places.has('record')
    ? body.flatMap((one) => readRow(one, { places, header: header.cells, form }, errors) ?? [])
    : [];
  return { rows, errors };
}

/** The place of each known column in a row. */
type Places = ReadonlyMap<Column, number>;

function readHeader({ line, cells }: Line, errors: ErrorList): Places {
  const places = new Map<Column, number>();
  const names = new Set<string>();
  for (const [index, cell] of cells.entries()) {
    const name = cell.trim();
    if (name === '') continue;
    if (names.has(name)) errors.add(fieldError(line, name, 'duplicate', 'appears twice'));
    else if (isColumn(name)) places.set(name, index);
    else errors.add(fieldError(line, name, 'unknown', 'is not a known column'));
    names.add(name);
  }
  if (!places.has('record')) errors.add(fieldError(line, 'record', 'required', 'is a required column'));
  return places;
}

interface Line {
  line: number;
  cells: string[];
}

// A menu has 11,001 at most; the others are blank.
const mostRows = 20_000;

function split(text: string, delimiter: string, errors: ErrorList): Line[] {
  const bytes = Buffer.from(text);
  const options: Options = {
    delimiter,
    info: true,
    relax_column_count: true,
    record_delimiter: ['\r\n', '\n', '\r'],
  };
  const lines = numbered(
    bytes,
    parsedRows(bytes, options, (sound) => {
      const line = 1 + lineBreaks(bytes, 0, sound.at(-1)?.info.bytes ?? 0);
      errors.add(fieldError(line, undefined, 'csv', quoteError));
    }),
  );
  const beyond = lines[mostRows];
  if (beyond)
    errors.add(
      fieldError(beyond.line, undefined, 'too_many', `is beyond the ${mostRows} rows that are read`),
    );
  return lines.slice(0, mostRows);
}

const quoteError = 'is not valid CSV: a quote is misplaced or never closed';

type Parsed = { info: Info & { bytes: number }; record: string[] };

/** The rows up to the first malformed one, which is reported to `onError`, or up to one more than are read. */
function parsedRows(bytes: Buffer, options: Options, onError: (sound: Parsed[]) => void): Parsed[] {
  const rows: Parsed[] = [];
  try {
    parse(bytes, {
      ...options,
      to: mostRows + 1,
      // Collected here, since the parser returns none when it fails.
      on_record(row: unknown) {
        rows.push(row as Parsed);
        return null;
      },
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    onError(rows);
  }
  return rows;
}

// The parser's count of lines is unreliable with line breaks in cells; offsets are exact.
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

function readRow(
  { line, cells }: Line,
  { places, header, form }: { places: Places; header: readonly string[]; form: CsvForm },
  errors: ErrorList,
): CsvRow | undefined {
  if (cells.some((cell, index) => cell !== '' && !header[index]?.trim())) {
    errors.add(fieldError(line, undefined, 'too_many', 'has more cells than there are columns'));
  }
  const cellOf = (column: Column) => cells[places.get(column) ?? -1] ?? '';
  const record = cellOf('record').trim().toLowerCase();
  if (record !== 'menu' && record !== 'category' && record !== 'item') {
    errors.add(fieldError(line, 'record', 'enum', 'must be menu, category or item'));
    return undefined;
  }
  const row: CsvRow = { line, record, category: {}, fields: {} };
  for (const name of places.keys()) {
    if (name === 'record') continue;
    const kinds: readonly Kind[] = columns[name].kinds;
    const cell = unguarded(cellOf(name));
    if (kinds.includes(record)) readCell(row, name, cell, form);
    else if (cell !== '') errors.add(fieldError(line, name, 'unknown', `is not used in a ${record} row`));
  }
  // An empty time of return means "no plan" only beside a switch that is not empty.
  if (row.fields['unavailable_until'] === null && row.fields['is_available'] === undefined) {
    delete row.fields['unavailable_until'];
  }
  return row;
}

function readCell({ category, fields }: CsvRow, column: Column, cell: string, form: CsvForm): void {
  const value = columns[column].read(cell, form);
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
