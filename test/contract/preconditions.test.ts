import t from 'tap';
import { startTestService } from '../support/service.ts';
import { callWith, exampleCalls, existingRecords, unknownIds } from './example-calls.ts';

t.test('every operation with If-None-Match responds 304 to a client with the current state', async (t) => {
  const service = await startTestService(t);
  const ids = await existingRecords(service);
  for (const call of exampleCalls.filter(({ headers }) => headers.includes('if-none-match'))) {
    const { headers } = await callWith(service.api, call, ids);
    const etag = String(headers['etag']);
    t.match(etag, /^"[^"]+"$/, `${call.id} has a strong tag`);
    const again = await callWith(service.api, call, ids, { 'if-none-match': etag });
    t.equal(again.status, 304, call.id);
    t.equal(again.headers['etag'], etag);
    t.equal((await callWith(service.api, call, ids, { 'if-none-match': '"0"' })).status, 200);
  }
});

t.test(
  'every operation with If-Match answers 412 to who has another state, and changes nothing',
  async (t) => {
    const service = await startTestService(t);
    const { database } = service;
    const ids = await existingRecords(service);
    const state = async () => [
      await database.selectFrom('event').select('event_id').execute(),
      await database.selectFrom('webhook').select(['webhook_id', 'version']).execute(),
    ];
    const before = await state();
    for (const call of exampleCalls.filter(({ headers }) => headers.includes('if-match'))) {
      for (const tag of ['"0"', 'W/"1"', 'garbage']) {
        const response = await callWith(service.api, call, ids, { 'if-match': tag });
        t.match(response, { status: 412, body: { code: 'precondition_failed' } }, `${call.id} ${tag}`);
      }
      const missing = await callWith(service.api, call, unknownIds, { 'if-match': '"0"' });
      t.equal(missing.status, 404, `${call.id} looks for the record first`);
    }
    t.strictSame(await state(), before);
  },
);
