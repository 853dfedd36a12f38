import { sql } from 'kysely';
import t, { type Test } from 'tap';
import type { components } from '../../generated/api.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import type { Api } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { demoItems } from '../support/items.ts';
import { dividePast } from '../support/partitions.ts';
import { startReceiver, subscribe } from '../support/receiver.ts';
import { cloneDatabase, startTestService } from '../support/service.ts';

type Delivery = components['schemas']['Delivery'];

t.test('the log shows the latest first, each delivery with its last attempt', async (t) => {
  const { api } = await startTestService(t, { worker: {} });
  const receiver = await startReceiver(t, ({ event }) =>
    event.type === 'item.updated' ? { status: 500, body: 'out of order' } : 204,
  );
  const { webhook_id } = await subscribe(t, api, receiver);
  const [first, second] = await demoItems(api);
  await api.post(`${first.path}/toggle`);
  await receiver.until(1);
  await api.put(second.path, { price: 750 });
  await receiver.until(2);

  const path = `/webhooks/${webhook_id}/deliveries`;
  const [failing, delivered] = await eventually('both outcomes are recorded', async () => {
    const { data } = (await api.get(path)).body as { data: Delivery[] };
    return data.every(({ last_attempt }) => last_attempt) && data;
  });
  t.match(delivered, {
    webhook_id,
    replay_id: null,
    event_id: receiver.deliveries[0]?.id,
    event_type: 'item.toggled',
    record: `item:${first.item_id}`,
    state: 'delivered',
    attempt_count: 1,
    next_attempt_at: null,
    last_attempt: { number: 1, status: 204, error: null, response_excerpt: null },
  });
  t.match(failing, {
    event_type: 'item.updated',
    record: `item:${second.item_id}`,
    state: 'pending',
    attempt_count: 1,
    last_attempt: { number: 1, status: 500, error: null, response_excerpt: 'out of order' },
  });
  const waitMs = Date.parse(failing?.next_attempt_at ?? '') - Date.parse(failing?.queued_at ?? '');
  t.ok(waitMs > 3_500 && waitMs < 15_000, 'the second attempt is due after about five seconds');
});

t.test('filters: state, type, record, time; together they narrow', async (t) => {
  const { api, database } = await startTestService(t);
  const { webhook_id } = (await api.post('/webhooks', { url: 'https://hooks.example.com/' })).body.data;
  const other = (await api.post('/webhooks', { url: 'https://hooks.example.com/' })).body.data.webhook_id;
  const rows = [
    ['item:1', 'item.toggled', 'delivered', '2026-03-14T18:00:00Z'],
    ['item:1', 'item.updated', 'failed', '2026-03-14T18:30:00Z'],
    ['item:2', 'item.toggled', 'pending', '2026-03-14T19:00:00Z'],
    ['item:2', 'item.toggled', 'held', '2026-03-14T19:00:00.001Z'],
    ['menu:2', 'menu.toggled', 'failed', '2026-03-14T19:30:00Z'],
  ];
  for (const [record, event_type, state, created_at] of rows) {
    for (const id of [webhook_id, other]) {
      await sql`insert into delivery (account_id, webhook_id, event_id, event_sequence, event_type, record, state, created_at)
        values (${api.credentials.account_id}, ${id}, uuidv7(), 1, ${event_type}, ${record}, ${state}, ${created_at})`.execute(
        database,
      );
    }
  }
  // What has ended is found in the queue, where processes of the release before leave it, and in the log.
  for (const place of ['queue', 'log']) {
    await t.test(`what has ended is in the ${place}`, (t) => findAll(t, api, webhook_id));
    await logEnded(database);
  }
});

async function findAll(t: Test, api: Api, webhook_id: number): Promise<void> {
  const found = async (query: string) =>
    (await api.get(`/webhooks/${webhook_id}/deliveries?${query}`)).body.data.map(
      ({ record, state }: Delivery) => `${record} ${state}`,
    );
  const [a, b, c, d, e] = [
    'item:1 delivered',
    'item:1 failed',
    'item:2 pending',
    'item:2 held',
    'menu:2 failed',
  ];
  t.same(await found(''), [e, d, c, b, a]);
  t.same(await found('state=failed'), [e, b]);
  t.same(await found('state=held'), [d]);
  t.same(await found('type=item.toggled'), [d, c, a]);
  t.same(await found('type=item.*'), [d, c, b, a]);
  t.same(await found('type=menu.*&type=item.updated'), [e, b]);
  t.same(await found('record=item:2'), [d, c]);
  t.same(await found('since=2026-03-14T19:00:00Z'), [e, d, c]);
  t.same(await found('until=2026-03-14T20:00:00%2B01:00'), [b, a], 'the bound itself is left out');
  t.same(await found('since=2026-03-14T18:30:00Z&until=2026-03-14T19:00:00.001Z&type=item.*'), [c, b]);
  t.same(await found('state=failed&record=item:1&type=menu.*'), []);
}

/** Moves what has ended from the queue to the log, as if each had ended on another day. */
async function logEnded(database: Database): Promise<void> {
  await sql`
    with ended as (delete from delivery where state in ('delivered', 'failed') returning *)
    insert into delivery_log (delivery_id, account_id, webhook_id, event_id, event_sequence, event_type, record, state,
      attempt_count, attempts, created_at, ended_at)
    select delivery_id, account_id, webhook_id, event_id, event_sequence, event_type, record, state, attempts, '[]',
      created_at, now() - make_interval(days => (delivery_id % 3)::int * 20)
    from ended`.execute(database);
}

t.test('pages go back in time and do not shift while deliveries are added', async (t) => {
  const connection = await cloneDatabase(t);
  const fresh = openDatabase(connection, { max: 1 });
  await dividePast(fresh);
  await fresh.destroy();
  const { api, database } = await startTestService(t, { connection });
  const { webhook_id } = (await api.post('/webhooks', { url: 'https://hooks.example.com/' })).body.data;
  const add = async (state: string) =>
    sql`insert into delivery (account_id, webhook_id, event_id, event_sequence, event_type, record, state)
      values (${api.credentials.account_id}, ${webhook_id}, uuidv7(), 1, 'item.toggled', 'item:1', ${state})`.execute(
      database,
    );
  for (const state of ['delivered', 'held', 'delivered', 'failed', 'held', 'delivered', 'delivered'])
    await add(state);
  await logEnded(database);
  const ids: number[] = [];
  let path: string | null = `/webhooks/${webhook_id}/deliveries?limit=2`;
  while (path) {
    const { body } = await api.get(path);
    ids.push(...body.data.map((delivery: Delivery) => delivery.delivery_id));
    path = body.next_cursor && `/webhooks/${webhook_id}/deliveries?limit=2&cursor=${body.next_cursor}`;
    await add('held');
  }
  t.equal(ids.length, 7);
  t.same(
    ids,
    [...new Set(ids)].sort((one, other) => other - one),
  );
  for (const id of ids)
    t.match(await api.get(`/webhooks/${webhook_id}/deliveries/${id}`), {
      status: 200,
      body: { data: { delivery_id: id } },
    });
});

t.test('an invalid filter is refused by name', async (t) => {
  const { api } = await startTestService(t);
  const { webhook_id } = (await api.post('/webhooks', { url: 'https://hooks.example.com/' })).body.data;
  for (const [query, field] of [
    ['state=lost', 'state'],
    ['type=item.sold', 'type/0'],
    ['record=dish:1', 'record'],
    ['record=item:0', 'record'],
    ['since=yesterday', 'since'],
    ['until=2026-02-30T00:00:00Z', 'until'],
    ['limit=201', 'limit'],
    ['cursor=nonsense', 'cursor'],
    ['colour=red', 'colour'],
  ] as [string, string][]) {
    t.match(
      await api.get(`/webhooks/${webhook_id}/deliveries?${query}`),
      { status: 422, body: { errors: [{ field }] } },
      query,
    );
  }
});
