import { CompiledQuery, sql } from 'kysely';
import t from 'tap';
import '../../src/process/serve.ts';
import '../../src/process/rekey.ts';
import '../../src/accounts/change-client.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { type StatementText, statementTexts } from '../../src/db/statement.ts';
import { dividePast } from '../support/partitions.ts';
import { cloneDatabase } from '../support/service.ts';

/** Tables that grow with the business; a scan of one of them whole has to be justified. */
const bigTables = (
  'menu category item modifier_group modifier modifier_group_use event feed delivery attempt delivery_log ' +
  'idempotency_key'
).split(' ');

/** Statements that may read a big table whole, and why. */
const justified: Record<string, string> = {};

t.test(
  'every statement is planned by indexes on a database of 200,000 items and 500,000 events',
  async (t) => {
    const patient = { statement_timeout: 0, query_timeout: 0 };
    const database = openDatabase({ ...(await cloneDatabase(t)), ...patient }, { max: 1 });
    t.teardown(() => database.destroy());
    await fill(database);
    const big = await namesOfBig(database);
    t.same(new Set(big.values()), new Set(bigTables), 'each has rows');
    const scanning: string[] = [];
    for (const statement of planned()) {
      const { name, filters } = statement;
      // With no filter, with each alone, and with all of them.
      for (const present of [[], ...filters.map((filter) => [filter]), filters]) {
        const plan = await planOf(database, statement.textWith(present));
        const scanned = scannedWhole(plan, big).map((table) => `${name} with [${present}] scans ${table}`);
        scanning.push(...scanned);
      }
    }
    t.strictSame(
      scanning.filter((one) => !(one in justified)),
      [],
    );
    t.strictSame(
      Object.keys(justified).filter((one) => !scanning.includes(one)),
      [],
      'nothing is justified that does not happen',
    );

    const found = await planOf(database, 'select item_id from item where name = $1::text');
    t.strictSame(scannedWhole(found, big), ['item'], 'and the test sees a scan');
  },
);

t.test('every statement binds each of its values once, and the database executes it', async (t) => {
  const database = openDatabase(await cloneDatabase(t), { max: 1 });
  t.teardown(() => database.destroy());
  for (const { name, text, parameters } of planned()) {
    const names = parameters.map((parameter) => parameter.name);
    t.equal(new Set(names).size, names.length, `${name} binds no value twice`);
    const binds = new Set(text.match(/\$\d+/g) ?? []).size;
    t.equal(binds, names.length, `${name} uses what it binds`);
    await run(database, `prepare probe as ${text}`);
    const [probe] = await run<{ types: string[] }>(
      database,
      `select parameter_types::text[] as types from pg_prepared_statements where name = 'probe'`,
    );
    t.equal(probe?.types.length, names.length, `${name} is prepared with ${names.length} parameters`);
    t.equal(await execute(database, names.length), 'executed', `${name} is executed`);
    await run(database, 'deallocate probe');
  }
  t.ok(statementTexts().length > 100);
});

t.test('a statement that is given the id range of its events opens only the days in it', async (t) => {
  const database = openDatabase(await cloneDatabase(t), { max: 1 });
  t.teardown(() => database.destroy());
  await dividePast(
    database,
    Array.from({ length: 35 }, (_, n) => 34 - n),
  );
  const [ids] = await run<{ today: string; yesterday: string }>(
    database,
    `select event_id_at(now())::text as today, event_id_at(now() - interval '1 day')::text as yesterday`,
  );
  const spanning = planned().filter(({ parameters }) => parameters.some(({ name }) => name === 'first_id'));
  t.ok(spanning.length >= 5);
  for (const { name, text, parameters } of spanning) {
    await run(database, `prepare probe (${parameters.map(({ type }) => type).join(', ')}) as ${text}`);
    const opened = async (first = '', last = '') => {
      const values = parameters.map(({ name, type }) =>
        literal(type, type === 'uuid[]' ? [first, last] : name === 'first_id' ? [first] : [last]),
      );
      const plan = (
        await run<{ 'QUERY PLAN': string }>(database, `explain (costs off) execute probe (${values})`)
      )
        .map((row) => row['QUERY PLAN'])
        .join('\n');
      return new Set(plan.match(/(?<= on )(event|feed)_(\d{8}|rest)/g)?.map((one) => one.slice(-8))).size;
    };
    t.equal(await opened(ids?.today, ids?.today), 1, `${name} opens one day`);
    t.equal(await opened(ids?.yesterday, ids?.today), 2, `${name} opens two days`);
    await run(database, 'deallocate probe');
  }
});

t.test('a read that calls share is not planned again at each execution, however few they are', async (t) => {
  const database = openDatabase(await cloneDatabase(t), { max: 1 });
  t.teardown(() => database.destroy());
  const shared = planned().filter(({ name }) => /\.several$|^menus\.priceSelection\./.test(name));
  t.ok(shared.length >= 6);
  for (const { name, text, parameters } of shared) {
    await run(database, `prepare probe (${parameters.map(({ type }) => type).join(', ')}) as ${text}`);
    const values = parameters.map(({ name, type }) => (name === 'location_ids' ? 'null' : literal(type, [])));
    // The first five are planned for their values, whatever the statement.
    for (let n = 0; n < 6; n += 1) await run(database, `execute probe (${values})`);
    const [plans] = await run<{ generic_plans: number }>(
      database,
      `select generic_plans from pg_prepared_statements where name = 'probe'`,
    );
    t.equal(plans?.generic_plans, 1, name);
    await run(database, 'deallocate probe');
  }
});

/** A literal of a type; `ids` where it is of ids of events. */
function literal(type: string, ids: string[]): string {
  const values = type.startsWith('uuid') ? ids : ['1'];
  return `'${type.endsWith('[]') ? `{${values}}` : values}'`;
}

/** Executes `probe` without a single value, and takes back what it did; a column that must have one may say so. */
async function execute(database: Database, binds: number): Promise<string> {
  const values = binds > 0 ? `(${Array(binds).fill('null').join(', ')})` : '';
  const executed = new Error('executed');
  const outcome = await database
    .transaction()
    .execute(async (transaction) => {
      await run(transaction, `execute probe${values}`);
      throw executed;
    })
    .catch((error: Error & { code?: string }) => error);
  return 'code' in outcome && outcome.code === '23502' ? executed.message : outcome.message;
}

// `lock table` has neither a plan nor parameters.
function planned(): StatementText[] {
  return statementTexts().filter(({ text }) => !text.startsWith('lock table'));
}

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  Plans?: Plan[];
}

async function planOf(database: Database, text: string): Promise<Plan> {
  const [row] = await run<{ 'QUERY PLAN': string }>(
    database,
    `explain (generic_plan, costs off, format json) ${text}`,
  );
  return JSON.parse(row?.['QUERY PLAN'] ?? '')[0].Plan;
}

function scannedWhole(plan: Plan, big: Map<string, string>): string[] {
  const below = (plan.Plans ?? []).flatMap((one) => scannedWhole(one, big));
  const table = big.get(plan['Relation Name'] ?? '');
  return plan['Node Type'] === 'Seq Scan' && table ? [...new Set([...below, table])] : below;
}

/** The big tables and partitions by name, each with the name of its table. Today may be young, and days to come are empty. */
async function namesOfBig(database: Database): Promise<Map<string, string>> {
  const rows = await run<{ name: string; table: string }>(
    database,
    `select relname as name, coalesce(inhparent, pg_class.oid)::regclass::text as table
    from pg_class left join pg_inherits on inhrelid = pg_class.oid
    where relkind = 'r' and (reltuples > 50000 or not relispartition)`,
  );
  return new Map(
    rows.filter(({ table }) => bigTables.includes(table)).map(({ name, table }) => [name, table]),
  );
}

async function run<Row>(database: Database, text: string): Promise<Row[]> {
  const { rows } = await database.executeQuery<Row>(CompiledQuery.raw(text));
  return rows;
}

/** 400 menus of ten categories of 50 items, their events over a month, and the deliveries of two endpoints. */
async function fill(database: Database): Promise<void> {
  await dividePast(database);
  const indexes = await dropIndexes(database);
  await sql`set session_replication_role = replica`.execute(database);
  await sql`insert into menu (account_id, location_id, name, sort_order)
    select 1, 1 + n % 100, 'Menu ' || n, n from generate_series(1, 400) as n`.execute(database);
  await sql`insert into category (account_id, location_id, menu_id, name, sort_order)
    select 1, 1, menu_id, 'Category ' || n, n from menu, generate_series(1, 10) as n
    where menu.name like 'Menu %'`.execute(database);
  await sql`insert into item (account_id, location_id, menu_id, category_id, name, price, sort_order, external_id)
    select 1, 1, menu_id, category_id, 'Item ' || category_id || ' ' || n, 1, n, category_id || '-' || n
    from category, generate_series(1, 50) as n where category.name like 'Category %'`.execute(database);
  await sql`insert into modifier_group (account_id, location_id, name)
    select 1, 1 + n % 200, 'Group ' || n from generate_series(1, 20000) as n`.execute(database);
  await sql`insert into modifier (account_id, location_id, modifier_group_id, name, sort_order, external_id)
    select 1, location_id, modifier_group_id, 'Modifier ' || n, n, n
    from modifier_group, generate_series(1, 6) as n where account_id = 1`.execute(database);
  await sql`insert into modifier_group_use (account_id, modifier_group_id, item_id, menu_id)
    select 1, item_id % 20000, item_id, menu_id from item where name like 'Item %'`.execute(database);
  await sql`insert into modifier_group_use (account_id, modifier_group_id, modifier_id, user_group_id)
    select 1, 1 + modifier_group_id % 20000, modifier_id, modifier_group_id from modifier where name = 'Modifier 1'`.execute(
    database,
  );
  await sql`insert into event (event_id, account_id, type, record, location_id, menu_id, payload)
    select uuidv7(make_interval(secs => -5 * n)), 1 + n % 50, 'item.toggled', 'item:' || n % 20000, 1, n % 400, '{}'
    from generate_series(1, 500000) as n`.execute(database);
  await sql`insert into feed (account_id, epoch, position, event_id, type, record, location_id, menu_id)
    select account_id, 0, row_number() over (order by event_id), event_id, type, record, location_id, menu_id
    from event`.execute(database);
  await sql`insert into webhook (account_id, url) values (1, 'https://example.com/'), (1, 'https://example.com/2')`.execute(
    database,
  );
  await sql`insert into delivery (account_id, webhook_id, event_id, event_sequence, event_type, record, state)
    select feed.account_id, webhook_id, event_id, position, type, record, 'held'
    from feed join webhook using (account_id) cross join generate_series(1, 2)`.execute(database);
  await sql`insert into attempt (delivery_id, account_id, number, started_at, duration_ms, status)
    select delivery_id, account_id, 1, now(), 5, 204 from delivery`.execute(database);
  await sql`insert into delivery_log (delivery_id, account_id, webhook_id, event_id, event_sequence, event_type, record,
      state, attempt_count, attempts, created_at, ended_at)
    select 1000000 + row_number() over (), feed.account_id, webhook_id, event_id, position, type, record, 'delivered',
      1, '[]', uuid_extract_timestamp(event_id), uuid_extract_timestamp(event_id)
    from feed join webhook using (account_id) cross join generate_series(1, 3)`.execute(database);
  await sql`insert into idempotency_key (client_id, account_id, path, key, body_hash, sealed_answer)
    select 'client ' || n % 40, 1, '/', n::text, '', '' from generate_series(1, 20000) as n`.execute(
    database,
  );
  for (const index of indexes) await run(database, index);
  await run(database, 'analyze');
}

/**
 * Drops the indexes of the big tables, except those of their keys: to fill a table without them and to build them then
 * takes a fraction of the time. @returns what builds them
 */
async function dropIndexes(database: Database): Promise<string[]> {
  const indexes = await run<{ name: string; definition: string }>(
    database,
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
    from pg_index join pg_class on pg_class.oid = indrelid
    where not relispartition and relname in ('${bigTables.join("', '")}') and not indisunique`,
  );
  for (const { name } of indexes) await run(database, `drop index ${name}`);
  return indexes.map(({ definition }) => definition.replace(' ON ONLY ', ' ON '));
}
