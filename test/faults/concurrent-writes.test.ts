import { sql } from 'kysely';
import t, { type Test } from 'tap';
import type { Database } from '../../src/db/database.ts';
import { restoreDueItems } from '../../src/items/restore-items.ts';
import type { ApiResponse } from '../support/api.ts';
import { followEvents } from '../support/events.ts';
import { makeCategory, makeItem, makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

/*
 * Writers that meet. A deadlock would be answered 503, a lost update would show in the price or the flag, and a gap in
 * the versions of a record in its events.
 */

t.test("with If-Match no update is lost, and every version is somebody's", async (t) => {
  const { api, database } = await startTestService(t);
  const { item } = await makeTree(api);
  const path = `/menus/${item.menu_id}/items/${item.item_id}`;
  const log = await followEvents(database);
  const writers = 8;
  const rounds = 5;

  const addOne = async (): Promise<number> => {
    for (;;) {
      const { body, headers } = await api.get(path);
      const response = await api.put(
        path,
        { price: body.data.price + 1 },
        { headers: { 'if-match': String(headers['etag']) } },
      );
      if (response.status === 200) return response.body.data.version;
      t.equal(response.status, 412);
    }
  };
  const versions = await Promise.all(
    Array.from({ length: writers }, async () => {
      const mine: number[] = [];
      for (let round = 0; round < rounds; round++) mine.push(await addOne());
      return mine;
    }),
  );
  t.strictSame(sorted(versions.flat()), range(2, writers * rounds + 1));
  t.equal((await api.get(path)).body.data.price, item.price + writers * rounds);
  const events = await log.next();
  t.strictSame(
    events.map(({ data }) => data.version),
    range(2, writers * rounds + 1),
    'events are in their order',
  );
});

t.test('without If-Match each of two writers keeps the field that only it wrote', async (t) => {
  const { api } = await startTestService(t);
  const { item } = await makeTree(api);
  const path = `/menus/${item.menu_id}/items/${item.item_id}`;
  const writes = range(1, 20).flatMap((round) => [
    api.put(path, { price: round }),
    api.put(path, { description: `round ${round}` }),
    api.post(`${path}/toggle`),
  ]);
  const responses = await Promise.all(writes);
  t.strictSame([...new Set(responses.map(({ status }) => status))], [200]);
  const { data } = (await api.get(path)).body;
  t.equal(data.is_available, true, 'twenty toggles');
  t.ok(data.price >= 1 && data.description.startsWith('round'));
  t.strictSame(sorted(new Set(responses.map(({ body }) => body.data.version))), range(2, data.version));
});

t.test('concurrent writes of any kind to one menu never deadlock; every version is reported', async (t) => {
  const { api, database } = await startTestService(t);
  const { location, menu, category } = await makeTree(api);
  const menuPath = `/menus/${menu.menu_id}`;
  const another = await makeTree(api);
  const second = await makeCategory(api, menu.menu_id);
  const items: number[] = [];
  for (const place of range(1, 16))
    items.push((await makeItem(api, place % 2 ? category : second, { external_id: `POS-${place}` })).item_id);
  const some = () => items.filter(() => Math.random() < 0.5).toSorted(() => Math.random() - 0.5);
  const one = () => items[Math.floor(Math.random() * items.length)];
  const soon = () => new Date(Date.now() + 400 + Math.random() * 400).toISOString();

  const writes: Record<string, () => Promise<ApiResponse | number>> = {
    setAvailability: () =>
      api.post(`${menuPath}/availability`, {
        items: [one(), ...some()]
          .filter(isFirst)
          .map((item_id) => ({ item_id, is_available: Math.random() < 0.5 })),
      }),
    absences: () =>
      api.post(`${menuPath}/availability`, {
        items: range(1, 16)
          .reverse()
          .map((place) => ({
            external_id: `POS-${place}`,
            is_available: false,
            unavailable_until: soon(),
          })),
      }),
    toggleItem: () => api.post(`${menuPath}/items/${one()}/toggle`),
    keyedToggle: () =>
      api.post(`${menuPath}/items/${one()}/toggle`, undefined, {
        headers: { 'idempotency-key': String(Math.ceil(Math.random() * 50)) },
      }),
    updateItem: () => api.put(`${menuPath}/items/${one()}`, { price: Math.floor(Math.random() * 100) }),
    moveItem: () =>
      api.put(`${menuPath}/items/${one()}`, {
        category_id: Math.random() < 0.5 ? category.category_id : second.category_id,
      }),
    replaceItem: async () => {
      const index = Math.floor(Math.random() * items.length);
      const deleted = await api.delete(`${menuPath}/items/${items[index]}`);
      items[index] = (await makeItem(api, category)).item_id;
      return deleted;
    },
    reorderMenu: async () => {
      const { data } = (await api.get(menuPath)).body;
      const categories = data.categories.map(
        (one: { category_id: number; items: { item_id: number }[] }) => ({
          category_id: one.category_id,
          items: one.items.map(({ item_id }) => item_id).toReversed(),
        }),
      );
      return api.put(`${menuPath}/order`, { categories: categories.toReversed() });
    },
    importMenu: async () => {
      const { data } = (await api.get(`${menuPath}/content`)).body;
      for (const section of data.categories)
        for (const item of section.items) item.price = Math.floor(Math.random() * 100);
      return api.put(`${menuPath}/content`, { data });
    },
    replaceCategory: async () => {
      const { category_id } = await makeCategory(api, menu.menu_id);
      await api.post(`${menuPath}/items`, { category_id, name: 'Special', price: 9 });
      return api.delete(`${menuPath}/categories/${category_id}`);
    },
    updateCategory: () =>
      api.put(`${menuPath}/categories/${second.category_id}`, { sort_order: Math.floor(Math.random() * 9) }),
    toggleMenu: () => api.post(`${menuPath}/toggle`),
    updateMenu: () => api.put(menuPath, { sort_order: Math.floor(Math.random() * 99) }),
    elsewhere: () =>
      api.put(`/menus/${another.menu.menu_id}/items/${another.item.item_id}`, { unavailable_until: soon() }),
    restore: () => restoreDueItems(database),
  };

  // What names records gets through while none come and go; the others may be answered that one is gone.
  const { replaceItem, replaceCategory, ...steady } = writes;
  for (const [name, statuses] of await storm(steady, 1_000, 30_000)) {
    t.ok(statuses.has(200), `${name} got through`);
    t.strictSame(
      [...statuses].filter((status) => ![200, 409, 422].includes(status)),
      [],
      name,
    );
  }
  for (const [name, statuses] of await storm(writes, 1_500))
    t.strictSame(
      [...statuses].filter((status) => ![200, 204, 404, 409, 422].includes(status)),
      [],
      name,
    );
  await requireWholeHistory(t, database, location.location_id);
});

/**
 * Makes all the writes over and over, two of each at a time; the statuses that each was answered.
 * @param patienceMs for how much longer one is made that has not succeeded: on a busy machine a moment is soon past
 */
async function storm(
  writes: Record<string, () => Promise<ApiResponse | number>>,
  durationMs: number,
  patienceMs = 0,
): Promise<Map<string, Set<number>>> {
  const seen = new Map(Object.keys(writes).map((name) => [name, new Set<number>()]));
  const until = performance.now() + durationMs;
  await Promise.all(
    [...Object.entries(writes), ...Object.entries(writes)].map(async ([name, write]) => {
      const isEnough = () => performance.now() > until + (seen.get(name)?.has(200) ? 0 : patienceMs);
      while (!isEnough()) {
        const response = await write();
        seen.get(name)?.add(typeof response === 'number' ? 200 : response.status);
      }
    }),
  );
  return seen;
}

/** The versions that the events of a record tell are all there are, in order, up to the one it has. */
async function requireWholeHistory(t: Test, database: Database, location_id: number): Promise<void> {
  const { rows: gaps } = await sql<{ record: string }>`
    select record from (
      select record, version, lag(version) over (partition by record order by event_id) as before
      from (select record, event_id, (payload -> 'data' ->> 'version')::int as version from event
        where type not like '%.deleted') as told
    ) as pair
    where version not in (coalesce(before, version), coalesce(before, version) + 1)
      or before is null and version <> 1`.execute(database);
  t.strictSame(gaps, [], 'no version is missing or out of order');
  const { rows: silent } = await sql<{ record: string }>`
    select stored.record from (
      select 'item:' || item_id as record, version from item where location_id = ${location_id}
      union all
      select 'category:' || category_id, version from category where location_id = ${location_id}
      union all
      select 'menu:' || menu_id, version from menu where location_id = ${location_id}
    ) as stored
    where version <> (select max((payload -> 'data' ->> 'version')::int) from event where event.record = stored.record)`.execute(
    database,
  );
  t.strictSame(silent, [], 'the last event tells the version that is stored');
}

function isFirst(item: unknown, index: number, all: unknown[]): boolean {
  return all.indexOf(item) === index;
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

function sorted(numbers: Iterable<number>): number[] {
  return [...numbers].toSorted((a, b) => a - b);
}
