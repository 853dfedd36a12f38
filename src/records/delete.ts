import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Param } from '../db/statement.ts';
import { acceptedETags, eTagMatches, type IfMatch, requireWritten } from '../http/conditional.ts';
import { onConstraint } from './constraints.ts';
import type { Reach } from './reach.ts';
import { isReachable, type RecordKind, type RequireRecord } from './record-kind.ts';
import { type ChangeRow, change, list, type TouchOptions, type Written, write, written } from './write.ts';

interface DeleteSpec<Key extends Reach, T> {
  name: string;
  kind: RecordKind<Key, T>;
  require: RequireRecord<Key>;
  options?: TouchOptions;
}

/** The part of a call that a delete uses. */
interface DeleteCall {
  database: Database;
  headers: { 'if-match'?: string };
  requestId: string;
}

/**
 * The delete of one record that contains no others, as one statement with its event.
 * @returns a function that throws 412, and what `require` throws.
 */
export function deletion<Key extends Reach, T>({
  name,
  kind,
  require,
  options = {},
}: DeleteSpec<Key, T>): (call: DeleteCall, key: Key) => Promise<void> {
  const remove = write(
    name,
    (p: Param<Key & IfMatch & Written>) => sql<ChangeRow<T>>`
      delete from ${sql.table(kind.table)}
      where ${isReachable(kind, p)} and ${eTagMatches(p, kind.eTag())}
      returning ${list(change(kind, `${kind.table}.deleted`, { row: 'old' }))}`,
    ['record'],
    options,
  );
  const deleteOne = onConstraint(remove, kind.constraints);
  return async ({ database, headers, requestId }, key) => {
    const if_match = acceptedETags(headers['if-match']);
    const deleted = await deleteOne(database, { ...key, if_match, ...written(requestId) });
    await requireWritten(deleted, () => require(database, key));
  };
}
