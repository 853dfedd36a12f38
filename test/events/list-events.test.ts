import pg from 'pg';
import t from 'tap';
import type { components } from '../../generated/api.ts';
import type { Api } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { demoItems } from '../support/items.ts';
import { startTestService } from '../support/service.ts';

type Event = components['schemas']['WebhookPayload'];

/*
 * The feed ends before the oldest transaction that is under way in the whole server, also one of another test's
 * database: what is expected is awaited, and what must not show is looked at while the transaction is held open.
 */

t.test('every event is listed once, the oldest first, page by page and from an event on', async (t) => {
  const { api } = await startTestService(t);
  const items = await demoItems(api);
  for (const item of items.slice(0, 7)) await api.post(`${item.path}/toggle`);
  const all = await listed(api, 7);
  t.same(
    all.map(({ data }) => (data as { item_id: number }).item_id),
    items.slice(0, 7).map(({ item_id }) => item_id),
  );

  const paged: Event[] = [];
  let path: string | null = '/events?limit=3';
  while (path) {
    const { body, headers } = await api.get(path);
    paged.push(...body.data);
    path = body.next_cursor && `/events?limit=3&cursor=${body.next_cursor}`;
    t.equal(headers['link'] === undefined, path === null);
  }
  t.same(paged, all);

  const rest = await api.get(`/events?limit=2&after_event_id=${all[3]?.id}`);
  t.same(rest.body.data, all.slice(4, 6));
  const next = String(rest.headers['link']).match(/<(.*)>/)?.[1] ?? '';
  t.same((await api.get(`/${next}`)).body.data, all.slice(6), 'and its pages go on from there');
  t.same((await api.get(`/events?after_event_id=${all[6]?.id}`)).body, { data: [], next_cursor: null });
});

t.test('a write that commits late is not skipped: the feed waits for it', async (t) => {
  const { api, connection, database } = await startTestService(t);
  const [first, second] = await demoItems(api);
  const { account_id } = api.credentials;
  await api.post(`${first.path}/toggle`);
  const [before] = await listed(api, 1);

  const late = new pg.Client({ ...connection, ssl: false } as pg.ClientConfig);
  await late.connect();
  t.teardown(() => late.end());
  await late.query('begin');
  await late.query(
    `insert into event (event_id, account_id, type, record, location_id, menu_id, payload)
     select uuidv7(), account_id, type, record, location_id, menu_id, payload from event limit 1`,
  );
  await api.post(`${second.path}/toggle`);
  const committed = await database
    .selectFrom('event')
    .select('event_id')
    .where('account_id', '=', account_id)
    .execute();
  t.equal(committed.length, 2, 'the later write is committed and visible');
  const whileOpen = await api.get(`/events?after_event_id=${before?.id}`);
  t.same(whileOpen.body.data, [], 'yet not listed, as a reader would pass the one that is still open');

  await late.query('commit');
  const after = await eventually('both are listed', async () => {
    const { body } = await api.get(`/events?after_event_id=${before?.id}`);
    return body.data.length === 2 && (body.data as Event[]);
  });
  t.equal(
    (after[1]?.data as { item_id: number } | undefined)?.item_id,
    second.item_id,
    'in the order of their transactions',
  );
});

t.test('readers that follow the feed while writers write see every event once', async (t) => {
  const { api } = await startTestService(t);
  const items = (await demoItems(api)).slice(0, 8);
  const rounds = 12;
  let writing = true;
  const seen: string[] = [];
  const follow = async () => {
    let last: string | undefined;
    for (;;) {
      const wasWriting = writing;
      const { body } = await api.get(`/events?limit=5${last ? `&after_event_id=${last}` : ''}`);
      for (const event of body.data as Event[]) seen.push(event.id);
      last = body.data.at(-1)?.id ?? last;
      if (!wasWriting && seen.length >= items.length * rounds) return;
      if (!wasWriting && body.data.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const following = follow();
  await Promise.all(
    items.map(async (item) => {
      for (let n = 0; n < rounds; n += 1) await api.post(`${item.path}/toggle`);
    }),
  );
  writing = false;
  await following;
  t.equal(seen.length, items.length * rounds);
  t.equal(new Set(seen).size, seen.length);
});

t.test('filters: type, all types of a resource, location, menu; and the grant', async (t) => {
  const { api, client } = await startTestService(t);
  const [item] = await demoItems(api);
  const [, other] = (await api.get('/locations')).body.data;
  const [menu] = (await api.get(`/menus?location_id=${other.location_id}`)).body.data;
  await api.post(`${item.path}/toggle`);
  await api.put(item.path, { price: 7.5 });
  await api.post(`/menus/${menu.menu_id}/toggle`);
  const all = await listed(api, 3);
  const types = async (query: string, reader = api) =>
    (await reader.get(`/events?${query}`)).body.data.map(({ type }: Event) => type);

  t.same(
    all.map(({ type }) => type),
    ['item.toggled', 'item.updated', 'menu.toggled'],
  );
  t.same(await types('type=item.updated'), ['item.updated']);
  t.same(await types('type=item.*'), ['item.toggled', 'item.updated']);
  t.same(await types('type=item.toggled&type=menu.*'), ['item.toggled', 'menu.toggled']);
  t.same(await types('type=category.*'), []);
  t.same(await types(`location_id=${other.location_id}`), ['menu.toggled']);
  t.same(await types(`menu_id=${item.menu_id}`), ['item.toggled', 'item.updated']);
  t.same(await types('', await client({ locations: [other.location_id] })), ['menu.toggled']);
  t.same(await types('', await client({ account: 'Another restaurant group' })), []);
  t.same(
    await types(`location_id=${item.location_id}`, await client({ locations: [other.location_id] })),
    [],
  );
});

t.test('a filter, a cursor or an event that cannot be is refused by name', async (t) => {
  const { api, client } = await startTestService(t);
  const [item] = await demoItems(api);
  await api.post(`${item.path}/toggle`);
  const [event] = await listed(api, 1);
  const stranger = await client({ account: 'Another restaurant group' });
  for (const [query, field, reader = api] of [
    ['type=item.sold', 'type/0'],
    ['limit=0', 'limit'],
    ['cursor=nonsense', 'cursor'],
    ['colour=red', 'colour'],
    ['after_event_id=evt_00000000000070008000000000000000', 'after_event_id'],
    ['after_event_id=nonsense', 'after_event_id'],
    [`after_event_id=${event?.id}`, 'after_event_id', stranger],
  ] as [string, string, Api?][]) {
    t.match(await reader.get(`/events?${query}`), { status: 422, body: { errors: [{ field }] } }, query);
  }
});

/** The events of the client's account as soon as the feed has so many. */
async function listed(api: Api, count: number): Promise<Event[]> {
  return eventually(`${count} events are listed`, async () => {
    const { body } = await api.get('/events');
    return body.data.length >= count && body.data;
  });
}
