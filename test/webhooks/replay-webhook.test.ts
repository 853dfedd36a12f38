import { sql } from 'kysely';
import t from 'tap';
import type { components } from '../../generated/api.ts';
import { queueReplays } from '../../src/webhooks/delivery/queue-replays.ts';
import type { Api } from '../support/api.ts';
import { listAllEvents } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { demoItems } from '../support/items.ts';
import { type Delivery, startReceiver, subscribe } from '../support/receiver.ts';
import { startTestService } from '../support/service.ts';

type Replay = components['schemas']['Replay'];

t.test(
  'events since a moment are sent again: the same ids and bytes, in order for each record',
  async (t) => {
    const { api } = await startTestService(t, { worker: {} });
    const receiver = await startReceiver(t);
    const { webhook_id } = await subscribe(t, api, receiver);
    const [first, second] = await demoItems(api);
    const since = new Date(Date.now() - 60_000).toISOString();
    for (let n = 0; n < 4; n += 1) {
      for (const item of [first, second]) await api.post(`${item.path}/toggle`);
    }
    const original = await receiver.until(8);
    await quiet(api, webhook_id);

    const asked = await api.post(`/webhooks/${webhook_id}/replay`, { since });
    t.match(asked, { status: 202, body: { data: { webhook_id, state: 'queueing', queued: 0 } } });
    const { replay_id } = asked.body.data;
    t.equal(asked.headers['location'], `/api/v1/webhooks/${webhook_id}/replays/${replay_id}`);
    const again = (await receiver.until(16)).slice(8);
    t.same(bytesById(again), bytesById(original));
    for (const { item_id } of [first, second]) {
      const versions = again
        .map(({ event }) => event.data as { item_id: number; version: number })
        .filter((item) => item.item_id === item_id)
        .map(({ version }) => version);
      t.same(
        versions,
        versions.toSorted((one, other) => one - other),
      );
      t.equal(versions.length, 4);
    }
    const done = await finished(api, webhook_id, replay_id);
    t.match(done, { queued: 8, unfinished: 0, queued_through: done.until });
    const { body } = await api.get(`/webhooks/${webhook_id}/deliveries`);
    t.same(
      body.data.map((delivery: { replay_id: number | null }) => delivery.replay_id),
      [...Array(8).fill(replay_id), ...Array(8).fill(null)],
    );
  },
);

t.test('events after an event are sent, through the filters as they are now', async (t) => {
  const { api } = await startTestService(t, { worker: {} });
  const receiver = await startReceiver(t);
  const { webhook_id } = await subscribe(t, api, receiver);
  const [first, second] = await demoItems(api);
  await api.post(`${first.path}/toggle`);
  const [known] = await receiver.until(1);
  await api.post(`${first.path}/toggle`);
  await api.put(second.path, { price: 750 });
  await receiver.until(3);
  await quiet(api, webhook_id);
  await api.put(`/webhooks/${webhook_id}`, { event_types: ['item.updated'] });

  const { body } = await api.post(`/webhooks/${webhook_id}/replay`, { after_event_id: known?.id });
  const replay = await finished(api, webhook_id, body.data.replay_id);
  t.equal(replay.queued, 1);
  const again = (await receiver.until(4)).slice(3);
  t.same(
    again.map(({ event }) => event.type),
    ['item.updated'],
  );
});

t.test('an endpoint created later can get what happened before it', async (t) => {
  const { api, database } = await startTestService(t, { worker: {} });
  const [item] = await demoItems(api);
  for (let n = 0; n < 3; n += 1) await api.post(`${item.path}/toggle`);
  await eventually('the events are relayed, to nobody', async () => {
    return (await database.selectFrom('outbox').select('event_id').execute()).length === 0;
  });
  const receiver = await startReceiver(t);
  const { webhook_id } = await subscribe(t, api, receiver);
  await api.post(`/webhooks/${webhook_id}/replay`, { since: '2020-01-01T00:00:00Z' });
  const arrived = await receiver.until(3);
  t.same(
    arrived.map(({ event }) => (event.data as { version: number }).version),
    [1, 2, 3].map((n) => item.version + n),
  );
});

t.test('what an endpoint holds is not queued twice, and a receiver ends with the newest state', async (t) => {
  const { api } = await startTestService(t, { worker: {} });
  const receiver = await startReceiver(t);
  const { webhook_id } = await subscribe(t, api, receiver, { enabled: false });
  const [item] = await demoItems(api);
  for (let n = 0; n < 5; n += 1) await api.post(`${item.path}/toggle`);
  await eventually('all are queued', async () => {
    const { data } = (await api.get(`/webhooks/${webhook_id}/deliveries`)).body;
    return data.length === 5;
  });
  const { body } = await api.post(`/webhooks/${webhook_id}/replay`, { since: '2020-01-01T00:00:00Z' });
  const sending = await eventually('it is queued', async () => {
    const { data } = (await api.get(`/webhooks/${webhook_id}/replays/${body.data.replay_id}`)).body;
    return data.state !== 'queueing' && data;
  });
  t.match(
    sending,
    { state: 'sending', queued: 1, unfinished: 1 },
    'only the one that is due is queued again',
  );
  await api.put(`/webhooks/${webhook_id}`, { enabled: true });
  await finished(api, webhook_id, body.data.replay_id);
  const versions = (await receiver.until(6)).map(({ event }) => (event.data as { version: number }).version);
  t.same(versions.slice(0, 1), [item.version + 1]);
  t.same(
    versions.slice(1),
    [1, 2, 3, 4, 5].map((n) => item.version + n),
  );
});

t.test('only one replay of an endpoint is queued at a time; a crash repeats and skips nothing', async (t) => {
  const { api, database } = await startTestService(t);
  const { webhook_id } = (
    await api.post('/webhooks', { url: 'https://hooks.example.com/', event_types: ['item.*'] })
  ).body.data;
  const [item] = await demoItems(api);
  await api.post(`${item.path}/toggle`);
  // Four hours of events: as many batches.
  await sql`
    with past as (
      insert into event (event_id, account_id, type, record, location_id, menu_id, payload)
      select event_id_at(now() - make_interval(mins => n)), account_id, type, 'item:' || n, location_id, menu_id, payload
      from event, generate_series(1, 240) as n
      returning *
    )
    insert into feed (account_id, epoch, position, event_id, type, record, location_id, menu_id)
    select account_id, 0, row_number() over (order by event_id), event_id, type, record, location_id, menu_id
    from past`.execute(database);
  const since = new Date(Date.now() - 4 * 3_600_000).toISOString();
  const [one, other] = await Promise.all(
    [1, 2].map(() => api.post(`/webhooks/${webhook_id}/replay`, { since })),
  );
  t.same([one?.status, other?.status].sort(), [202, 409]);

  const rounds = [];
  for (let more = true; more; ) {
    // Two processes at the same batch.
    const responses = await Promise.all([queueReplays(database), queueReplays(database)]);
    more = responses.some(Boolean);
    const { count } = await database
      .selectFrom('delivery')
      .select(sql<string>`count(*)`.as('count'))
      .executeTakeFirstOrThrow();
    rounds.push(Number(count));
  }
  t.ok(new Set(rounds).size > 2, 'it took several batches');
  t.equal(rounds.at(-1), 239, 'each event once, save the oldest, which lies just before the moment');
  const [replay] = await database.selectFrom('replay').select('queued').execute();
  t.equal(replay?.queued, rounds.at(-1));
  t.match(await api.post(`/webhooks/${webhook_id}/replay`, { since }), { status: 202 });
});

t.test('an invalid beginning is refused by name', async (t) => {
  const { api, client, database } = await startTestService(t);
  const [item] = await demoItems(api);
  const url = 'https://hooks.example.com/';
  const { webhook_id } = (await api.post('/webhooks', { url })).body.data;
  const elsewhere = await client({ locations: [item.location_id + 1] });
  const narrow = (await elsewhere.post('/webhooks', { url })).body.data.webhook_id;
  await api.post(`${item.path}/toggle`);
  await listAllEvents(database);
  const [event] = (await api.get('/events')).body.data;
  const future = new Date(Date.now() + 3_600_000).toISOString();
  for (const [body, field, code] of [
    [{}, '', 'empty'],
    [{ since: future, after_event_id: event.id }, '', 'maxproperties'],
    [{ since: future }, '/since', 'future'],
    [{ since: 'yesterday' }, '/since'],
    [{ after_event_id: 'evt_00000000000070008000000000000000' }, '/after_event_id', 'not_found'],
    [{ after_event_id: 'nonsense' }, '/after_event_id', 'not_found'],
  ] as [object, string, string?][]) {
    t.match(await api.post(`/webhooks/${webhook_id}/replay`, body), {
      status: 422,
      body: { errors: [{ field, ...(code && { code }) }] },
    });
  }
  t.match(
    await api.post(`/webhooks/${narrow}/replay`, { after_event_id: event.id }),
    { status: 422, body: { errors: [{ code: 'not_found' }] } },
    'an event that the endpoint may not see',
  );
});

/** Until every delivery of the endpoint is final, so that its outcomes are in the log. */
async function quiet(api: Api, webhookId: number): Promise<void> {
  await eventually('all is final', async () => {
    const { data } = (await api.get(`/webhooks/${webhookId}/deliveries`)).body;
    return data.every(({ state }: { state: string }) => state === 'delivered');
  });
}

function finished(api: Api, webhookId: number, replayId: number): Promise<Replay> {
  return eventually('the replay is finished', async () => {
    const { data } = (await api.get(`/webhooks/${webhookId}/replays/${replayId}`)).body;
    return data.state === 'finished' && data;
  });
}

function bytesById(deliveries: Delivery[]): [string, string][] {
  return deliveries.map(({ id, body }): [string, string] => [id, body]).toSorted();
}
