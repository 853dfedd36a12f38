import t from 'tap';
import { allScopes } from '../../src/http/scopes.ts';
import { send } from '../support/api.ts';
import { startTestService } from '../support/service.ts';

const path = '/.well-known/oauth-authorization-server';
const read = (url: string, headers: Record<string, string> = {}) => send(url, 'GET', path, headers);
const issuer = async (url: string, headers?: Record<string, string>) =>
  (await read(url, headers)).body.issuer;

t.test('describes the existing endpoints, under the origin that was requested', async (t) => {
  const { url, api } = await startTestService(t);
  const { status, headers, body } = await read(url);
  t.equal(status, 200);
  t.match(headers['content-type'], /^application\/json/);
  t.match(headers['cache-control'], /^private/);
  t.same(body, {
    issuer: url,
    token_endpoint: `${url}/api/v1/oauth/token`,
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    revocation_endpoint: `${url}/api/v1/oauth/revoke`,
    revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    jwks_uri: `${url}/.well-known/jwks.json`,
    grant_types_supported: ['client_credentials'],
    response_types_supported: [],
    scopes_supported: [...allScopes],
    service_documentation: `${url}/docs`,
  });
  // The client's own way: nothing but the metadata leads it.
  const { client_id, client_secret } = api.credentials;
  const form = (fields: object) => ({
    method: 'POST',
    body: new URLSearchParams({ client_id, client_secret, ...fields }),
  });
  const issued = await fetch(body.token_endpoint, form({ grant_type: 'client_credentials' }));
  const { access_token: token } = (await issued.json()) as { access_token: string };
  t.equal((await fetch(body.revocation_endpoint, form({ token }))).status, 200);
  t.equal((await fetch(body.jwks_uri)).status, 200);
  t.equal((await fetch(body.service_documentation)).status, 200);
});

t.test('uses Host, whatever a client says about a proxy', async (t) => {
  const { url } = await startTestService(t);
  t.equal(await issuer(url, { host: 'menus.example.com' }), 'http://menus.example.com');
  t.equal(await issuer(url, { host: 'MENUS.example.com:80' }), 'http://menus.example.com');
  t.equal(await issuer(url, { host: '[2001:db8::1]:3000' }), 'http://[2001:db8::1]:3000');
  const forged = { 'x-forwarded-host': 'evil.example.com', 'x-forwarded-proto': 'https' };
  t.equal(await issuer(url, forged), url);
  for (const host of [
    '',
    'a/b',
    'a b',
    'user@host',
    'a:99999',

    'a"b',
    'é.example'.normalize('NFD'),
  ]) {
    const response = await read(url, { host: Buffer.from(host).toString('latin1') });
    t.match(response, { status: 400, body: { code: 'bad_request' } }, JSON.stringify(host));
  }
});

t.test('uses what a trusted proxy says, the nearest one last', async (t) => {
  const { url } = await startTestService(t, { trustedProxies: ['127.0.0.0/8'] });
  const proto = { 'x-forwarded-proto': 'https' };
  t.equal(await issuer(url, { ...proto, host: 'menus.example.com' }), 'https://menus.example.com');
  t.equal(await issuer(url, { ...proto, host: 'menus.example.com:443' }), 'https://menus.example.com');
  t.equal(
    await issuer(url, { ...proto, host: 'inside:3000', 'x-forwarded-host': 'menus.example.com:8443' }),
    'https://menus.example.com:8443',
  );
  t.equal(
    await issuer(url, {
      'x-forwarded-proto': 'http, HTTPS',
      'x-forwarded-host': 'evil.example.com, menus.example.com',
    }),
    'https://menus.example.com',
  );
  t.equal(await issuer(url, { 'x-forwarded-proto': 'javascript' }), url);
  t.equal(await issuer(url), url, 'a proxy that says nothing');
});
