import { sql } from 'kysely';
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { demoItems } from '../support/items.ts';
import { startReceiver, subscribe } from '../support/receiver.ts';
import { makeModifierGroup } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

// Each response and delivery is held against the contract, which wants the fields.
t.test('events of earlier releases get the fields that records have gained since', async (t) => {
  const { api, database } = await startTestService(t, { worker: {} });
  const receiver = await startReceiver(t);
  const [item] = await demoItems(api);
  const menu = `/menus/${item.menu_id}`;
  await api.post(`${item.path}/toggle`);
  await api.put(menu, { description: 'It says "unavailable_by": nobody.' });
  await api.put(item.path, { description: 'It says "unavailable_by": nobody.' });
  await makeModifierGroup(api, item.location_id, { modifiers: [{ name: 'Large' }] });
  await sql`update event set payload = (payload::jsonb #- '{data,hours}'
    #- '{data,unavailable_since}' #- '{data,unavailable_by}')::json`.execute(database);
  await sql`update event set payload = (payload::jsonb #- '{data,modifier_groups}')::json
    where type like 'item.%'`.execute(database);

  const types = [
    'item.toggled',
    'menu.updated',
    'item.updated',
    'modifier_group.created',
    'modifier.created',
  ];
  const data = await eventually('all five are listed', async () => {
    const { body } = await api.get('/events');
    return body.data.length === 5 && body.data;
  });
  t.strictSame(
    data.map(({ type }: { type: string }) => type),
    types,
  );
  const [toggled, updated, , group, modifier] = data;
  t.match(toggled.data, { modifier_groups: [], hours: null, unavailable_since: null, unavailable_by: null });
  t.equal(updated.data.hours, null);
  t.match(modifier.data, { name: 'Large', unavailable_since: null, unavailable_by: null });
  t.notOk('unavailable_since' in group.data);
  t.strictSame((await api.get(`/events/${toggled.id}`)).body.data, toggled);

  const { webhook_id } = await subscribe(t, api, receiver);
  await api.post(`/webhooks/${webhook_id}/replay`, { since: '2026-01-01T00:00:00Z' });
  const sent = await receiver.until(5);
  t.strictSame(
    sent.map(({ event }) => event).toSorted((one, other) => (one.id < other.id ? -1 : 1)),
    data,
  );
});
