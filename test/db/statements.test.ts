import { CompiledQuery, sql } from 'kysely';
import t from 'tap';
import '../../src/process/serve.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { type StatementText, statementTexts } from '../../src/db/statement.ts';
import { cloneDatabase } from '../support/service.ts';

/** Tables that grow with the business; a scan of one of them whole has to be justified. */
const bigTables = ['menu', 'category', 'item', 'event', 'delivery', 'attempt', 'idempotency_key'];

/** Statements that may read a big table whole, and why. */
const justified: Record<string, string> = {};

t.test(
  'every statement is planned by indexes on a database of 200,000 items and 500,000 events',
  async (t) => {
    const patient = { statement_timeout: 0, query_timeout: 0 };
    const database = openDatabase({ ...(await cloneDatabase(t)), ...patient }, { max: 1 });
    t.teardown(() => database.destroy());
    await fill(database);
    const scanning: string[] = [];
    for (const statement of planned()) {
      const { name, filters } = statement;
      // With no filter, with each alone, and with all of them.
      for (const present of [[], ...filters.map((filter) => [filter]), filters]) {
        const plan = await planOf(database, statement.textWith(present));
        const scanned = scannedWhole(plan).map((table) => `${name} with [${present}] scans ${table}`);
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
    t.strictSame(scannedWhole(found), ['item'], 'and the test sees a scan');
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

function scannedWhole(plan: Plan): string[] {
  const below = (plan.Plans ?? []).flatMap(scannedWhole);
  const table = plan['Relation Name'];
  return plan['Node Type'] === 'Seq Scan' && table && bigTables.includes(table) ? [...below, table] : below;
}

async function run<Row>(database: Database, text: string): Promise<Row[]> {
  const { rows } = await database.executeQuery<Row>(CompiledQuery.raw(text));
  return rows;
}

/** 400 menus of ten categories of 50 items, their events over a month, and the deliveries of two endpoints. */
async function fill(database: Database): Promise<void> {
  // Built at once after the rows are there, which takes a fifth of the time.
  const index =
    "create index item_search on item using gin (search_text(name || ' ' || description) gin_trgm_ops)";
  await run(database, 'drop index item_search');
  await sql`set session_replication_role = replica`.execute(database);
  await sql`insert into menu (account_id, location_id, name, sort_order)
    select 1, 1 + n % 100, 'Menu ' || n, n from generate_series(1, 400) as n`.execute(database);
  await sql`insert into category (account_id, location_id, menu_id, name, sort_order)
    select 1, 1, menu_id, 'Category ' || n, n from menu, generate_series(1, 10) as n
    where menu.name like 'Menu %'`.execute(database);
  await sql`insert into item (account_id, location_id, menu_id, category_id, name, price, sort_order, external_id)
    select 1, 1, menu_id, category_id, 'Item ' || category_id || ' ' || n, 1, n, category_id || '-' || n
    from category, generate_series(1, 50) as n where category.name like 'Category %'`.execute(database);
  await sql`insert into event (event_id, account_id, type, record, location_id, menu_id, payload, relayed)
    select uuidv7(make_interval(secs => -5 * n)), 1 + n % 50, 'item.toggled', 'item:' || n % 20000, 1, n % 400, '{}', true
    from generate_series(1, 500000) as n`.execute(database);
  await sql`insert into webhook (account_id, url) values (1, 'https://example.com/'), (1, 'https://example.com/2')`.execute(
    database,
  );
  await sql`insert into delivery (account_id, webhook_id, event_id, event_sequence, event_type, record, state)
    select event.account_id, webhook_id, event_id, sequence, type, record, 'delivered'
    from event join webhook using (account_id) cross join generate_series(1, 5)`.execute(database);
  await sql`insert into attempt (delivery_id, account_id, number, started_at, duration_ms, status)
    select delivery_id, account_id, 1, now(), 5, 204 from delivery`.execute(database);
  await sql`insert into idempotency_key (client_id, account_id, path, key, body_hash, sealed_answer)
    select 'client', 1, '/', n::text, '', '' from generate_series(1, 20000) as n`.execute(database);
  await run(database, index);
  await run(database, 'analyze');
}
