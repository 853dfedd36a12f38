import { readdirSync, rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import t, { type Test } from 'tap';
import { migrate, requireMigrated } from '../../src/db/migrate.ts';
import { ownMigrations } from '../../src/db/schema.ts';
import { blocksRunBy } from '../docs/blocks.ts';
import { eventually } from '../support/eventually.ts';
import { someItems } from '../support/menus.ts';
import { migrationsWith } from '../support/migrations.ts';
import { cloneDatabase, startTestService } from '../support/service.ts';

const own = readdirSync(ownMigrations).map((file) => file.replace('.sql', ''));

t.test(
  'each migration is committed by itself: what fails leaves nothing, and the next try goes on',
  async (t) => {
    const { connection, look, said, say } = await setUp(t);
    const bad = migrationsWith(t, {
      '9001_good': 'create table good ();',
      '9002_bad': 'create table bad (); select 1 / 0;',
      '9003_later': 'create table later ();',
    });
    await t.rejects(migrate(connection, { directory: bad, say }), {
      message: 'migration 9002_bad failed: division by zero',
    });
    t.same(await tables(look), ['good']);
    const mended = migrationsWith(t, {
      '9001_good': 'create table good ();',
      '9002_bad': 'create table bad ();',
      '9003_later': 'create table later ();',
    });
    const result = await migrate(connection, { directory: mended, say });
    t.same(result, { applied: ['9002_bad', '9003_later'], newer: [] });
    t.same(await tables(look), ['bad', 'good', 'later']);
    t.same(await migrate(connection, { directory: mended, say }), { applied: [], newer: [] });
    t.same(said, []);
  },
);

t.test('no time limit ends a migration, not even one of the role or the database', async (t) => {
  const { connection, look, say } = await setUp(t);
  await look(`alter database ${connection.database} set statement_timeout = '100ms'`);
  const directory = migrationsWith(t, {
    '9001_slow': 'select pg_sleep(0.3); create table slow ();',
    '9002_slow': '-- no transaction\nselect pg_sleep(0.3);\n\ncreate table slower ();\n',
  });
  await migrate({ ...connection, statement_timeout: 100, query_timeout: 100 }, { directory, say });
  t.same(await tables(look), ['slow', 'slower']);
});

t.test(
  'requests wait behind a migration that waits for a table no longer than its lock timeout',
  async (t) => {
    const { api, connection } = await startTestService(t);
    const [{ path }] = await someItems(api, 1);
    const reader = await connect(t, connection);
    await reader('begin; lock table item in access share mode');
    const directory = migrationsWith(t, { '9001_column': 'alter table item add column further text;' });
    const said: string[] = [];
    let applied = false;
    const migrating = migrate(connection, { directory, say: (line) => said.push(line) }).then(() => {
      applied = true;
    });
    let slowest = 0;
    let slow = 0;
    while (said.length < 3) {
      const started = performance.now();
      t.equal((await api.post(`${path}/toggle`)).status, 200);
      const took = performance.now() - started;
      slowest = Math.max(slowest, took);
      if (took > 500) slow += 1;
    }
    t.ok(slowest < 2_000, `the slowest request took ${slowest} ms`);
    t.ok(slow >= 2, 'requests did wait behind it');
    t.notOk(applied);
    await reader('commit');
    await migrating;
    for (const [at, seconds] of [0.5, 1, 2].entries())
      t.equal(
        said[at],
        `migration 9001_column waits for a lock that others hold; trying again in ${seconds} s`,
      );
    const { rows } = await reader(`select from information_schema.columns where column_name = 'further'`);
    t.equal(rows.length, 1);
  },
);

t.test('one process migrates at a time; the others wait, and find it done', async (t) => {
  const { connection, look } = await setUp(t);
  const directory = migrationsWith(t, {
    '9001_once': 'select pg_sleep(1.2); create table once (); ',
    '9002_index': '-- no transaction\ncreate index concurrently item_further on item (version);\n',
  });
  const said: string[][] = [[], [], []];
  const results = await Promise.all(
    said.map((lines) => migrate(connection, { directory, say: (line) => lines.push(line) })),
  );
  t.same(
    results.map(({ applied }) => applied).sort(),
    [[], [], ['9001_once', '9002_index']],
    'one has applied all',
  );
  t.same(said.map((lines) => lines.length).sort(), [0, 1, 1]);
  t.same(new Set(said.flat()), new Set(['another process migrates the database; waiting for it']));
  t.same(await tables(look), ['once']);
});

t.test('when the process that migrates is gone, its work is undone and another takes over', async (t) => {
  const { connection, look } = await setUp(t);
  const directory = migrationsWith(t, { '9001_long': 'create table long (); select pg_sleep(0.5);' });
  const endless = migrationsWith(t, { '9001_long': 'create table long (); select pg_sleep(600);' });
  const lost = migrate(connection, { directory: endless, say: () => {} });
  const failed = t.rejects(lost, { message: /^migration 9001_long failed: / });
  const pid = await backendThat(look, 'sleeps', `wait_event = 'PgSleep'`);
  const said: string[] = [];
  const taking = migrate(connection, { directory, say: (line) => said.push(line) });
  await eventually('the other waits', async () => said.length > 0);
  t.same(await tables(look), []);
  await look(`select pg_terminate_backend(${pid})`);
  await failed;
  t.same((await taking).applied, ['9001_long']);
  t.same(await tables(look), ['long']);
});

const indexed = {
  '9001_index': `-- no transaction
-- Rare.
create index concurrently if not exists item_further on item (version);

create unique index concurrently menu_other on menu (menu_id, version);
`,
};

t.test('an index is created without keeping writes waiting', async (t) => {
  const { api, connection } = await startTestService(t);
  const [{ path }] = await someItems(api, 1);
  const [look, writer] = [await connect(t, connection), await connect(t, connection)];
  await writer(`begin; update location set version = version; update item set version = version where false`);
  const migrating = migrate(connection, { directory: migrationsWith(t, indexed), say: () => {} });
  await backendThat(look, 'waits for the writer', `wait_event = 'virtualxid'`);
  // Longer than the lock timeout, which is not for this.
  await pause(1_200);
  t.equal((await api.post(`${path}/toggle`)).status, 200);
  await writer('commit');
  await migrating;
  t.same(await indexes(look), ['item_further', 'menu_other']);
});

t.test('an index that was left unfinished is rebuilt, and one that exists is kept', async (t) => {
  const { connection, look, say } = await setUp(t);
  const writer = await connect(t, connection);
  const directory = migrationsWith(t, indexed);
  for (const [index, table] of [
    ['item_further', 'item'],
    ['menu_other', 'menu'],
  ] as const) {
    await writer(`begin; update ${table} set version = version where false`);
    const failed = t.rejects(migrate(connection, { directory, say }), {
      message: /^migration 9001_index failed: /,
    });
    const pid = await backendThat(
      look,
      `creates ${index}`,
      `wait_event = 'virtualxid' and query like '%${index} on%'`,
    );
    await look(`select pg_terminate_backend(${pid})`);
    await failed;
    await writer('commit');
    t.notOk((await indexes(look)).includes(index), `${index} is not valid`);
    t.ok((await indexes(look, 'not indisvalid')).includes(index), `${index} is there`);
  }
  const { rows: before } = await look(`select 'item_further'::regclass::oid as oid`);
  t.same((await migrate(connection, { directory, say })).applied, ['9001_index']);
  t.same(await indexes(look), ['item_further', 'menu_other']);
  t.same((await look(`select 'item_further'::regclass::oid as oid`)).rows, before);
});

t.test('the example of CONTRIBUTING.md works, and rows are filled in batches as it says', async (t) => {
  const { connection, look, say } = await setUp(t);
  const [example, ...others] = blocksRunBy(import.meta.url);
  t.same(others, []);
  const directory = migrationsWith(t, {
    '9001_example': `${example?.text}\n`,
    '9002_column': 'alter table item add column filled boolean;',
    '9003_rows': `-- no transaction
do $$ begin
  loop
    update item set filled = true
    where item_id in (select item_id from item where filled is null limit 20);
    exit when not found;
    commit;
  end loop;
end $$;
`,
  });
  const { applied } = await migrate(connection, { directory, say });
  t.same(applied, ['9001_example', '9002_column', '9003_rows']);
  const { rows } = await look(`select count(distinct xmin::text)::int as transactions,
    bool_and(filled) as filled, to_regclass('item_rare') is not null and to_regclass('menu_rare') is not null as indexed
    from item`);
  t.match(rows, [{ filled: true, indexed: true }]);
  t.ok(rows[0].transactions > 1, 'batches are committed one by one');
});

t.test('a deadlock with others is tried again', async (t) => {
  const { connection, look } = await setUp(t);
  const other = await connect(t, connection);
  await other(`set deadlock_timeout = '1h'; begin; lock table category in access exclusive mode`);
  const directory = migrationsWith(t, {
    '9001_both': `set local deadlock_timeout = '10ms'; lock table item; lock table category;`,
  });
  const said: string[] = [];
  const migrating = migrate(connection, { directory, say: (line) => said.push(line) });
  await backendThat(
    look,
    'waits for category',
    `query like '%lock table category%' and wait_event_type = 'Lock'`,
  );
  await other('lock table item in access exclusive mode');
  await other('commit');
  await migrating;
  t.equal(said.length, 1);
});

t.test('what a newer version has applied is left alone, and reported in one line', async (t) => {
  const { connection, look, said, say } = await setUp(t);
  const next = { '9001_next': 'create table next ();', '9002_next': 'create table after ();' };
  await migrate(connection, { directory: migrationsWith(t, next), say });
  const before = await look('select * from kysely_migration order by name');
  const line =
    'the database schema is newer than this version, with 9001_next, 9002_next; leaving it as it is';
  t.same(await migrate(connection, { say }), { applied: [], newer: ['9001_next', '9002_next'] });
  t.same(said.splice(0), [line]);
  await requireMigrated(connection, { say });
  t.same(said, [line]);
  t.same((await look('select * from kysely_migration order by name')).rows, before.rows);
  t.same(await tables(look), ['after', 'next']);
});

t.test('a migration that comes before an applied one is refused', async (t) => {
  const { connection, look, say } = await setUp(t);
  await migrate(connection, { directory: migrationsWith(t, { '9002_next': 'select 1;' }), say });
  const inserted = migrationsWith(t, { '9001_late': 'create table late ();', '9002_next': 'select 1;' });
  const diverged = migrationsWith(t, { '9003_other': 'create table late ();' });
  const shortened = migrationsWith(t, { '9002_next': 'select 1;' });
  rmSync(new URL(`${own.at(-1)}.sql`, shortened));
  for (const [directory, names] of [
    [inserted, '9002_next where this version has 9001_late'],
    [diverged, '9002_next where this version has 9003_other'],
    [shortened, `${own.at(-1)} where this version has 9002_next`],
  ] as const) {
    const refusal = {
      message: `the database has migration ${names}: a new one comes after all that are applied`,
    };
    await t.rejects(migrate(connection, { directory, say }), refusal);
    await t.rejects(requireMigrated(connection, { directory, say }), refusal);
  }
  t.same(await tables(look), []);
});

t.test('a process that may not migrate refuses a schema that is older, and names the fix', async (t) => {
  const { connection, look, say } = await setUp(t);
  const directory = migrationsWith(t, { '9001_next': 'select 1;', '9002_next': 'select 1;' });
  await t.rejects(requireMigrated(connection, { directory, say }), {
    message:
      'the database schema lacks 9001_next, 9002_next: run "npm run --silent admin -- migrate" as its owner, or unset MIGRATE',
  });
  await look('drop schema public cascade; create schema public');
  await t.rejects(requireMigrated(connection, { say }), { message: /lacks 0001_accounts, 0002_menus, / });
  t.same((await migrate(connection, { say })).applied, own, 'an empty database gets everything');
  await requireMigrated(connection, { say });
});

type Query = (text: string) => Promise<pg.QueryResult>;

async function setUp(
  t: Test,
): Promise<{ connection: pg.PoolConfig; look: Query; said: string[]; say: (line: string) => void }> {
  const connection = await cloneDatabase(t);
  const said: string[] = [];
  const say = (line: string) => void said.push(line);
  return { connection, look: await connect(t, connection), said, say };
}

/** A session of its own on the database. */
async function connect(t: Test, connection: pg.PoolConfig): Promise<Query> {
  const client = new pg.Client({ ...connection, ssl: false } as pg.ClientConfig);
  await client.connect();
  t.teardown(() => client.end());
  return (text) => client.query(text);
}

/** Process id of the session that does what the condition on pg_stat_activity says. */
async function backendThat(look: Query, does: string, condition: string): Promise<number> {
  return eventually(`a session ${does}`, async () => {
    const { rows } = await look(
      `select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and ${condition}`,
    );
    return rows[0]?.pid as number | undefined;
  });
}

/** Of the tables that these migrations create, those that are there. */
async function tables(look: Query): Promise<string[]> {
  const { rows } = await look(
    `select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
       and relname in ('good', 'bad', 'later', 'slow', 'slower', 'once', 'long', 'next', 'after', 'late')
       order by relname`,
  );
  return rows.map(({ relname }) => relname);
}

/** Of the two that these tests create, those in that state. */
async function indexes(look: Query, state = 'indisvalid'): Promise<string[]> {
  const { rows } = await look(
    `select indexrelid::regclass::text as name from pg_index
     where indexrelid in (to_regclass('item_further'), to_regclass('menu_other')) and ${state} order by name`,
  );
  return rows.map(({ name }) => name);
}
