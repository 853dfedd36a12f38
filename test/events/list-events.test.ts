import { CompiledQuery, sql } from 'kysely';
import pg from 'pg';
import t from 'tap';
import type { components } from '../../generated/api.ts';
import type { Database } from '../../src/db/database.ts';
import { statementTexts } from '../../src/db/statement.ts';
import { listEvents } from '../../src/events/list-events.ts';
import type { Call } from '../../src/http/handler.ts';
import { relayBatch } from '../../src/webhooks/delivery/relay.ts';
import type { Api } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { demoItems } from '../support/items.ts';
import { dividePast, partitionsOpened } from '../support/partitions.ts';
import { addEvents, withWebhooks } from '../support/queue.ts';
import { startTestService } from '../support/service.ts';

type Event = components['schemas']['WebhookPayload'];
type EventList = components['schemas']['EventList'];
type Location = components['schemas']['Location'];

t.test('every event is listed once, the oldest first, page by page and from an event on', async (t) => {
  const { api } = await startTestService(t, { worker: {} });
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
  t.match((await api.get(`/events?after_event_id=${all[6]?.id}`)).body, { data: [], next_cursor: null });
});

t.test('a write that commits late is not skipped, and holds up nobody', async (t) => {
  const { api, connection } = await startTestService(t, { worker: {} });
  const [first, second] = await demoItems(api);
  await api.post(`${first.path}/toggle`);
  const [before] = await listed(api, 1);

  const late = new pg.Client({ ...connection, ssl: false } as pg.ClientConfig);
  await late.connect();
  t.teardown(() => late.end());
  await late.query('begin');
  await late.query(
    `with late as (
       insert into event (event_id, account_id, type, record, location_id, menu_id, payload)
       select uuidv7(), account_id, type, record, location_id, menu_id, payload from event limit 1
       returning account_id, event_id
     )
     insert into outbox (account_id, event_id) select account_id, event_id from late`,
  );
  await api.post(`${second.path}/toggle`);
  const [, whileOpen] = await listed(api, 2);
  t.match(whileOpen?.data, { item_id: second.item_id });
  const { resume_cursor } = (await api.get(`/events?after_event_id=${before?.id}`)).body;

  await late.query('commit');
  await listed(api, 3);
  const { body } = await api.get(`/events?cursor=${resume_cursor}`);
  t.same(body.data, [before], 'who had read the later one is given it now; its payload is a copy');
});

t.test('every page, even an empty one, says where to continue', async (t) => {
  const { api, client } = await startTestService(t, { worker: {} });
  const items = await demoItems(api);
  const empty = (await api.get('/events')).body;
  t.match(empty, { data: [], next_cursor: null, resume_cursor: /./ });
  await api.post(`${items[0].path}/toggle`);
  await listed(api, 1);
  const one = (await api.get(`/events?cursor=${empty.resume_cursor}`)).body;
  t.equal(one.data.length, 1);

  const rare = (await api.get('/events?type=menu.deleted')).body;
  t.match(rare, { data: [], next_cursor: null });
  await api.post(`${items[1].path}/toggle`);
  const all = await listed(api, 2);
  for (const path of [one, rare].map(({ resume_cursor }) => `/events?cursor=${resume_cursor}`)) {
    const { body } = await api.get(path);
    t.same(body.data, all.slice(1), 'also where a filter had let nothing through');
    t.match((await api.get(`/events?cursor=${body.resume_cursor}`)).body, { data: [], next_cursor: null });
  }
  const limited = await client({ locations: [(await api.get('/locations')).body.data[1].location_id] });
  const foreign = (await limited.get('/events')).body;
  t.match(foreign, { data: [], next_cursor: null, resume_cursor: one && /./ });
  t.not(foreign.resume_cursor, empty.resume_cursor, 'past what its client may not see');
});

t.test('a page looks through a bounded number of events, whatever its filters leave out', async (t) => {
  const { api, client, database } = await startTestService(t, { worker: {} });
  const { account_id } = api.credentials;
  const [here, there, elsewhere] = (await api.get('/locations')).body.data.map(
    (one: Location) => one.location_id,
  );
  const [item] = await demoItems(api);
  await api.post(`${item.path}/toggle`);
  // In turns of two types, at two locations; and one at the third.
  await sql`
    with past as (
      insert into event (event_id, account_id, type, record, location_id, menu_id, payload)
      select uuidv7(make_interval(secs => n - 20000)), ${account_id}::bigint, 'item.' || case when n % 2 = 0 then 'updated' else 'toggled' end,
        'item:1', case when n = 11001 then ${elsewhere}::bigint when n % 4 < 2 then ${here} else ${there} end, 1, payload
      from generate_series(1, 12000) as n, (select payload from event) as toggled
      returning account_id, event_id
    )
    insert into outbox (account_id, event_id) select account_id, event_id from past order by event_id`.execute(
    database,
  );
  await eventually('all are in the feed', async () => {
    const { rows } = await sql`select 1 from outbox limit 1`.execute(database);
    return rows.length === 0;
  });
  await sql`analyze feed`.execute(database);
  for (const [filter, index] of [
    ['type', 'feed_by_type'],
    ['menu_id', 'feed_by_menu'],
    ['location_id', 'feed_by_location'],
  ] as const) {
    const text = statementTexts()
      .find(({ name }) => name === 'events.listEvents')
      ?.textWith([filter]);
    const plan = await database.executeQuery(CompiledQuery.raw(`explain (generic_plan) ${text}`));
    const parents = await parentsOf(database, indexesOf(JSON.stringify(plan.rows)));
    t.ok(parents.includes(index), `${filter} leads to its index, however common its values are`);
  }

  const count = async (query: string, reader = api) => {
    const pages: number[] = [];
    let next: string | null = '';
    while (next !== null) {
      const { body }: { body: EventList } = await reader.get(
        `/events?limit=200${query}${next && `&cursor=${next}`}`,
      );
      pages.push(body.data.length);
      next = body.next_cursor;
    }
    return pages;
  };
  const sum = (pages: number[]) => pages.reduce((all, one) => all + one, 0);
  t.same(await count('&type=menu.*&type=item.deleted'), [0], 'an index says at once that there is none');
  t.same(await count(`&location_id=${elsewhere}`), [1]);
  t.same(await count(`&location_id=${elsewhere}`, await client({ locations: [elsewhere] })), [1]);
  t.same(
    await count('', await client({ locations: [elsewhere] })),
    [1],
    'a grant of one location is such a filter',
  );
  t.equal(sum(await count('&type=item.*')), 12_001);
  t.equal(sum(await count('&type=item.updated&type=menu.*')), 6_000);
  t.equal(sum(await count(`&location_id=${here}`)), 6_000);
  t.equal(sum(await count(`&menu_id=1&type=item.updated&location_id=${here}`)), 3_000);

  t.same(await count('&menu_id=1&type=menu.deleted'), [0, 0, 0], 'two filters: 5,000 events a page');
  const both = await client({ locations: [elsewhere, elsewhere + 1000] });
  t.same(await count('', both), [0, 0, 1], 'as does a grant of several');
});

t.test('readers that follow the feed while writers write see every event once', async (t) => {
  const { api } = await startTestService(t, { worker: {} });
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
  const { api, client } = await startTestService(t, { worker: {} });
  const [item] = await demoItems(api);
  const [, other] = (await api.get('/locations')).body.data;
  const [menu] = (await api.get(`/menus?location_id=${other.location_id}`)).body.data;
  await api.post(`${item.path}/toggle`);
  await api.put(item.path, { price: 750 });
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

t.test('an invalid filter, cursor or event is refused by name', async (t) => {
  const { api, client } = await startTestService(t, { worker: {} });
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

function indexesOf(plan: string): string[] {
  return [...plan.matchAll(/Index (?:Only )?Scan(?: Backward)? using (\w+)/g)].map(
    ([, name]) => name as string,
  );
}

/** Of the indexes of partitions. */
async function parentsOf(database: Database, indexes: string[]): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select distinct inhparent::regclass::text as name from pg_inherits
    where inhrelid = any (${indexes}::text[]::regclass[])`.execute(database);
  return rows.map(({ name }) => name);
}

for (const mode of ['force_custom_plan', 'force_generic_plan'])
  t.test(`a page opens the days of its events, and no others, with ${mode}`, async (t) => {
    const database = await withWebhooks(t, 0, { max: 1 });
    await dividePast(
      database,
      Array.from({ length: 35 }, (_, n) => 34 - n),
    );
    await sql`set plan_cache_mode = ${sql.raw(mode)}`.execute(database);
    for (const daysAgo of [20, 19, 0]) await addEvents(database, { count: 1, records: 1, daysAgo });
    while ((await relayBatch(database, { retentionDays: 30 })) > 0);
    const opened = (limit: number) =>
      partitionsOpened(database, 'event', (transaction) =>
        listEvents({
          database: transaction,
          query: { limit },
          caller: { accountId: 1, clientId: 'reader', scopes: new Set(), locationIds: null },
          url: '/api/v1/events',
        } as unknown as Call<'listEvents'>),
      );
    // The first plan for any values is made once in a connection.
    await opened(1);
    t.equal(await opened(1), 1);
    t.equal(await opened(2), 2);
  });
