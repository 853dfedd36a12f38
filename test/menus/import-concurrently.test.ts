import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { type Event, followEvents } from '../support/events.ts';
import { makeLocation, makeMenu } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api, database } = service;
const { location_id } = await makeLocation(api);

/** A menu of two categories with eight items each, and its document. */
async function makeBusyMenu() {
  const menu = await makeMenu(api, location_id);
  const path = `/menus/${menu.menu_id}`;
  const document = {
    data: {
      categories: ['A', 'B'].map((external_id) => ({
        external_id,
        name: external_id,
        items: Array.from({ length: 8 }, (_, index) => ({
          external_id: `${external_id}${index}`,
          name: `Dish ${index}`,
          price: 1,
        })),
      })),
    },
  };
  const events = await followEvents(database);
  await api.put(`${path}/content`, document);
  const stored = async () => (await api.get(path)).body.data;
  return { menu, path, document, events, stored, items: (await api.get(`${path}/items`)).body.data };
}

/** The versions of each record's events have no gap, and the last event of each shows it as it is. */
async function requireTruth(t: Test, told: Event[], menu: Event): Promise<void> {
  const records: Event[] = menu['categories'].flatMap(({ items, ...category }: Event) => [
    category,
    ...items,
  ]);
  const idOf = (data: Event) =>
    data['item_id'] ? `item ${data['item_id']}` : `category ${data['category_id']}`;
  const byRecord = Map.groupBy(
    told.filter(({ type }) => !type.startsWith('menu')),
    ({ data }) => idOf(data),
  );
  const live = new Map(records.map((record) => [idOf(record), record]));
  for (const [id, events] of byRecord) {
    const versions = [...new Set(events.map(({ data }) => data.version))];
    t.strictSame(
      versions,
      Array.from({ length: versions.length }, (_, index) => index + 1),
      `${id} without a gap`,
    );
    const last = events.at(-1);
    if (last?.['type'].endsWith('deleted')) t.notOk(live.has(id), `${id} is gone`);
    else t.strictSame(last?.['data'], live.get(id), `${id} is as it was told`);
    live.delete(id);
  }
  t.equal(live.size, 0, 'of every record there was an event');
}

t.test(
  'imports among toggles, updates, creates, deletes and reorders lose nothing and block nobody',
  async (t) => {
    const { path, document, events, stored } = await makeBusyMenu();
    const seen = new Map<number, number>();
    const call = async (...args: Parameters<typeof api.call>) => {
      const { status } = await api.call(...args);
      seen.set(status, (seen.get(status) ?? 0) + 1);
    };
    const rounds = async (count: number, work: (round: number) => Promise<void>) => {
      for (let round = 0; round < count; round += 1) await work(round);
    };
    const itemAt = async (round: number) => {
      const items = (await api.get(`${path}/items`)).body.data;
      return `${path}/items/${items[(round * 7) % items.length]?.item_id ?? 1}`;
    };
    await Promise.all([
      rounds(12, async (round) => {
        const [first, second] = structuredClone(document.data.categories);
        if (!first || !second) throw new Error('two categories');
        for (const item of [...first.items, ...second.items]) item.price = round;
        // A dish changes sides, one goes and comes back, a category does too.
        second.items.unshift(...first.items.splice(round % 8, 1));
        if (round % 3 === 0) second.items.pop();
        const categories = round % 4 === 3 ? [first] : [second, first];
        await call('PUT', `${path}/content`, { json: { data: { categories } } });
      }),
      rounds(30, async (round) => call('POST', `${await itemAt(round)}/toggle`)),
      rounds(30, async (round) => call('POST', `${await itemAt(round)}/toggle`)),
      rounds(15, async (round) =>
        call('PUT', await itemAt(round), { json: { price: round, name: `D${round}` } }),
      ),
      rounds(15, async (round) => {
        const { categories } = await stored();
        const category_id = categories.at(-1)?.category_id ?? 1;
        const item = { category_id, name: 'New', price: 1, external_id: `new-${round}` };
        await call('POST', `${path}/items`, { json: item });
        if (round % 5 === 0) await call('DELETE', `${path}/categories/${category_id}`);
      }),
      rounds(10, (round) =>
        call('POST', `${path}/categories`, { json: { name: 'New', external_id: `C${round}` } }),
      ),
      rounds(10, async () => {
        const { categories } = await stored();
        const order = categories.map(({ category_id, items }: Event) => ({
          category_id,
          items: items.map((item: Event) => item['item_id']).reverse(),
        }));
        await call('PUT', `${path}/order`, { json: { categories: order } });
      }),
    ]);
    const statuses = [...seen.keys()].toSorted((a, b) => a - b);
    t.strictSame(
      statuses.filter((status) => ![200, 201, 204, 404, 422].includes(status)),
      [],
      JSON.stringify([...seen]),
    );
    await requireTruth(t, await events.next(), await stored());
  },
);

t.test('an import waits for a write in progress, and reports the changes to what that left', async (t) => {
  const { menu, path, document, items, events, stored } = await makeBusyMenu();
  const [item] = items;
  await events.next();
  for (const change of document.data.categories) for (const one of change.items) one.price = 2;
  let response: Promise<Event> | undefined;
  await database.transaction().execute(async (transaction) => {
    await sql`update item set price = 3, version = version + 1 where item_id = ${item.item_id}`.execute(
      transaction,
    );
    await sql`update menu set content_version = content_version + 1 where menu_id = ${menu.menu_id}`.execute(
      transaction,
    );
    response = api.put(`${path}/content`, document);
    await waitForLock();
  });
  const { body } = (await response) as Event;
  t.strictSame(body.data.items.updated[0].old, { price: 3 });
  t.match(
    (await events.next()).find(({ data }) => data.item_id === item.item_id),
    { previous: { price: 3 } },
  );
  t.equal((await stored()).categories[0].items[0].version, item.version + 2);
});

t.test('what is added to the menu while an import waits is part of what it compares with', async (t) => {
  const { menu, path, document, events } = await makeBusyMenu();
  await events.next();
  document.data.categories[0]?.items.pop();
  let response: Promise<Event> | undefined;
  await database.transaction().execute(async (transaction) => {
    await sql`update menu set content_version = content_version + 1 where menu_id = ${menu.menu_id}`.execute(
      transaction,
    );
    response = api.put(`${path}/content`, document);
    await waitForLock();
    const { account_id } = api.credentials;
    await sql`insert into category (account_id, location_id, menu_id, name, sort_order, external_id)
      values (${account_id}, ${location_id}, ${menu.menu_id}, 'Late', 9, 'LATE')`.execute(transaction);
  });
  const { body } = (await response) as Event;
  t.match(body.data.categories.deleted, [{ external_id: 'LATE' }]);
  t.strictSame((await events.nextTypes()).toSorted(), ['category.deleted', 'item.deleted']);
});

t.test('an import gets 404 if the menu is deleted while it waits', async (t) => {
  const { menu, path, document } = await makeBusyMenu();
  document.data.categories[0]?.items.pop();
  let response: Promise<Event> | undefined;
  await database.transaction().execute(async (transaction) => {
    for (const table of ['item', 'category', 'menu'] as const) {
      await transaction.deleteFrom(table).where('menu_id', '=', menu.menu_id).execute();
    }
    response = api.put(`${path}/content`, document);
    await waitForLock();
  });
  t.equal(((await response) as Event)['status'], 404);
});

t.test('a failure halfway leaves nothing behind', async (t) => {
  const { path, document, events, stored } = await makeBusyMenu();
  await events.next();
  const before = await stored();
  await sql`create function fail() returns trigger language plpgsql as $$
    begin raise exception 'half way' using errcode = '40001'; end $$`.execute(database);
  await sql`create trigger fail before update of name on category execute function fail()`.execute(database);
  const [first] = document.data.categories;
  first?.items.splice(0, 4, { external_id: 'X', name: 'X', price: 1 });
  if (first) first.name = 'Another';
  const failed = await api.put(`${path}/content`, document);
  t.match(failed, { status: 503, body: { code: 'service_unavailable' } });
  t.strictSame(await stored(), before);
  t.strictSame(await events.next(), []);
  await sql`drop trigger fail on category`.execute(database);
  t.equal((await api.put(`${path}/content`, document)).status, 200, 'and it can be tried again');
  t.equal((await events.next()).length, 6, 'four deleted, one created, one renamed');
});

/** Resolves when a statement of the service waits for a lock. */
async function waitForLock(): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ waits: boolean }>`
      select exists (select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database())
        as waits`.execute(database);
    if (rows[0]?.waits) return;
  }
}
