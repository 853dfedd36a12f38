import { type AliasedRawBuilder, type RawBuilder, sql } from 'kysely';
import { type Shared, shared } from '../db/shared-statement.ts';
import { type Param, statement } from '../db/statement.ts';
import { unplanned } from '../db/unplanned.ts';
import { type Reach, reachKey, withinReach } from './reach.ts';
import { isAtPath, type RecordKind } from './record-kind.ts';
import { list } from './write.ts';

/** A record as a read shows it, and whether the caller may see it. */
type Read<Columns> = { within_reach: boolean } & Columns;

/**
 * The read of one record at its path; concurrent reads share a statement, by the ids of the records.
 * @param columns the columns that are read.
 * @returns a function that returns one row, or none if there is no such record.
 */
export function sharedRead<Key extends Reach, Columns extends object>(
  name: string,
  kind: Pick<RecordKind<Key, unknown>, 'table' | 'path'>,
  columns: { [C in keyof Columns]: RawBuilder<Columns[C]> },
): Shared<Key, Read<Columns>[]> {
  const { table, path } = kind;
  const [id] = path;
  if (!id) throw new Error(`${name} reads a record without a path`);
  const shown = (p: Param<Reach>): AliasedRawBuilder<unknown, string>[] => [
    withinReach(p, table).as('within_reach'),
    ...Object.entries<RawBuilder<unknown>>(columns).map(([column, value]) => value.as(column)),
  ];
  const selectOne = statement<Key, Read<Columns>>(
    name,
    (p) => sql`select ${list(shown(p as Param<Reach>))} from ${sql.table(table)} where ${isAtPath(kind, p)}`,
  );
  const selectSeveral = statement<Reach & { ids: unknown[] }, Read<Columns> & Record<string, unknown>>(
    `${name}.several`,
    // One look-up for each id, whatever the planner thinks of their number.
    (p) => sql`
      select found.* from unnest(${unplanned(p('ids', 'bigint[]'))}) as wanted (id) cross join lateral (
        select ${list(shown(p))}, ${sql.join(path.map((column) => sql.ref(`${table}.${column}`)))}
        from ${sql.table(table)} where ${sql.ref(`${table}.${id}`)} = wanted.id limit 1
      ) as found`,
  );
  return shared({
    key: reachKey,
    alone: selectOne,
    isRead: true,
    async together(database, calls) {
      const [{ account_id, location_ids }] = calls;
      const ids = [...new Set(calls.map((call) => call[id]))];
      const found = await selectSeveral(database, { account_id, location_ids, ids });
      const rows = new Map(found.map((row) => [row[id] as unknown, row]));
      return calls.map((call) => {
        const row = rows.get(call[id]);
        return row && path.every((column) => row[column] === call[column]) ? [row] : [];
      });
    },
  });
}
