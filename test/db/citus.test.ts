import pg from 'pg';
import t from 'tap';
import { openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { noCitus, startCitus } from '../support/citus.ts';
import { loadQuietDemo } from '../support/demo.ts';
import { someItems } from '../support/menus.ts';
import { runToEnd } from '../support/process.ts';
import { startReceiver, subscribe, verify } from '../support/receiver.ts';
import { encryptionKey, startTestService } from '../support/service.ts';

t.test('Citus is a PostgreSQL like any other until it distributes tables', { skip: noCitus }, async (t) => {
  const connection = await startCitus(t);
  const { host, port, user, database } = connection;
  const settings = {
    DATABASE_URL: `postgres://${user}@${host}:${port}/${database}`,
    ENCRYPTION_KEY: encryptionKey.toString('base64'),
  };
  const admin = () => runToEnd(t, settings, [process.execPath, 'scripts/admin.ts', 'list-clients']);

  await t.test('writes, deliveries and the feed work on a coordinator', async (t) => {
    await migrate(connection);
    const loading = openDatabase(connection, { max: 1 });
    await loadQuietDemo(loading);
    await loading.destroy();
    const { api } = await startTestService(t, { connection, worker: {} });
    const receiver = await startReceiver(t);
    const { secret } = await subscribe(t, api, receiver);
    const items = await someItems(api, 5);
    for (const { path } of items) t.equal((await api.post(`${path}/toggle`)).status, 200);
    const { menu_id } = items[0];
    const { data } = (await api.get(`/menus/${menu_id}/content`)).body;
    t.equal((await api.put(`/menus/${menu_id}/content`, { data })).status, 200);
    await receiver.until(5);
    for (const delivery of receiver.deliveries) t.ok(verify(delivery, secret));
    t.equal((await api.get('/events')).body.data.length, 5);
    t.equal((await admin()).ended, 0);
  });

  await t.test('once a table is distributed, service and commands refuse to start', async (t) => {
    const client = new pg.Client(connection as pg.ClientConfig);
    await client.connect();
    await client.query('select citus_set_coordinator_host($1, $2)', [host, port]);
    await client.query("select citus_set_node_property($1, $2, 'shouldhaveshards', true)", [host, port]);
    await client.query("select create_distributed_table('idempotency_key', 'account_id')");
    await client.end();
    const refusal =
      /: DATABASE_URL points to tables that Citus distributes, such as idempotency_key: unsupported\n$/;
    for (const { ended, stderr } of [await runToEnd(t, settings), await admin()]) {
      t.equal(ended, 1);
      t.match(stderr, refusal);
    }
  });
});
