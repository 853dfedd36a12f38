import { METHODS } from 'node:http';
import t from 'tap';
import { send } from '../support/api.ts';
import { startTestService } from '../support/service.ts';
import { exampleCalls, existingRecords, pathOf, unknownIds } from './example-calls.ts';

const methodsOfPath = Map.groupBy(exampleCalls, ({ path }) => path);

// CONNECT asks a proxy for a tunnel; Node closes the connection. QUERY is too new for undici.
const anyMethod = METHODS.filter((method) => !['CONNECT', 'QUERY'].includes(method));

t.test(
  'a method that a path does not serve is answered 405 with those it serves, before any token',
  async (t) => {
    const { url } = await startTestService(t);
    for (const [, calls] of methodsOfPath) {
      const served = calls.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).sort();
      const [call] = calls;
      if (!call) continue;
      for (const method of anyMethod.filter((one) => !served.includes(one))) {
        const response = await send(url, method, `/api/v1${pathOf(call, unknownIds)}`, {});
        t.equal(response.status, 405, `${method} ${call.path}`);
        t.strictSame(String(response.headers['allow']).split(', ').sort(), served);
        if (method !== 'HEAD')
          t.match(response.body, { title: 'Method Not Allowed', code: 'method_not_allowed' });
      }
    }
  },
);

t.test('HEAD responds as GET does, without the body', async (t) => {
  const service = await startTestService(t);
  const ids = await existingRecords(service);
  for (const call of exampleCalls.filter(({ method }) => method === 'GET')) {
    for (const path of [pathOf(call, ids), pathOf(call, unknownIds)]) {
      const get = await service.api.get(path);
      const head = await service.api.call('HEAD', path);
      t.equal(head.status, get.status, `${call.id} ${head.status}`);
      t.equal(head.text, '');
      for (const name of ['content-type', 'content-length', 'etag', 'link']) {
        t.equal(head.headers[name], get.headers[name], name);
      }
    }
  }
});
