/*
 * The rows of a call that sets the availability of many records. Each row names a record by its id or by its
 * external_id; no two may name the same one, and all together may not name too many.
 */
import { type FieldError, parameterError } from '../http/errors.ts';
import { type Absence, absenceErrors, type Switched } from './absence.ts';

/** How many records one call may change. This limits what it locks, the events it writes and its response. */
export const mostRecords = 1_000;

/** A row of a body. */
export type NamedRow<Kind extends Switched> = Absence & { is_available: boolean; external_id?: string } & {
  [Id in `${Kind}_id`]?: number;
};

/** The words for one kind of record in calls and errors. */
export interface Names<Kind extends Switched> {
  table: Kind;
  /** The field of the body that has the rows: 'items'. */
  rows: string;
}

/** @throws 422 for errors in the rows that no schema can express. */
export function requireSense<Kind extends Switched>(
  names: Names<Kind>,
  rows: readonly NamedRow<Kind>[],
): void {
  const seen = new Map<string, number>();
  const errors = rows.flatMap((row, place) => [
    ...namingErrors(names, row, place, seen),
    ...absenceErrors(row, `/${names.rows}/${place}`),
  ]);
  if (errors.length > 0) throw parameterError(errors);
}

/** A row as the database found it. */
export interface FoundRow {
  /** The place of the row in the body. */
  place: number;
  /** The first row that names the same record; null when there is none. */
  first_place: number | null;
  /** Whether the rows name more records than a call may reach. */
  are_too_many: boolean;
}

/** @throws 422 when the rows name too many records, or one by its id that another names by external_id. */
export function requireDistinct(names: Names<Switched>, rows: readonly FoundRow[]): void {
  if (rows.some(({ are_too_many }) => are_too_many)) {
    const message = `name more than ${mostRecords.toLocaleString('en')} ${names.rows} together`;
    throw parameterError([{ field: `/${names.rows}`, code: 'too_many', message }]);
  }
  const repeated = rows.filter(({ place, first_place }) => first_place !== null && first_place !== place);
  const errors = new Map(
    repeated.map(({ place, first_place }) => [place, duplicate(names, place, first_place)]),
  );
  if (errors.size > 0) throw parameterError([...errors.values()]);
}

function namingErrors<Kind extends Switched>(
  { table, rows }: Names<Kind>,
  row: NamedRow<Kind>,
  place: number,
  seen: Map<string, number>,
): FieldError[] {
  const field = `/${rows}/${place}`;
  const id = row[`${table}_id`];
  const named = `${table === 'item' ? 'an' : 'a'} ${table}_id`;
  const { external_id } = row;
  if (id === undefined && external_id === undefined)
    return [{ field, code: 'required', message: `needs ${named} or an external_id` }];
  if (id !== undefined && external_id !== undefined)
    return [{ field, code: 'conflict', message: `has both ${named} and an external_id` }];
  const name = JSON.stringify(id ?? external_id);
  const first = seen.get(name);
  seen.set(name, first ?? place);
  return first === undefined ? [] : [duplicate({ table, rows }, place, first)];
}

function duplicate({ table, rows }: Names<Switched>, place: number, first: number | null): FieldError {
  const message = `names the same ${table} as /${rows}/${first}`;
  return { field: `/${rows}/${place}`, code: 'duplicate', message };
}
