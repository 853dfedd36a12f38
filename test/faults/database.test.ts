import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import t, { type Test } from 'tap';
import { openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import type { Item } from '../../src/items/item.ts';
import type { Api } from '../support/api.ts';
import { loadQuietDemo } from '../support/demo.ts';
import { settled } from '../support/eventually.ts';
import { type ItemAt, someItems } from '../support/menus.ts';
import { startScratchPostgres } from '../support/postgres.ts';
import { type Receiver, startReceiver, subscribe } from '../support/receiver.ts';
import { startTestService } from '../support/service.ts';

const worker = { leaseMs: 1_000, retryDelay: () => 50 };

t.test('connections cut again and again while sending: nothing is lost or out of order', async (t) => {
  const { api, connection } = await startTestService(t, { worker });
  const items = await someItems(api, 5);
  const receiver = await startReceiver(t);
  await subscribe(t, api, receiver);
  const toggling = toggleUntilAcknowledged(api, items, 8);
  for (let n = 0; n < 3; n += 1) {
    await receiver.until(5 * (n + 1));
    await cutConnections(connection);
  }
  await toggling;
  // On connections of its own: one of the service's may be cut and not know it yet.
  const observer = openDatabase(connection);
  t.teardown(() => observer.destroy());
  await settled(observer);
  await allArrivedInOrder(t, api, receiver, items);
});

t.test('the server is restarted while sending: nothing is lost or out of order', async (t) => {
  const server = await startScratchPostgres();
  t.teardown(() => server.stop());
  await migrate(server.connection);
  const own = openDatabase(server.connection);
  await loadQuietDemo(own);
  await own.destroy();

  const { api, database } = await startTestService(t, { connection: server.connection, worker });
  const items = await someItems(api, 5);
  const receiver = await startReceiver(t, async () => {
    await sleep(5);
    return 204;
  });
  await subscribe(t, api, receiver);
  const toggling = toggleUntilAcknowledged(api, items, 10);
  await receiver.until(10);
  await server.restart();
  await toggling;
  await settled(database);
  await allArrivedInOrder(t, api, receiver, items);
});

/** Toggles each item so often, all at once; a write that the database was out of reach for is made again. */
async function toggleUntilAcknowledged(api: Api, items: ItemAt[], times: number): Promise<void> {
  const toggle = async ({ path }: ItemAt) => {
    for (;;) {
      const { status } = await api.post(`${path}/toggle`);
      if (status === 200) return;
      if (status !== 503) throw new Error(`toggle answered ${status}`);
      await sleep(20);
    }
  };
  await Promise.all(
    Array.from({ length: times }, async () => {
      for (const item of items) await toggle(item);
    }),
  );
}

/** Every version that an item has had was delivered, the first time in order. */
async function allArrivedInOrder(t: Test, api: Api, receiver: Receiver, items: ItemAt[]): Promise<void> {
  for (const { path, item_id, version } of items) {
    const versions = receiver.deliveries
      .map(({ event }) => event.data as Item)
      .filter((item) => item.item_id === item_id)
      .map((item) => item.version);
    const last = (await api.get(path)).body.data.version;
    t.same(
      [...new Set(versions)],
      Array.from({ length: last - version }, (_, n) => version + 1 + n),
    );
    t.same(
      versions,
      versions.toSorted((a, b) => a - b),
      'a repeat comes before the next',
    );
  }
}

async function cutConnections(connection: pg.PoolConfig): Promise<void> {
  const client = new pg.Client({ ...connection, ssl: false } as pg.ClientConfig);
  await client.connect();
  await client.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  await client.end();
}
