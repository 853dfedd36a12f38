import { readFile } from 'node:fs/promises';
import { createLocalJWKSet, jwtVerify } from 'jose';
import t from 'tap';
import { parse } from 'yaml';
import { send } from '../support/api.ts';
import { startTestService } from '../support/service.ts';

const generated = async (name: string) =>
  JSON.parse(await readFile(new URL(`../../generated/${name}`, import.meta.url), 'utf8'));
const [bundle, edition30] = await Promise.all([generated('openapi.json'), generated('openapi-3.0.json')]);

const { url, api } = await startTestService(t);

t.test('the contract is published as it was bundled, with a validator', async (t) => {
  for (const [path, mediaType, read, published] of [
    ['/openapi.json', 'application/json', (text: string) => JSON.parse(text), bundle],
    ['/openapi.yaml', 'application/yaml', (text: string) => parse(text), bundle],
    ['/openapi-3.0.json', 'application/json', (text: string) => JSON.parse(text), edition30],
    ['/openapi-3.0.yaml', 'application/yaml', (text: string) => parse(text), edition30],
  ] as const) {
    const response = await send(url, 'GET', path, {});
    t.equal(response.status, 200, path);
    t.match(response.headers['content-type'], new RegExp(`^${mediaType}`));
    t.strictSame(read(response.text), published, 'it is what was generated');
    t.notMatch(response.text, /x-fastify|fastify/i, 'and tells nothing of how it is served');
    t.equal(response.headers['access-control-allow-origin'], '*', 'tools on other pages may read it');

    const etag = String(response.headers['etag']);
    t.match(etag, /^"[^"]+"$/);
    const again = await send(url, 'GET', path, { 'if-none-match': etag });
    t.match(again, { status: 304, text: '' });
    t.equal(again.headers['etag'], etag);
    t.equal((await send(url, 'GET', path, { 'if-none-match': '"x"' })).status, 200);
    t.equal((await send(url, 'HEAD', path, {})).status, 200);
  }
});

t.test('the root leads to the reference page', async (t) => {
  const root = await send(url, 'GET', '/', {});
  t.match(root, { status: 302, headers: { location: '/docs' } });
});

t.test('the reference page loads nothing from outside and may be framed by nobody', async (t) => {
  const page = await send(url, 'GET', '/docs', {});
  const index = page.status === 200 ? page : await send(url, 'GET', String(page.headers['location']), {});
  t.equal(index.status, 200);
  t.match(index.headers['content-type'], /^text\/html/);
  const policy = Object.fromEntries(
    String(index.headers['content-security-policy'])
      .split(';')
      .map((directive) => directive.trim().split(/ +/))
      .map(([name, ...sources]) => [name, sources]),
  );
  t.strictSame(policy['default-src'], ["'none'"]);
  t.strictSame(policy['script-src'], ["'self'"], 'no inline script either');
  t.strictSame(policy['frame-ancestors'], ["'none'"]);
  const allowed = new Set(Object.values(policy).flat());
  t.strictSame([...allowed].sort(), ["'none'", "'self'", "'unsafe-inline'", 'data:'].sort());

  const files = [...index.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file ?? '');
  t.ok(files.length >= 5, `${files.length} files`);
  for (const file of files) {
    const target = new URL(file, `${url}/docs/`);
    t.equal(target.origin, url, file);
    t.equal((await send(url, 'GET', target.pathname, {})).status, 200, file);
  }
  t.notMatch(index.text, /<script(?![^>]*\bsrc=)/, 'no script that the policy would refuse');
});

t.test('the scripts of the reference page are sent compressed, and cached', async (t) => {
  const { text } = await send(url, 'GET', '/docs', {});
  const [, first = ''] = /href="([^"]+standalone\.esm\.js)"/.exec(text) ?? [];
  const sizes = new Map<string, number>();
  const load = async (path: string): Promise<void> => {
    if (sizes.has(path)) return;
    sizes.set(path, 0);
    const script = await send(url, 'GET', path, {});
    t.match(script, { status: 200, headers: { 'content-type': 'text/javascript; charset=utf-8' } }, path);
    t.equal(script.headers['cache-control'], 'public, max-age=31536000, immutable');
    const { headers } = await fetch(`${url}${path}`, { headers: { 'accept-encoding': 'br' } });
    if (script.text.length >= 1024) t.equal(headers.get('content-encoding'), 'br');
    sizes.set(path, Number(headers.get('content-length')));
    const etag = headers.get('etag') ?? '';
    const again = await fetch(`${url}${path}`, {
      headers: { 'accept-encoding': 'br', 'if-none-match': etag },
    });
    t.equal(again.status, 304);
    const imports = [...script.text.matchAll(/(?:^|[;}])(?:import|export)(?:[\w\s{},*$]+from)?"(\.[^"]+)"/g)];
    for (const [, name = ''] of imports) await load(new URL(name, `${url}${path}`).pathname);
  };
  await load(first);
  t.ok(sizes.size > 5 && sizes.size <= 16, `${sizes.size} modules until the first operation`);
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  t.ok(total > 100_000 && total < 700_000, `${total} bytes`);
  for (const name of ['..%2fpackage.json', 'chunks/..%2f..%2fpackage.json', 'nothing.js']) {
    t.equal((await send(url, 'GET', new URL(name, `${url}${first}`).pathname, {})).status, 404, name);
  }
});

t.test(
  'the page has a contract of its own: samples, changelog, requests that the demo account can take',
  async (t) => {
    const { status, body, headers } = await send(url, 'GET', '/docs/document.json', {});
    t.equal(status, 200);
    t.match(headers['etag'], /^"[^"]+"$/);
    t.match(body.info.description, /^# Changelog$/m);
    const operations = Object.values<Record<string, Operation>>(body.paths).flatMap((path) =>
      Object.values(path),
    );
    for (const { operationId, description, 'x-codeSamples': samples } of operations) {
      t.equal(samples.length, 5, operationId);
      t.notMatch(description, /"\$API\/(menus\/(?!1\b)|menus\/1\/items\/(?!1\b))/, `prose of ${operationId}`);
    }
    const { post } = body.paths['/menus/{menu_id}/items/{item_id}/toggle'];
    const parameters = post.parameters.map(
      ({ $ref }: { $ref: string }) =>
        body.components.parameters[$ref.slice('#/components/parameters/'.length)],
    );
    const examples = (wanted: string) =>
      parameters.find(({ name }: { name: string }) => name === wanted).examples;
    t.strictSame(examples('item_id'), { example: { value: 1, 'x-disabled': false } });
    t.equal(examples('If-Match').example['x-disabled'], true, 'shown, not sent');
    t.strictSame(body.components.schemas, bundle.components.schemas, 'and the same types');
  },
);

interface Operation {
  operationId: string;
  description: string;
  'x-codeSamples': object[];
}

t.test('the published keys verify the tokens, and no private key is among them', async (t) => {
  const { status, body } = await send(url, 'GET', '/.well-known/jwks.json', {});
  t.equal(status, 200);
  for (const key of body.keys) {
    t.strictSame(Object.keys(key).sort(), ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
    t.match(key, { kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' });
  }
  const { payload } = await jwtVerify(await api.token(), createLocalJWKSet(body), { algorithms: ['ES256'] });
  t.equal(payload.sub, api.credentials.client_id);
});

t.test('the service reports that it is alive and ready, without a token', async (t) => {
  for (const path of ['/health/live', '/health/ready']) {
    t.match(await send(url, 'GET', path, {}), { status: 200, body: { status: 'ok' } }, path);
    t.equal((await send(url, 'HEAD', path, {})).status, 200);
  }
});
