import t from 'tap';
import { startTestService } from '../support/service.ts';
import { callsOnRecords, callWith, existingRecords, unknownIds } from './example-calls.ts';

const noIds = [
  '0',
  '-1',
  '1.5',
  '1.0',
  '1e3',
  '0x10',
  '007',
  '+1',
  'abc',
  'null',
  '9007199254740992',
  '99999999999999999999999',
  '%20',
  '%201',
  '%00',
  '%EF%BC%91', // a full-width 1
  '%D9%A1', // an Arabic 1
  '%F0%9F%8D%A3',
  'x'.repeat(2000),
];

t.test('a path id that is not an id is a record that does not exist', async (t) => {
  const service = await startTestService(t);
  const ids = await existingRecords(service);
  // Each operation once at a time: some have a limit.
  const places = callsOnRecords.flatMap((call) => call.parameters.map((name) => ({ call, name })));
  for (const id of noIds) {
    const responses = await Promise.all(
      places.map(({ call, name }) => callWith(service.api, call, { ...ids, [name]: id })),
    );
    for (const [index, { call, name }] of places.entries()) {
      t.match(
        responses[index],
        { status: 404, body: { title: 'Record Not Found', code: 'not_found' } },
        `${call.id} ${name} ${id.slice(0, 40)}`,
      );
    }
  }
});

t.test('an id that no record has gets 404, at each place of the path', async (t) => {
  const service = await startTestService(t);
  const ids = await existingRecords(service);
  for (const call of callsOnRecords) {
    for (const name of call.parameters) {
      const response = await callWith(service.api, call, { ...ids, [name]: unknownIds[name] ?? '' });
      t.match(
        response,
        { status: 404, body: { title: 'Record Not Found', code: 'not_found' } },
        `${call.id} with an unknown ${name}`,
      );
    }
  }
});

t.test('a record of another account, or of a location outside the grant, gets 403', async (t) => {
  const service = await startTestService(t);
  const ids = await existingRecords(service);
  const stranger = await service.client({ account: 'Another restaurant group' });
  const elsewhere = await service.client({ locations: [Number(ids['location_id']) + 1] });
  for (const call of callsOnRecords) {
    for (const api of [stranger, elsewhere]) {
      const response = await callWith(api, call, ids);
      t.match(response, { status: 403, body: { title: 'Forbidden', code: 'forbidden' } }, call.id);
    }
  }
  const events = await service.database.selectFrom('event').select('type').orderBy('event_id').execute();
  t.same(
    events.map(({ type }) => type),
    ['item.toggled', 'modifier_group.created', 'modifier.created'],
    'nothing was changed: the events are those of the preparation',
  );
  t.equal((await service.api.get(`/webhooks/${ids['webhook_id']}`)).status, 200);
});
