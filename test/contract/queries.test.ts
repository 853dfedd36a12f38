import t from 'tap';
import { startTestService } from '../support/service.ts';
import { callWith, existingRecords, securedCalls } from './example-calls.ts';

t.test('a query parameter that is unknown is refused by every operation that checks its input', async (t) => {
  const service = await startTestService(t);
  const ids = await existingRecords(service);
  for (const call of securedCalls.filter(({ statuses }) => statuses.includes(422))) {
    const response = await callWith(service.api, { ...call, path: `${call.path}?surprise=1` }, ids);
    const unknown = { status: 422, body: { errors: [{ field: 'surprise', code: 'unknown' }] } };
    t.match(response, unknown, call.id);
  }
});
