/** Copies the rows of an account into another cell: from one snapshot, into one transaction. */
import type pg from 'pg';
import type { Seal } from '../db/seal.ts';
import {
  type AccountTable,
  accountTables,
  belongsTo,
  columnsOfTables,
  growing,
  type Mark,
  type Part,
} from './account-records.ts';
import { copyRows } from './copy.ts';
import type { Cell } from './sessions.ts';

/**
 * Copies the history of the account, closes it, and copies the rest. Afterwards the target has the account as
 * `arriving`, or nothing of it.
 * @param close after this, nothing of the account changes in the source
 * @returns the number of rows
 * @throws an Error of one line when a copied row differs, or a secret cannot be decrypted
 */
export async function copyAccount(
  source: Cell,
  target: Cell,
  { accountId, close }: { accountId: number; close: () => Promise<void> },
): Promise<number> {
  const [from, to] = [source.session, target.session];
  const columns = await columnsOfTables(from);
  const describe = (table: AccountTable): Copied => ({
    ...table,
    names: columns.get(table.name) ?? [],
    accountId,
  });
  try {
    await to.query('begin');
    let count = 0;
    await to.query(`insert into account_move (account_id, state) values ($1, 'arriving')`, [accountId]);
    await from.query(snapshot);
    const mark = await markOf(from, accountId);
    for (const name of growing)
      count += await copyPlain(source, target, { ...describe({ name }), part: { mark, is: 'history' } });
    await from.query('rollback');
    await close();
    await from.query(snapshot);
    const part: Part = { mark, is: 'rest' };
    for (const table of accountTables)
      count += await (table.sealed ? copySealed : copyPlain)(source, target, { ...describe(table), part });
    await to.query(sentAgain, [accountId]);
    await requireSameLog(from, to, accountId);
    // The watchers of the target find out what is due.
    await to.query('update endpoint_due set look_at = now() where account_id = $1', [accountId]);
    await to.query('commit');
    return count;
  } catch (error) {
    await to.query('rollback').catch(() => {});
    throw error;
  } finally {
    await from.query('rollback').catch(() => {});
  }
}

const snapshot = 'begin transaction isolation level repeatable read read only';

/** A delivery may have been moved back from the log, to be sent again, after the history was copied. */
const sentAgain = `delete from delivery_log using delivery
  where delivery_log.webhook_id = delivery.webhook_id and delivery_log.delivery_id = delivery.delivery_id
    and delivery_log.account_id = delivery.account_id and delivery.account_id = $1`;

/** Where the history of the account ends. */
async function markOf(from: pg.Client, accountId: number): Promise<Mark> {
  const { rows } = await from.query<Mark>(
    `select coalesce(epoch, 0)::text as epoch, coalesce(position, 0)::text as position,
      (now() - interval '10 minutes')::text as ended_at,
      array(select webhook_id from webhook where webhook.account_id = own.account_id)::text as webhook_ids
    from (values ($1::bigint)) as own (account_id) left join account_feed using (account_id)`,
    [accountId],
  );
  return rows[0] as Mark;
}

interface Copied extends AccountTable {
  names: string[];
  accountId: number;
  part?: Part;
}

async function copyPlain({ session: from }: Cell, { session: to }: Cell, copied: Copied): Promise<number> {
  const { name, names, accountId, part } = copied;
  const columns = names.join(', ');
  const rows = `select ${columns} from ${name} where ${belongsTo(name, accountId, part)}`;
  await copyRows(from, to, { rows, into: `${name} (${columns})` });
  return requireSame(from, to, copied);
}

const batch = 500;

/** Values are decrypted with the keys of one cell and encrypted with the first key of the other. */
async function copySealed({ session: from, seal }: Cell, target: Cell, copied: Copied): Promise<number> {
  const { name, names, sealed = '', accountId } = copied;
  const others = names.filter((column) => column !== sealed).join(', ');
  await from.query(`declare sealed no scroll cursor for
    select json_build_object(${names.filter((column) => column !== sealed).map((column) => `'${column}', ${column}`)})::text
      as plain, ${sealed} as sealed
    from ${name} where ${belongsTo(name, accountId)}`);
  for (;;) {
    const { rows } = await from.query<{ plain: string; sealed: Buffer }>(`fetch ${batch} from sealed`);
    if (rows.length === 0) break;
    await target.session.query(
      `insert into ${name} (${others}, ${sealed})
      select ${others.split(', ').map((column) => `record.${column}`)}, sealed
      from unnest($1::json[], $2::bytea[]) as copied (plain, sealed)
        cross join lateral json_populate_record(null::${name}, plain) as record`,
      [rows.map(({ plain }) => plain), rows.map((row) => sealAnew(name, seal, target.seal, row.sealed))],
    );
  }
  await from.query('close sealed');
  return requireSame(from, target.session, copied);
}

function sealAnew(table: string, from: Seal, to: Seal, sealed: Buffer): Buffer {
  try {
    return to.close(from.openBytes(sealed));
  } catch (error) {
    throw new Error(`a value in ${table} cannot be moved: ${(error as Error).message}`);
  }
}

/** @returns how many rows both have @throws when they differ in anything but their encryption */
async function requireSame(
  from: pg.Client,
  to: pg.Client,
  { name, names, sealed, accountId, part }: Copied,
): Promise<number> {
  const compared = names.filter((column) => column !== sealed && column !== 'bytes').join(', ');
  const text = `select count(*)::float8 as rows, sum(hashtextextended(row(${compared})::text, 0))::text as sum
    from ${name} where ${belongsTo(name, accountId, part)}`;
  return requireSameAnswer(from, to, { name, text });
}

/** Both parts of it were compared, but its history may have changed in between. */
async function requireSameLog(from: pg.Client, to: pg.Client, accountId: number): Promise<void> {
  const name = 'delivery_log';
  const text = `select count(*)::float8 as rows from ${name} where ${belongsTo(name, accountId)}`;
  await requireSameAnswer(from, to, { name, text });
}

async function requireSameAnswer(
  from: pg.Client,
  to: pg.Client,
  { name, text }: { name: string; text: string },
): Promise<number> {
  const [here, there] = await Promise.all(
    [from, to].map(async (database) => (await database.query<{ rows: number; sum?: string }>(text)).rows[0]),
  );
  if (here && here.rows === there?.rows && here.sum === there.sum) return here.rows;
  throw new Error(`${name} was not copied exactly, so the account has not moved: run the command again`);
}
