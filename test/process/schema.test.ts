import { readdirSync, rmSync } from 'node:fs';
import { sql } from 'kysely';
import type pg from 'pg';
import t, { type Test } from 'tap';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { ownMigrations } from '../../src/db/schema.ts';
import { migrationsWith } from '../support/migrations.ts';
import { environmentOf, type Outcome, runToEnd, startProcess } from '../support/process.ts';
import { cloneDatabase, emptyDatabase } from '../support/service.ts';

t.setTimeout(120_000);

const last = readdirSync(ownMigrations).sort().at(-1) ?? '';
const lastName = last.replace('.sql', '');

t.test(
  'MIGRATE=off: a start and the commands refuse an older schema with one line that names the fix',
  async (t) => {
    const { database, env } = await olderSchema(t);
    const refusal = `the database schema lacks ${lastName}: run "npm run --silent admin -- migrate" as its owner, or unset MIGRATE\n`;
    const off = { ...env, MIGRATE: 'off' };
    t.same(await runToEnd(t, { PORT: '0', ...off }), {
      ended: 1,
      stdout: '',
      stderr: `menu-management-service: ${refusal}`,
    });
    t.same(await admin(t, off, 'list-clients'), { ended: 1, stdout: '', stderr: `admin: ${refusal}` });
    t.notOk((await applied(database)).includes(lastName), 'nothing was changed');

    const migrated = await admin(t, off, 'migrate');
    t.same(migrated, { ended: 0, stdout: `{"applied":["${lastName}"]}\n`, stderr: '' }, 'the fix works');
    const service = await startProcess(t, off);
    t.equal((await fetch(`${service.url}/health/ready`)).status, 200);
    t.equal((await service.stop('SIGTERM')).stderr, '');
  },
);

t.test('without it a start brings an older schema up to date', async (t) => {
  const { database, env } = await olderSchema(t);
  const service = await startProcess(t, { ...env, MIGRATE: 'on' });
  t.equal((await service.stop('SIGTERM')).stderr, '');
  t.equal((await applied(database)).at(-1), lastName);
});

t.test('a newer schema is served, and one line says so', async (t) => {
  const { connection, database, env } = await setUp(t);
  await migrate(connection, { directory: migrationsWith(t, { '9001_next': 'create table next ();' }) });
  const before = await applied(database);
  const line = 'the database schema is newer than this version, with 9001_next; leaving it as it is\n';
  for (const MIGRATE of ['on', 'off']) {
    const service = await startProcess(t, { ...env, MIGRATE });
    t.equal((await fetch(`${service.url}/health/ready`)).status, 200);
    t.equal((await service.stop('SIGTERM')).stderr, `menu-management-service: ${line}`);
  }
  const migrated = await admin(t, env, 'migrate');
  t.same(migrated, { ended: 0, stdout: '{"applied":[],"newer":["9001_next"]}\n', stderr: `admin: ${line}` });
  t.same(await applied(database), before);
});

interface Place {
  connection: pg.PoolConfig;
  database: Database;
  env: Record<string, string>;
}

async function setUp(t: Test, make = cloneDatabase): Promise<Place> {
  const connection = await make(t);
  const database = openDatabase(connection, { max: 1 });
  t.teardown(() => database.destroy());
  return { connection, database, env: environmentOf(connection) };
}

/** A database that lacks the last migration. */
async function olderSchema(t: Test): Promise<Place> {
  const place = await setUp(t, emptyDatabase);
  const directory = migrationsWith(t, {});
  rmSync(new URL(last, directory));
  await migrate(place.connection, { directory });
  return place;
}

async function applied(database: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(
    database,
  );
  return rows.map(({ name }) => name);
}

function admin(t: Test, env: Record<string, string>, ...args: string[]): Promise<Outcome> {
  return runToEnd(t, env, [process.execPath, 'scripts/admin.ts', ...args]);
}
