import t from 'tap';
import { type Api, type ApiResponse, send } from '../support/api.ts';
import { startTestService, type TestService } from '../support/service.ts';

const form = 'application/x-www-form-urlencoded';
const everything = 'menus:read menus:write availability:write webhooks:manage';

t.test('a client that sends its secret by HTTP Basic gets a token', async (t) => {
  const service = await startTestService(t);
  const response = await ask(service, { grant_type: 'client_credentials' }, basicOf(service.api));
  t.match(response, { status: 200, body: { token_type: 'Bearer', expires_in: 3600, scope: everything } });
  t.equal(response.headers['cache-control'], 'no-store');
  t.equal(response.headers['pragma'], 'no-cache');
  const menus = await service.api.get('/menus', { token: response.body.access_token });
  t.equal(menus.status, 200);
});

t.test('a client that sends its secret in the body gets a token', async (t) => {
  const service = await startTestService(t);
  const { client_id, client_secret } = service.api.credentials;
  const response = await ask(service, { grant_type: 'client_credentials', client_id, client_secret });
  t.equal(response.status, 200);
  t.equal((await service.api.get('/menus', { token: response.body.access_token })).status, 200);
});

t.test('the parts of HTTP Basic are form-encoded (RFC 6749, section 2.3.1)', async (t) => {
  const service = await startTestService(t);
  const { client_id, client_secret } = service.api.credentials;
  const encoded = (text: string) => text.replaceAll(/./g, (one) => `%${one.charCodeAt(0).toString(16)}`);
  const grant = { grant_type: 'client_credentials' };
  t.equal((await ask(service, grant, basic(encoded(client_id), encoded(client_secret)))).status, 200);
  t.equal((await ask(service, grant, basic(client_id, client_secret).replace('Basic', 'basic'))).status, 200);
});

t.test('a token has the scopes that were asked for', async (t) => {
  const service = await startTestService(t);
  const scopeOf = async (scope: string) => {
    const response = await ask(service, { grant_type: 'client_credentials', scope }, basicOf(service.api));
    return response.status === 200 ? response.body.scope : response.body.error;
  };
  t.equal(await scopeOf('menus:read'), 'menus:read');
  t.equal(await scopeOf('webhooks:manage  menus:read menus:read'), 'webhooks:manage menus:read');
  t.equal(await scopeOf(''), everything, 'a parameter without a value counts as left out');
  t.equal(await scopeOf(' '), 'invalid_scope');
  t.equal(await scopeOf('menus:read menus:all'), 'invalid_scope');
  t.equal(await scopeOf('MENUS:READ'), 'invalid_scope');

  const writer = await service.client({ scopes: ['menus:write'] });
  const within = { grant_type: 'client_credentials', scope: 'availability:write menus:read' };
  t.equal((await ask(service, within, basicOf(writer))).body.scope, within.scope, 'menus:write brings them');
  const beyond = { grant_type: 'client_credentials', scope: 'webhooks:manage' };
  t.match(await ask(service, beyond, basicOf(writer)), { status: 400, body: { error: 'invalid_scope' } });
});

t.test('unknown parameters are ignored (RFC 6749, section 3.2)', async (t) => {
  const service = await startTestService(t);
  const response = await ask(
    service,
    { grant_type: 'client_credentials', audience: 'menus' },
    basicOf(service.api),
  );
  t.equal(response.status, 200);

  const headers = { 'content-type': form, authorization: basicOf(service.api) };
  const repeated = await post(service, 'grant_type=client_credentials&resource=a&resource=b', headers);
  t.equal(repeated.status, 200, 'RFC 8707 repeats one');
});

t.test('a caller without the right secret gets 401 in the form of RFC 6749', async (t) => {
  const service = await startTestService(t);
  const { client_id, client_secret } = service.api.credentials;
  const grant = { grant_type: 'client_credentials' };
  const disabled = await service.client();
  await service.database
    .updateTable('client')
    .set({ disabled_at: new Date() })
    .where('client_id', '=', disabled.credentials.client_id)
    .execute();
  const refused: [string, Promise<ApiResponse>][] = [
    ['nothing at all', ask(service, grant)],
    ['a wrong secret', ask(service, grant, basic(client_id, 'mss_wrong'))],
    ['a wrong secret in the body', ask(service, { ...grant, client_id, client_secret: 'mss_wrong' })],
    ['an empty secret', ask(service, grant, basic(client_id, ''))],
    ['another client', ask(service, grant, basic('client_unknown', client_secret))],
    ['a client id with NUL', ask(service, grant, basic('%00', client_secret))],
    ['a client id in another script', ask(service, grant, basic('%E7%81%AF', client_secret))],
    ['a disabled client', ask(service, grant, basicOf(disabled))],
    ['an id without a secret', ask(service, { ...grant, client_id })],
    ['a secret without an id', ask(service, { ...grant, client_secret })],
    ['Basic that is not base64', ask(service, grant, 'Basic ###')],
    ['Basic without a colon', ask(service, grant, `Basic ${Buffer.from(client_id).toString('base64')}`)],
    ['a bearer token', ask(service, grant, `Bearer ${await service.api.token()}`)],
  ];
  for (const [what, response] of refused) {
    t.match(
      await response,
      { status: 401, body: { error: 'invalid_client', error_description: String } },
      what,
    );
    t.match((await response).headers['www-authenticate'], /^Basic realm="[^"]+"$/);
    t.equal((await response).headers['cache-control'], 'no-store');
  }
});

t.test('an invalid request gets 400 in the form of RFC 6749', async (t) => {
  const service = await startTestService(t);
  const { client_id, client_secret } = service.api.credentials;
  const own = basicOf(service.api);
  const sent = (body: string) => post(service, body, { 'content-type': form, authorization: own });
  const grant = 'grant_type=client_credentials';
  const refused: [string, Promise<ApiResponse>, string][] = [
    ['no grant', sent('scope=menus:read'), 'invalid_request'],
    ['nothing', sent(''), 'invalid_request'],
    ['another grant', sent('grant_type=password'), 'unsupported_grant_type'],
    ['no known grant', sent('grant_type=CLIENT_CREDENTIALS'), 'unsupported_grant_type'],
    ['a parameter twice', sent(`${grant}&scope=menus:read&scope=menus:read`), 'invalid_request'],
    ['the grant twice', sent(`${grant}&${grant}`), 'invalid_request'],
    ['a scope with a quotation mark', sent(`${grant}&scope="menus:read"`), 'invalid_request'],
    ['a secret in another script', sent(`${grant}&client_secret=%E7%81%AF`), 'invalid_request'],
    [
      'the client in both places',
      ask(service, { grant_type: 'client_credentials', client_id, client_secret }, own),
      'invalid_request',
    ],
    [
      'two clients',
      ask(service, { grant_type: 'client_credentials', client_id: 'client_other' }, own),
      'invalid_request',
    ],
  ];
  for (const [what, response, error] of refused) {
    t.match(await response, { status: 400, body: { error, error_description: String } }, what);
    t.equal((await response).headers['cache-control'], 'no-store');
    t.match((await response).headers['content-type'], /^application\/json/);
  }
});

t.test('only a form is accepted, whatever charset it names', async (t) => {
  const service = await startTestService(t);
  const authorization = basicOf(service.api);
  const sent = (type: string, body: string) => post(service, body, { 'content-type': type, authorization });
  const grant = 'grant_type=client_credentials';
  t.equal((await sent(`${form}; charset=UTF-8`, grant)).status, 200);
  t.equal((await sent('Application/X-WWW-Form-Urlencoded;charset=iso-8859-1', grant)).status, 200);
  t.equal((await sent('application/json', '{"grant_type":"client_credentials"}')).status, 415);
  t.equal((await sent('text/plain', grant)).status, 415);
  t.equal((await sent(form, `${grant}&padding=${'x'.repeat(1 << 20)}`)).status, 413);
});

t.test('an address may send wrong credentials 30 times a minute', async (t) => {
  const service = await startTestService(t);
  const responses = [];
  for (let sent = 0; sent < 31; sent++) {
    responses.push(
      await ask(service, { grant_type: 'client_credentials' }, basic('client_unknown', 'guess')),
    );
  }
  t.same([...new Set(responses.slice(0, 30).map(({ status }) => status))], [401]);
  t.match(responses[30], { status: 429, body: { code: 'rate_limited' } });
  const wait = Number(responses[30]?.headers['retry-after']);
  t.ok(wait >= 1 && wait <= 60);
});

function ask(
  service: TestService,
  parameters: Record<string, string>,
  authorization?: string,
): Promise<ApiResponse> {
  return post(service, new URLSearchParams(parameters).toString(), {
    'content-type': form,
    ...(authorization !== undefined && { authorization }),
  });
}

function post({ url }: TestService, body: string, headers: Record<string, string>): Promise<ApiResponse> {
  return send(url, 'POST', '/api/v1/oauth/token', headers, body);
}

function basicOf({ credentials }: Api): string {
  return basic(credentials.client_id, credentials.client_secret);
}

function basic(id: string, secret: string): string {
  return `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
}
