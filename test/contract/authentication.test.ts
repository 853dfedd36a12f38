import t, { type Test } from 'tap';
import { allScopes, impliedScopes, type Scope } from '../../src/http/scopes.ts';
import { type Api, send } from '../support/api.ts';
import { startTestService } from '../support/service.ts';
import { type ExampleCall, exampleCalls, pathOf, securedCalls, unknownIds } from './example-calls.ts';

// Refused tokens are limited to 30 a minute for one address, so that a service can be asked about so many operations.
const callsPerService = 13;

const requestWith = (url: string, call: ExampleCall, headers: Record<string, string>) =>
  send(url, call.method, `/api/v1${pathOf(call, unknownIds)}`, headers);

t.test('every operation but the public ones requires a valid token', async (t) => {
  for (let start = 0; start < securedCalls.length; start += callsPerService) {
    const { url } = await startTestService(t);
    await Promise.all(
      securedCalls.slice(start, start + callsPerService).map(async (call) => {
        const none = await requestWith(url, call, {});
        t.match(none, { status: 401, body: { title: 'Unauthorized', code: 'unauthorized' } }, call.id);
        t.equal(none.headers['www-authenticate'], 'Bearer', `${call.id} says how to authenticate`);
        t.match(none.headers['content-type'], /^application\/problem\+json/);

        const garbage = await requestWith(url, call, { authorization: 'Bearer garbage' });
        t.match(garbage, { status: 401, body: { title: 'Unauthorized', code: 'invalid_token' } }, call.id);
        t.match(garbage.headers['www-authenticate'], /^Bearer error="invalid_token"/);
      }),
    );
  }
});

t.test('every operation requires its scope, whatever else is wrong with the call', async (t) => {
  const service = await startTestService(t);
  for (const scope of allScopes) {
    const api = await service.client({ scopes: [scope] });
    await Promise.all(securedCalls.map((call) => checkScope(t, api, call, scope)));
  }
});

t.test(
  'an operation that takes the secret itself refuses a wrong one in the shape of RFC 6749',
  async (t) => {
    const { url, api } = await startTestService(t);
    const { client_id } = api.credentials;
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    for (const call of exampleCalls.filter(({ security }) => security.length === 0)) {
      const body = new URLSearchParams(call.example?.text);
      body.set('client_id', client_id);
      body.set('client_secret', 'wrong');
      const response = await send(url, call.method, `/api/v1${call.path}`, form, body.toString());
      t.match(response, { status: 401, body: { error: 'invalid_client' } }, call.id);
      t.match(response.headers['www-authenticate'], /^Basic /);
    }
  },
);

async function checkScope(t: Test, api: Api, call: ExampleCall, scope: Scope): Promise<void> {
  const granted = impliedScopes([scope]);
  if (call.security.some((scopes) => scopes.every((one) => granted.has(one)))) return;
  const response = await api.call(call.method, pathOf(call, { ...unknownIds, menu_id: 'no-id' }));
  t.match(
    response,
    { status: 403, body: { title: 'Forbidden', code: 'insufficient_scope' } },
    `${call.id} with ${scope} only`,
  );
  t.type(response.headers['ratelimit'], 'string', 'the call was counted');
  t.type(response.headers['ratelimit-policy'], 'string');
}
