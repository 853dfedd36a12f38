import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import t from 'tap';
import { revokeSigningKeys, rotateSigningKey } from '../../src/accounts/rotate-signing-key.ts';
import { loadSigningKeys } from '../../src/accounts/signing-keys.ts';
import { createVerifiedTokens } from '../../src/accounts/verified-tokens.ts';
import { WatchedClient } from '../../src/db/client.ts';
import { createSeal } from '../../src/db/seal.ts';
import { statementName } from '../../src/db/statement-names.ts';
import { type Api, send } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { encryptionKey, startTestService } from '../support/service.ts';

// That an expired or revoked token, a disabled client and a scope that was taken away are refused although the token was
// used a moment ago, is shown in tokens, revoke-token and scopes.test.ts.

const seal = createSeal(encryptionKey);
const inAnHour = () => Math.floor(Date.now() / 1_000) + 3_600;

t.test(
  'a token that was used is refused once its key is removed, and valid while it is rotated',
  async (t) => {
    const { url, api, database } = await startTestService(t);
    const use = async (token: string, scheme = 'Bearer') =>
      (await send(url, 'GET', '/api/v1/menus?limit=1', { authorization: `${scheme} ${token}` })).status;
    const token = await api.token();
    t.equal(await use(token), 200);
    await rotateSigningKey(database, seal);
    for (let used = 0; used < 20; used++) t.equal(await use(token), 200);
    await revokeSigningKeys(database, seal);
    await eventually('it is refused', async () => (await use(token)) === 401);
    for (let used = 0; used < 20; used++) t.equal(await use(token), 401, 'and stays so');
    t.equal(await use(token, 'bearer'), 401);
  },
);

t.test('those used longest ago make room, and an expired one is forgotten', async (t) => {
  const { database } = await startTestService(t);
  const keys = await loadSigningKeys(database, seal);
  const { kid } = await keys.signing();
  const verified = createVerifiedTokens(keys, { max: 2 });
  const claims = (exp = inAnHour()) => ({ sub: 'client', scope: 'menus:read', jti: randomUUID(), exp });
  const [first, second, third] = [claims(), claims(), claims()];
  verified.add('first', kid, first);
  verified.add('second', kid, second);
  t.equal(await verified.find('first'), first);
  verified.add('third', kid, third);
  t.equal(await verified.find('second'), undefined);
  t.equal(await verified.find('first'), first);
  t.equal(await verified.find('third'), third);
  verified.add('expired', kid, claims(inAnHour() - 3_600));
  t.equal(await verified.find('expired'), undefined);
  verified.add('of no key', 'k'.repeat(43), claims());
  t.equal(await verified.find('of no key'), undefined);
});

t.test('tokens that come at once are looked up together, and each is judged on its own', async (t) => {
  const { url, api, app, client, database } = await startTestService(t);
  const fetchToken = async ({ credentials: { client_id, client_secret } }: Api) => {
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id,
      client_secret,
    }).toString();
    return (await api.call('POST', '/oauth/token', { token: null, headers: form, body })).body.access_token;
  };
  const [disabled, outdated, narrow, elsewhere] = [
    await client(),
    await client(),
    await client({ scopes: ['webhooks:manage'] }),
    await client({ account: 'Another' }),
  ];
  const own = await Promise.all(Array.from({ length: 40 }, () => fetchToken(api)));
  const tokens: [token: string, status: number][] = own.map((token) => [token, 200]);
  const revoked = await fetchToken(api);
  const { client_id, client_secret } = api.credentials;
  const body = new URLSearchParams({ token: revoked, client_id, client_secret }).toString();
  await api.call('POST', '/oauth/revoke', { token: null, headers: form, body });
  tokens.push(
    [revoked, 401],
    [await fetchToken(disabled), 401],
    [await fetchToken(outdated), 401],
    [await fetchToken(narrow), 403],
    [await fetchToken(elsewhere), 403],
  );
  const idOf = ({ credentials }: Api) => credentials.client_id;
  await sql`update client set disabled_at = now() where client_id = ${idOf(disabled)}`.execute(database);
  await sql`update client set token_generation = 1 where client_id = ${idOf(outdated)}`.execute(database);
  const executed = t.capture(WatchedClient.prototype, 'query', WatchedClient.prototype.query);
  let arrived = 0;
  app.server.on('request', () => {
    arrived += 1;
  });
  const begun = await database.transaction().execute(async (transaction) => {
    await sql`lock table client in access exclusive mode`.execute(transaction);
    const begun = tokens.map(([token]) => api.get('/menus/1', { token }));
    await eventually('all have arrived', async () => arrived === begun.length);
    return begun;
  });
  const responses = await Promise.all(begun);
  t.strictSame(
    responses.map(({ status }) => status),
    tokens.map(([, status]) => status),
  );
  const names = executed().map(({ args: [text] }) => statementName(String(text)) ?? '');
  const lookUps = names.filter((name) => name.startsWith('accounts.findCaller'));
  t.ok(lookUps.length < 5, `${tokens.length} tokens took ${lookUps}`);
  t.equal((await send(url, 'GET', '/api/v1/menus/1', { authorization: `Bearer ${own[0]}` })).status, 200);
});

const form = { 'content-type': 'application/x-www-form-urlencoded' };
