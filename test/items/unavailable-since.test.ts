import { sql } from 'kysely';
import t from 'tap';
import { restoreDueItems } from '../../src/items/restore-items.ts';
import { followEvents } from '../support/events.ts';
import { makeItem, makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api, database } = service;
const events = await followEvents(database);
const kitchen = await service.client({ scopes: ['availability:write', 'menus:read'] });
const clientOf = async (client: typeof api) => (await client.get('/oauth/client')).body.data.client_id;
const [own, kitchens] = [await clientOf(api), await clientOf(kitchen)];
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();
const on = { unavailable_since: null, unavailable_by: null };

t.test('every switch off records when and by which client, and every switch on clears it', async (t) => {
  const { location, menu, category } = await makeTree(api);
  const item = await makeItem(api, category, { external_id: 'A' });
  t.match(item, on);
  const inMenu = `/menus/${menu.menu_id}`;
  const path = `${inMenu}/items/${item.item_id}`;
  const document = (is_available: boolean) => ({
    data: {
      categories: [{ category_id: category.category_id, items: [{ external_id: 'A', is_available }] }],
    },
  });
  const rows = (is_available: boolean) => ({ items: [{ external_id: 'A', is_available }] });
  const switches: [name: string, (isOn: boolean) => Promise<unknown>, by: string][] = [
    ['toggleItem', () => kitchen.post(`${path}/toggle`), kitchens],
    ['updateItem', (is_available) => kitchen.put(path, { is_available }), kitchens],
    ['setAvailability', (isOn) => kitchen.post(`${inMenu}/availability`, rows(isOn)), kitchens],
    [
      'setLocationAvailability',
      (isOn) => kitchen.post(`/locations/${location.location_id}/availability`, rows(isOn)),
      kitchens,
    ],
    ['importMenu', (isOn) => api.put(`${inMenu}/content`, document(isOn)), own],
  ];
  for (const [name, set, unavailable_by] of switches) {
    await events.next();
    const before = Date.now();
    await set(false);
    const off = (await api.get(path)).body.data;
    t.match(off, { is_available: false, unavailable_by }, name);
    t.ok(Date.parse(off.unavailable_since) >= before - 5_000, 'since now');
    const [toggled] = await events.next().then((all) => all.filter(({ type }) => type === 'item.toggled'));
    t.same(toggled?.['data'], off);
    t.same(toggled?.['previous'], { is_available: true }, 'they go with the switch');
    await set(true);
    t.match((await api.get(path)).body.data, { is_available: true, ...on });
    t.match((await events.next())[0]?.['data'], on);
  }
});

t.test('a change of an item that is off already keeps since when and by whom', async (t) => {
  const { category } = await makeTree(api);
  const item = await makeItem(api, category, { external_id: 'K' });
  const path = `/menus/${item.menu_id}/items/${item.item_id}`;
  const off = (await kitchen.post(`${path}/toggle`)).body.data;
  const { unavailable_since, unavailable_by } = off;
  t.equal(unavailable_by, kitchens);
  const later = [
    await api.put(path, { unavailable_until: inAnHour() }),
    await api.put(path, { name: 'Tuna', is_available: false }),
    await api.post(`/menus/${item.menu_id}/availability`, {
      items: [{ item_id: item.item_id, is_available: false, unavailable_until: null }],
    }),
  ];
  for (const response of later) {
    const shown = response.body.data.item_id ? response.body.data : response.body.data[0].item;
    t.match(shown, { is_available: false, unavailable_since, unavailable_by });
  }
});

t.test('an item that is created off, alone or by an import, says since when and by whom', async (t) => {
  const { menu, category } = await makeTree(api);
  const created = await makeItem(api, category, { is_available: false });
  t.match(created, { unavailable_by: own });
  t.equal(typeof created.unavailable_since, 'string');
  const data = {
    categories: [
      {
        external_id: 'C',
        name: 'C',
        items: [{ external_id: 'N', name: 'N', price: 1, is_available: false }],
      },
    ],
  };
  await api.put(`/menus/${menu.menu_id}/content`, { data });
  const [imported] = (await api.get(`/menus/${menu.menu_id}/items?external_id=N`)).body.data;
  t.match(imported, { is_available: false, unavailable_by: own });
  t.equal(typeof imported.unavailable_since, 'string');
});

t.test('both are gone the moment an absence is over, before and after that is recorded', async (t) => {
  const { category } = await makeTree(api);
  const item = await makeItem(api, category, { unavailable_until: inAnHour() });
  const path = `/menus/${item.menu_id}/items/${item.item_id}`;
  await sql`update item set unavailable_until = now() - interval '1 second' where item_id = ${item.item_id}`.execute(
    database,
  );
  t.match((await api.get(path)).body.data, { is_available: true, ...on });
  const again = (await kitchen.put(path, { is_available: false })).body.data;
  t.match(again, { unavailable_by: kitchens }, 'an absence of its own');
  t.not(again.unavailable_since, item.unavailable_since);
  await kitchen.put(path, { unavailable_until: inAnHour() });
  await sql`update item set unavailable_until = now() - interval '1 second' where item_id = ${item.item_id}`.execute(
    database,
  );
  await events.next();
  await restoreDueItems(database);
  t.match(await events.next(), [{ type: 'item.toggled', data: { is_available: true, ...on } }]);
  t.match((await api.get(path)).body.data, on);
});

t.test(
  'an item that was off before this was kept says null, and nothing that a release before left shows',
  async (t) => {
    const { item } = await makeTree(api);
    const path = `/menus/${item.menu_id}/items/${item.item_id}`;
    await sql`update item set is_available = false where item_id = ${item.item_id}`.execute(database);
    t.match((await api.get(path)).body.data, { is_available: false, ...on });
    await api.put(path, { is_available: true });
    await api.put(path, { is_available: false });
    // As a process of the release before switches: it knows nothing of the two.
    await sql`update item set is_available = true where item_id = ${item.item_id}`.execute(database);
    t.match((await api.get(path)).body.data, { is_available: true, ...on });
  },
);
