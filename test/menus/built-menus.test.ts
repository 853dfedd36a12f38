import { sql } from 'kysely';
import t from 'tap';
import { openDatabase } from '../../src/db/database.ts';
import { builtMenu } from '../../src/menus/built-menus.ts';
import type { MenuBody } from '../../src/menus/menu-body.ts';
import { eventually } from '../support/eventually.ts';
import { makeItem, makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

// What waits for a lock here waits for as long as the test wants.
const patience = {
  query_timeout: 60_000,
  statement_timeout: 60_000,
  lock_timeout: 60_000,
  idle_in_transaction_session_timeout: 60_000,
};
const service = await startTestService(t, {
  pool: { max: 3 },
  connect: async (connection) => ({ ...connection, ...patience }),
});
const { api, connection } = service;
const aside = openDatabase({ ...connection, ...patience }, { max: 4 });
t.teardown(() => aside.destroy());

t.test(
  'readers who arrive while a menu is being built wait for it, and after one write for one more',
  async (t) => {
    const { menu, item } = await makeTree(api);
    const path = `/menus/${menu.menu_id}`;
    const isAvailable = ({ body }: Awaited<ReturnType<typeof api.get>>) =>
      body.data.categories[0].items[0].is_available;
    const builds = async () => {
      const { rows } = await sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%with shown as%'`.execute(
        aside,
      );
      return rows.length;
    };

    const readers = await aside.transaction().execute(async (transaction) => {
      // The look-up of the ETag does not read this table, nor does a toggle.
      await sql`lock table category in access exclusive mode`.execute(transaction);
      const before = Array.from({ length: 20 }, () => api.get(path));
      await eventually('a rebuild waits', async () => (await builds()) > 0);
      t.equal((await api.post(`${path}/items/${item.item_id}/toggle`)).status, 200, 'a connection is left');
      const after = Array.from({ length: 20 }, () => api.get(path));
      // Its statements queue behind those of all readers.
      for (let turn = 0; turn < 3; turn++) t.equal((await api.get('/locations')).status, 200);
      t.equal(await builds(), 1);
      return { before, after };
    });
    for (const response of await Promise.all([...readers.before, ...readers.after]))
      t.equal(response.status, 200);
    for (const response of await Promise.all(readers.after)) t.equal(isAvailable(response), false);
  },
);

t.test('a writer reads its own write, however many others read and write at the same time', async (t) => {
  const { menu, category } = await makeTree(api);
  const path = `/menus/${menu.menu_id}`;
  const writers = Array.from({ length: 6 }, async (_, writer) => {
    const { item_id } = await makeItem(api, category);
    for (let cents = 1; cents <= 15; cents++) {
      const price = (writer * 100 + cents) / 100;
      await api.put(`${path}/items/${item_id}`, { price });
      const { items } = (await api.get(path)).body.data.categories[0];
      t.equal(items.find((one: { item_id: number }) => one.item_id === item_id).price, price);
    }
  });
  await Promise.all(writers);
});

t.test('readers who wait for a menu that is deleted get none', async (t) => {
  const { menu } = await makeTree(api);
  const responses = await aside.transaction().execute(async (transaction) => {
    await sql`lock table category in access exclusive mode`.execute(transaction);
    const responses = Array.from({ length: 5 }, () => api.get(`/menus/${menu.menu_id}`));
    await eventually('a rebuild waits', async () => {
      const { rows } = await sql`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%with shown as%'`.execute(
        aside,
      );
      return rows.length > 0;
    });
    await sql`delete from item where menu_id = ${menu.menu_id}`.execute(transaction);
    await sql`delete from category where menu_id = ${menu.menu_id}`.execute(transaction);
    await sql`delete from menu where menu_id = ${menu.menu_id}`.execute(transaction);
    return responses;
  });
  for (const { status } of await Promise.all(responses)) t.equal(status, 404);
});

t.test('nobody gets a body older than the ETag they were told', async (t) => {
  const { read, finish, begun } = rebuilds(1);
  const first = read('"1"');
  const sharing = read('"1"');
  const later = read('"2"');
  const latest = read('"3"');
  t.equal(begun(), 1, 'one at a time');

  await finish('"2"');
  for (const reader of [first, sharing, later]) t.match(await reader, { etag: '"2"' });
  t.equal(begun(), 2, 'what it found is not enough for the last reader');
  const told = read('"4"');
  await finish('"4"');
  t.match(await latest, { etag: '"4"' });
  t.match(await told, { etag: '"4"' });
  t.equal(begun(), 2);
  t.match(await read('"4"'), { etag: '"4"' });
  t.equal(begun(), 2, 'it is kept');
});

t.test('a rebuild that fails fails those who share it, and no others', async (t) => {
  const { read, finish, fail, begun } = rebuilds(2);
  const sharing = [read('"1"'), read('"1"')];
  const later = [read('"2"'), read('"3"')];
  const failed = sharing.map((reader) => t.rejects(reader, { message: 'the database is away' }));
  await fail(new Error('the database is away'));
  await Promise.all(failed);
  t.equal(begun(), 2);
  await finish('"3"');
  for (const reader of later) t.match(await reader, { etag: '"3"' });
});

t.test('a reader waits for two rebuilds at most, however fast writes follow', async (t) => {
  const { read, finish, begun } = rebuilds(3);
  const readers = [read('"0"')];
  for (let write = 1; write <= 20; write++) {
    readers.push(read(`"${write}"`));
    await finish(`"${write - 0.5}"`);
    t.match(await readers[write - 1], { etag: `"${write - 0.5}"` }, 'the one that began for it was enough');
    t.equal(begun(), write + 1);
  }
});

/** Readers of a menu whose rebuilds end when the test says so. */
function rebuilds(menuId: number) {
  const underWay: PromiseWithResolvers<MenuBody | undefined>[] = [];
  let begun = 0;
  const build = () => {
    begun += 1;
    const rebuild = Promise.withResolvers<MenuBody | undefined>();
    underWay.push(rebuild);
    return rebuild.promise;
  };
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    begun: () => begun,
    read: (etag: string) => builtMenu(aside, menuId, etag, build),
    async finish(etag: string) {
      underWay
        .shift()
        ?.resolve({ etag, body: Buffer.from('{}') as unknown as MenuBody['body'], segments: new Map() });
      await settled();
    },
    async fail(error: Error) {
      underWay.shift()?.reject(error);
      await settled();
    },
  };
}
