import { sql } from 'kysely';
import pg from 'pg';
import t from 'tap';
import { operations } from '../../generated/operations.ts';
import { createClient } from '../../src/accounts/client.ts';
import { openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { dropPartitions, keepPartitions } from '../../src/db/partitions.ts';
import { allScopes } from '../../src/http/scopes.ts';
import { blocksRunBy } from '../docs/blocks.ts';
import { createApi } from '../support/api.ts';
import { eventually, settled } from '../support/eventually.ts';
import { type Build, callEveryOperation, revokeOwnToken } from '../support/every-operation.ts';
import { migrationsWith } from '../support/migrations.ts';
import { dividePast, partitionsOf } from '../support/partitions.ts';
import { environmentOf, startProcess } from '../support/process.ts';
import { startReceiver } from '../support/receiver.ts';
import { cloneDatabase } from '../support/service.ts';

t.setTimeout(120_000);

t.test('a role that may only read and write rows, as the document grants, serves everything', async (t) => {
  const connection = await cloneDatabase(t);
  const owner = new pg.Client({ ...connection, ssl: false } as pg.ClientConfig);
  await owner.connect();
  // A role belongs to the server, so it goes by the name of the database.
  const user = `${connection.database}_service`;
  const [block, ...others] = blocksRunBy(import.meta.url);
  t.same(others, []);
  t.teardown(async () => {
    await owner.query(`drop owned by ${user}; drop role ${user}`);
    await owner.end();
  });
  await owner.query((block?.text ?? '').replaceAll('menus_service', user));
  const database = openDatabase({ ...connection, user }, { max: 1 });
  t.teardown(() => database.destroy());
  for (const ddl of ['create table mine ()', 'alter table item add mine text', 'drop table item']) {
    const client = new pg.Client({ ...connection, user, ssl: false } as pg.ClientConfig);
    await client.connect();
    await t.rejects(client.query(ddl), { code: '42501' }, ddl);
    await client.end();
  }
  // What a later release creates is granted as well.
  const later = { '9001_later': 'create table later (at timestamptz)' };
  await migrate(connection, { directory: migrationsWith(t, later), say: () => {} });

  const env = { ...environmentOf({ ...connection, user }), MIGRATE: 'off' };
  const limits = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8', RATE_LIMIT_PER_MINUTE: '100000' };
  const service = await startProcess(t, { ...env, ...limits });
  const scopes = { scopes: [...allScopes], locationIds: null };
  const client = await createClient(database, { account: 'Acme', ...scopes });
  const build: Build = { api: createApi(service.url, client), createApi, operations, called: new Set() };
  const receiver = await startReceiver(t);
  await callEveryOperation(build, build, receiver.url);
  await revokeOwnToken(build.api);
  t.same([...build.called, 'issueToken', 'revokeToken'].sort(), Object.keys(operations).sort());
  await settled(database);
  await owner.query('select * from later');
  const { rows } = await owner.query(`select has_table_privilege('${user}', 'later', 'insert') as granted`);
  t.same(rows, [{ granted: true }]);
  const { ended, stdout } = await service.stop('SIGTERM');
  t.equal(ended, 0);
  t.notMatch(stdout, '"level":50', 'no job was refused anything');

  // Partitions are the owner's; the role may have them created and dropped, as long as it may delete rows.
  const ownDatabase = openDatabase(connection, { max: 1 });
  await sql`delete from event; delete from feed; delete from outbox`.execute(ownDatabase);
  await dividePast(ownDatabase);
  await ownDatabase.destroy();
  await eventually('old days are dropped', async () => {
    await dropPartitions(database, 30);
    const partitions = await partitionsOf(database, 'event');
    return partitions.every(({ until }) => until === null || until.getTime() > Date.now() - 30 * 86_400_000);
  });
  await owner.query(`revoke delete on event, feed, delivery_log from ${user}`);
  await t.rejects(dropPartitions(database, 0), { code: '42501' });
  await t.rejects(keepPartitions(database), { code: '42501' });
});
