import t from 'tap';
import type { Api } from '../../support/api.ts';
import { checkSchema } from '../../support/contract.ts';
import { startReceiver, subscribe, verify } from '../../support/receiver.ts';
import { startTestService } from '../../support/service.ts';

t.test('a write reaches the receiver, signed, with the item as getItem shows it', async (t) => {
  const { api } = await startTestService(t, { worker: {} });
  const receiver = await startReceiver(t);
  const { secret } = await subscribe(api, receiver);
  const item = await firstItem(api);
  const toggled = await api.post(`${item.path}/toggle`);

  const [delivery] = await receiver.until(1);
  if (!delivery) throw new Error('nothing arrived');
  const event = verify(delivery, secret);
  checkSchema('WebhookPayload', event);
  t.match(delivery.headers, { 'content-type': 'application/json', 'webhook-id': event.id });
  t.match(delivery.headers['user-agent'], /^menu-management-service\//);
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
  const { api } = await startTestService(t, { worker: {} });
  const receiver = await startReceiver(t);
  await subscribe(api, receiver);
  const { path, name } = await firstItem(api);
  await api.put(path, { name: `${name} ±`, is_available: false });

  const events = (await receiver.until(2)).map(({ event }) => event);
  for (const event of events) checkSchema('WebhookPayload', event);
  t.same(events.map(({ type }) => type).sort(), ['item.toggled', 'item.updated']);
  for (const { previous } of events) t.same(previous, { name, is_available: true });
});

async function firstItem(api: Api) {
  const { body } = await api.get('/menus');
  const { menu_id, location_id } = body.data[0];
  const items = await api.get(`/menus/${menu_id}/items?is_available=true`);
  const { item_id, name } = items.body.data[0];
  return { menu_id, location_id, item_id, name, path: `/menus/${menu_id}/items/${item_id}` };
}
