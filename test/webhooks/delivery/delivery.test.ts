import t from 'tap';
import type { components } from '../../../generated/api.ts';
import document from '../../../generated/openapi.json' with { type: 'json' };
import { checkSchema } from '../../support/contract.ts';
import { settled } from '../../support/eventually.ts';
import { itemsOf, someItems } from '../../support/menus.ts';
import { startReceiver, subscribe, verify } from '../../support/receiver.ts';
import { startTestService } from '../../support/service.ts';

type WebhookCreate = components['schemas']['WebhookCreate'];

const { api, client, database } = await startTestService(t, { worker: {} });

t.test('a write reaches the receiver, signed, with the item as getItem shows it', async (t) => {
  const receiver = await startReceiver(t);
  const { secret } = await subscribe(t, api, receiver);
  const [item] = await someItems(api, 1);
  const toggled = await api.post(`${item.path}/toggle`);

  const [delivery] = await receiver.until(1);
  if (!delivery) throw new Error('nothing arrived');
  const event = verify(delivery, secret);
  checkSchema('WebhookPayload', event);
  t.match(delivery.headers, { 'content-type': 'application/json', 'webhook-id': event.id });
  t.equal(delivery.headers['user-agent'], `menu-management-service/${document.info.version}`);
  t.same(event.data, (await api.get(item.path)).body.data);
  t.match(event, {
    type: 'item.toggled',
    location_id: item.location_id,
    menu_id: item.menu_id,
    previous: { is_available: true },
    request_id: toggled.headers['x-request-id'],
  });
});

t.test('an update of name and availability is two events, with the old values of what changed', async (t) => {
  const receiver = await startReceiver(t);
  await subscribe(t, api, receiver);
  const [{ path, name }] = await someItems(api, 1);
  await api.put(path, { name: `${name} ±`, is_available: false });

  const events = (await receiver.until(2)).map(({ event }) => event);
  for (const event of events) checkSchema('WebhookPayload', event);
  t.same(events.map(({ type }) => type).sort(), ['item.toggled', 'item.updated']);
  for (const { previous } of events) t.same(previous, { name, is_available: true });
});

t.test('an endpoint receives what its filters and the grant of its client permit', async (t) => {
  const [near, far] = await twoMenus();
  const [here] = await itemsOf(api, near, 1);
  const [there] = await itemsOf(api, far, 1);
  const everything = [
    `item.toggled ${here.item_id}`,
    `item.updated ${here.item_id}`,
    `item.updated ${there.item_id}`,
  ];
  const [toggledHere, updatedHere, updatedThere] = everything;
  const granted = await client({ locations: [near.location_id] });
  const receiver = await startReceiver(t);
  const wanted = [
    [api, 'everything', {}, everything],
    [api, 'exactly', { event_types: ['item.updated'] }, [updatedHere, updatedThere]],
    [api, 'of-items', { event_types: ['item.*'] }, everything],
    [api, 'of-menus', { event_types: ['menu.*', 'item.created'] }, []],
    [api, 'at-location', { location_ids: [near.location_id] }, [toggledHere, updatedHere]],
    [api, 'in-menu', { menu_ids: [far.menu_id] }, [updatedThere]],
    [api, 'nowhere', { location_ids: [near.location_id], menu_ids: [far.menu_id] }, []],
    [granted, 'granted', {}, [toggledHere, updatedHere]],
  ] as const;
  for (const [maker, path, fields] of wanted) {
    await subscribe(t, maker, { url: `${receiver.url}/${path}` }, fields as Partial<WebhookCreate>);
  }

  await api.post(`${here.path}/toggle`);
  await api.put(here.path, { name: 'Near' });
  await api.put(there.path, { name: 'Far' });
  await settled(database);
  for (const [, path, , events] of wanted) {
    const told = receiver.deliveries
      .filter((delivery) => delivery.path === `/${path}`)
      .map(({ event }) => `${event.type} ${'item_id' in event.data && event.data.item_id}`);
    t.same(told.sort(), [...events].sort(), path);
  }
});

t.test('another account receives nothing', async (t) => {
  const receiver = await startReceiver(t);
  await subscribe(t, await client({ account: 'Other' }), receiver);
  const [item] = await someItems(api, 1);
  await api.post(`${item.path}/toggle`);
  await settled(database);
  t.same(receiver.deliveries, []);
});

async function twoMenus() {
  const { data } = (await api.get('/menus')).body;
  const [near] = data;
  return [near, data.find((menu: typeof near) => menu.location_id !== near.location_id)];
}
