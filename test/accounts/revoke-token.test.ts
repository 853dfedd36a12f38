import { randomUUID } from 'node:crypto';
import t from 'tap';
import { removeEndedTokens } from '../../src/accounts/revoke-token.ts';
import { type Api, type ApiResponse, send } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api, database, url } = service;

const form = { 'content-type': 'application/x-www-form-urlencoded' };
const basic = ({ client_id, client_secret }: Api['credentials']) => ({
  authorization: `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`,
});
const post = (path: string, fields: Record<string, string> | string, headers = {}) =>
  send(url, 'POST', `/api/v1/oauth/${path}`, { ...form, ...headers }, new URLSearchParams(fields).toString());
const newToken = async ({ credentials }: Api): Promise<string> =>
  (await post('token', { grant_type: 'client_credentials' }, basic(credentials))).body.access_token;
const revoke = (token: string, { credentials }: Api) => post('revoke', { token }, basic(credentials));
const read = (token: string, at = api): Promise<ApiResponse> => at.get('/oauth/client', { token });
const revoked = () => database.selectFrom('revoked_token').selectAll().execute();

t.test('a revoked token is refused within a second, and the others of its client are not', async (t) => {
  const [token, other] = [await newToken(api), await newToken(api)];
  t.equal((await read(token)).status, 200, 'the token is known here by now');
  const response = await revoke(token, api);
  t.match(response, { status: 200, text: '' });
  const from = performance.now();
  const refused = await eventually('the token is refused', async () => {
    const response = await read(token);
    return response.status === 401 && response;
  });
  t.ok(performance.now() - from < 10_000);
  t.match(refused, { body: { code: 'invalid_token' } });
  t.match(refused.headers['www-authenticate'], /^Bearer error="invalid_token"/);
  t.equal((await read(other)).status, 200);
  t.equal((await api.get('/menus')).status, 200);
});

t.test('another process refuses it too', async (t) => {
  const other = await startTestService(t, { connection: service.connection });
  const token = await newToken(api);
  const at = { ...api, get: other.api.get };
  t.equal((await read(token, at)).status, 200);
  await revoke(token, api);
  await eventually('the token is refused there', async () => (await read(token, at)).status === 401);
});

t.test('accepts the credentials in the form as well, and any hint', async (t) => {
  const { client_id, client_secret } = api.credentials;
  const token = await newToken(api);
  for (const token_type_hint of ['access_token', 'refresh_token', 'pizza']) {
    const response = await post('revoke', { token, client_id, client_secret, token_type_hint });
    t.equal(response.status, 200, token_type_hint);
  }
  await eventually('the token is refused', async () => (await read(token)).status === 401);
});

t.test('accepts credentials in the form beside a Bearer token, which generated clients send', async (t) => {
  const { client_id, client_secret } = api.credentials;
  const token = await newToken(api);
  for (const bearer of [token, 'garbage']) {
    const headers = { authorization: `Bearer ${bearer}` };
    t.equal((await post('revoke', { token, client_id, client_secret }, headers)).status, 200);
    const wrong = await post('revoke', { token, client_id, client_secret: 'wrong' }, headers);
    t.match(wrong, { status: 401, body: { error: 'invalid_client' } });
    t.equal((await post('revoke', { token, client_id }, headers)).status, 401, 'a token is no secret');
  }
  await eventually('the token is refused', async () => (await read(token)).status === 401);
});

t.test('an invalid token, or one that is already revoked, is 200 and leaves nothing behind', async (t) => {
  const token = await newToken(api);
  await revoke(token, api);
  const before = await revoked();
  const [head, payload] = token.split('.');
  const signed = await newToken(api);
  const forged = `${head}.${payload}.${signed.split('.')[2]}`;
  const none = Buffer.from('{"alg":"none","kid":7}').toString('base64url');
  for (const text of [
    token,
    'garbage',
    '…'.length ? 'a.b.c' : '',
    forged,
    `${none}.${payload}.`,
    randomUUID(),
  ])
    t.match(await revoke(text, api), { status: 200, text: '' }, text.slice(0, 20));
  t.same(await revoked(), before);
  t.equal((await read(signed)).status, 200);
});

t.test('a token of another client stays valid', async (t) => {
  for (const other of [await service.client(), await service.client({ account: 'Another' })]) {
    const token = await newToken(api);
    const response = await revoke(token, other);
    t.match(response, { status: 400, body: { error: 'unauthorized_client' } });
    t.same(
      (await revoked()).filter(({ client_id }) => client_id === other.credentials.client_id),
      [],
    );
    t.equal((await read(token)).status, 200);
  }
});

t.test('refuses an invalid request, in the form of RFC 6749', async (t) => {
  const token = await newToken(api);
  const credentials = basic(api.credentials);
  const { client_id } = api.credentials;
  t.match(await post('revoke', {}, credentials), { status: 400, body: { error: 'invalid_request' } });
  t.match(await post('revoke', { token: '' }, credentials), { body: { error: 'invalid_request' } });
  t.match(await post('revoke', `token=${token}&token=${token}`, credentials), {
    status: 400,
    body: { error: 'invalid_request' },
  });
  t.match(await post('revoke', { token }), { status: 401, body: { error: 'invalid_client' } });
  t.match(await post('revoke', { token, client_id, client_secret: 'wrong' }), {
    status: 401,
    body: { error: 'invalid_client' },
  });
  t.match(await post('revoke', { token, client_secret: 'x' }, credentials), { status: 400 });
  t.equal((await post('revoke', { token: 'x'.repeat(8_193) }, credentials)).status, 400);
  const json = { ...credentials, 'content-type': 'application/json' };
  t.equal((await send(url, 'POST', '/api/v1/oauth/revoke', json, '{}')).status, 415);
  t.equal((await post('revoke', { token: 'x'.repeat(131_072) }, credentials)).status, 413);
  t.equal((await read(token)).status, 200);
});

t.test('two concurrent calls revoke it once', async (t) => {
  const token = await newToken(api);
  const before = (await revoked()).length;
  const responses = await Promise.all(Array.from({ length: 8 }, () => revoke(token, api)));
  t.ok(responses.every(({ status }) => status === 200));
  t.equal((await revoked()).length, before + 1);
});

t.test('a revoked token is forgotten once it has expired', async (t) => {
  await revoke(await newToken(api), api);
  const [kept, ...others] = await revoked();
  t.ok(others.length > 0);
  await database
    .updateTable('revoked_token')
    .set({ expires_at: new Date(Date.now() - 1_000) })
    .where('token_id', '<>', kept?.token_id ?? '')
    .execute();
  t.equal(await removeEndedTokens(database, 2), Math.min(2, others.length));
  while ((await removeEndedTokens(database, 2)) > 0);
  t.same(await revoked(), [kept]);
});
