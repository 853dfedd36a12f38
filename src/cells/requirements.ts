/** What must be true before an account moves from one cell to another. */
import { requireKeys } from '../accounts/require-keys.ts';
import { cellNumber } from '../db/cell.ts';
import { firstIdOf } from '../db/cell-numbers.ts';
import { compareSchema, ownMigrations } from '../db/schema.ts';
import { belongsTo, clientsOf, numbered } from './account-records.ts';
import type { Cell } from './sessions.ts';

/** @throws an Error of one line unless both cells are of this release and have the keys that they were set up with */
export async function requireUsable(source: Cell, target: Cell): Promise<void> {
  for (const [cell, what] of [
    [source, 'source'],
    [target, 'target'],
  ] as const) {
    const { pending, newer } = await compareSchema(cell.database, ownMigrations);
    if (pending.length > 0) throw new Error(`the ${what} is of an older release: run its migrations first`);
    if (newer.length > 0) throw new Error(`the ${what} is of a newer release: use that release for the move`);
    await requireKeys(cell.database, cell.seal).catch((error: Error) => {
      throw new Error(`the ${what} cannot be used: ${error.message}`);
    });
  }
}

/** @throws an Error of one line when the target cannot take the account; nothing has changed */
export async function requireFitting(source: Cell, target: Cell, accountId: number): Promise<void> {
  const number = await cellNumber(target.database);
  if ((await cellNumber(source.database)) === number)
    throw new Error(
      `both databases are cell ${number}, so their ids would collide: make the target with "migrate --cell N"`,
    );
  await requireFreeIds(source, target, { accountId, number });
  await requireFreeClients(source, target, accountId);
  await requireKeptDays(source, target, accountId);
}

/** Ensures that the target has not assigned ids of the account, and never will. */
async function requireFreeIds(
  source: Cell,
  target: Cell,
  { accountId, number }: { accountId: number; number: number },
): Promise<void> {
  const [first, end] = [firstIdOf(number), firstIdOf(number + 1)];
  for (const table of numbered) {
    const key = `${table}_id`;
    const { rows } = await source.session.query<{ ids: string[]; own: string | null }>(
      `select coalesce(array_agg(${key}::text), '{}') as ids,
        (max(${key}) filter (where ${key} between ${first} and ${end} - 1))::text as own
      from ${table} where ${belongsTo(table, accountId)}`,
    );
    const { ids = [], own = null } = rows[0] ?? {};
    const { rows: found } = await target.session.query<{ id: string }>(
      `select ${key}::text as id from ${table} where ${key} = any ($1::bigint[])
      union all
      select $2::text from ${table}_${key}_seq where $2::text::bigint >= last_value + is_called::int limit 1`,
      [ids, own],
    );
    if (found[0])
      throw new Error(
        `the target gives ids that the account has, such as ${table} ${found[0].id}: choose another`,
      );
  }
}

async function requireFreeClients(source: Cell, target: Cell, accountId: number): Promise<void> {
  const { rows } = await target.session.query<{ client_id: string }>(
    'select client_id from client where client_id = any ($1)',
    [await clientsOf(source.session, accountId)],
  );
  if (rows[0]) throw new Error(`the target has a client ${rows[0].client_id} of another account`);
}

/** Partitions older than the target's would be dropped by its next sweep. */
async function requireKeptDays(source: Cell, target: Cell, accountId: number): Promise<void> {
  const { rows } = await target.session.query<{ since: string | null }>(`
    select greatest(
      (select case when bool_and(since is not null) then min(since) end from partitions_of('event') where not is_default),
      (select case when bool_and(since is not null) then min(since) end from partitions_of('feed') where not is_default)
    )::text as since`);
  const since = rows[0]?.since;
  if (!since) return;
  const { rows: older } = await source.session.query(
    `select from feed where ${belongsTo('feed', accountId)} and event_id < event_id_at($1) limit 1`,
    [since],
  );
  if (older[0])
    throw new Error(
      `the target keeps no events before ${since}, and the account has some: give both cells the same EVENT_RETENTION_DAYS`,
    );
}
