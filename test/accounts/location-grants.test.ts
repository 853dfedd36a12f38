import t from 'tap';
import type { Api } from '../support/api.ts';
import { startTestService } from '../support/service.ts';

t.test('lists show what lies within the grant, and nothing else', async (t) => {
  const service = await startTestService(t);
  const all = await idsOf(service.api, '/locations', 'location_id');
  t.equal(all.length, 3);
  const granted = all.slice(1);
  const api = await service.client({ locations: granted });
  t.same(await idsOf(api, '/locations', 'location_id'), granted);
  const menus = (await api.get('/menus')).body.data;
  t.same([...new Set(menus.map(({ location_id }: { location_id: number }) => location_id))].sort(), granted);
  const foreign = await api.get(`/menus?location_id=${all[0]}`);
  t.match(foreign, { status: 200, body: { data: [], next_cursor: null } });
});

t.test('a client sees the webhooks that see no more than it does', async (t) => {
  const service = await startTestService(t);
  const [one = 0, two = 0] = await idsOf(service.api, '/locations', 'location_id');
  const wide = await service.client({ locations: [one, two] });
  const narrow = await service.client({ locations: [one] });
  const register = async (api: Api) =>
    (await api.post('/webhooks', { url: 'https://127.0.0.1:9/', enabled: false })).body.data.webhook_id;
  const [ofAll, ofWide, ofNarrow] = [
    await register(service.api),
    await register(wide),
    await register(narrow),
  ];
  t.same(await idsOf(service.api, '/webhooks', 'webhook_id'), [ofAll, ofWide, ofNarrow]);
  t.same(await idsOf(wide, '/webhooks', 'webhook_id'), [ofWide, ofNarrow]);
  t.same(await idsOf(narrow, '/webhooks', 'webhook_id'), [ofNarrow]);
  t.equal((await narrow.get(`/webhooks/${ofWide}`)).status, 403);
  t.equal((await narrow.delete(`/webhooks/${ofAll}`)).status, 403);
  t.equal((await narrow.get(`/webhooks/${ofNarrow}`)).status, 200);
});

t.test('one account shows nothing of another', async (t) => {
  const service = await startTestService(t);
  const stranger = await service.client({ account: 'Another restaurant group' });
  for (const path of ['/locations', '/menus', '/webhooks']) {
    t.same((await stranger.get(path)).body, { data: [], next_cursor: null }, path);
  }
});

t.test('403 means that a record exists in this menu, 404 that it does not', async (t) => {
  const service = await startTestService(t);
  const [one = 0, two = 0] = await idsOf(service.api, '/locations', 'location_id');
  const firstOf = async (location: number) => {
    const { menu_id } = (await service.api.get(`/menus?location_id=${location}`)).body.data[0];
    const { item_id } = (await service.api.get(`/menus/${menu_id}/items`)).body.data[0];
    return { menu_id, item_id };
  };
  const [own, foreign] = [await firstOf(one), await firstOf(two)];
  const api = await service.client({ locations: [one] });
  const statusOf = async (menu_id: number, item_id: number) =>
    (await api.post(`/menus/${menu_id}/items/${item_id}/toggle`)).status;
  t.equal(await statusOf(own.menu_id, own.item_id), 200);
  t.equal(await statusOf(foreign.menu_id, foreign.item_id), 403);
  t.equal(await statusOf(own.menu_id, foreign.item_id), 404, 'an item of another menu');
  t.equal(await statusOf(foreign.menu_id, own.item_id), 404);
  t.equal((await api.call('POST', `/menus/1/items/1/toggle`, { token: null })).status, 401);
});

async function idsOf(api: Api, path: string, key: string): Promise<number[]> {
  return (await api.get(path)).body.data.map((row: Record<string, number>) => row[key]);
}
