import { sql } from 'kysely';
import t from 'tap';
import { demoItems } from '../support/items.ts';
import { startReceiver, subscribe } from '../support/receiver.ts';
import { startTestService } from '../support/service.ts';

t.test('an event is returned byte for byte as it was sent', async (t) => {
  const { api } = await startTestService(t, { worker: {} });
  const receiver = await startReceiver(t);
  await subscribe(t, api, receiver);
  const [item] = await demoItems(api);
  await api.post(`${item.path}/toggle`);
  const [delivery] = await receiver.until(1);
  const { status, text } = await api.get(`/events/${delivery?.id}`);
  t.equal(status, 200);
  t.equal(text, `{"data":${delivery?.body}}`);
});

t.test('an event of a location outside the grant is forbidden, and a malformed id is no event', async (t) => {
  const { api, client, database } = await startTestService(t);
  const [item] = await demoItems(api);
  const local = await client({ locations: [item.location_id] });
  const elsewhere = await client({ locations: [item.location_id + 1] });
  await api.post(`${item.path}/toggle`);
  const { id: event_id } = await database
    .selectFrom('event')
    .select(sql<string>`event_id_text(event_id)`.as('id'))
    .executeTakeFirstOrThrow();
  t.match(await local.get(`/events/${event_id}`), { status: 200 });
  t.match(await elsewhere.get(`/events/${event_id}`), { status: 403 });
  for (const id of [event_id.toUpperCase(), event_id.slice(0, -1), `${event_id}0`, event_id.slice(4)]) {
    t.match(await api.get(`/events/${id}`), { status: 404 }, id);
  }
});
