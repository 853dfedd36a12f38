import Fastify, { type FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { request } from 'undici';
import document from '../../generated/openapi.json' with { type: 'json' };
import type { OperationId } from '../../generated/operations.ts';
import { contractCheck, type SentResponse } from '../../src/contract/contract-check.ts';
import { type CheckResult, registerResponseCheck } from '../../src/contract/response-check.ts';
import { openDatabase } from '../../src/db/database.ts';
import { createDestination } from '../../src/webhooks/delivery/destination.ts';
import { type DemoProcess, startDemoProcess } from '../support/demo-process.ts';
import { eventually } from '../support/eventually.ts';
import { buildTestApp, cloneDatabase } from '../support/service.ts';

t.setTimeout(120_000);

/** Longer than an allergen may be. */
const unheardOf = 'kryptonite'.repeat(10);

const { ofResponse: violationsOf } = contractCheck(document);

t.test('every example response matches the contract', async (t) => {
  const replies = exampleResponses();
  t.ok(replies.length > 200, `${replies.length} examples`);
  for (const reply of replies) t.same(violationsOf(reply), [], `${reply.operationId} ${reply.status}`);
});

t.test('a violation is reported by its place and its keyword', async (t) => {
  const reply = exampleResponses().find(({ operationId }) => operationId === 'getItem');
  const { data } = JSON.parse(String(reply?.body));
  const found = (change: Partial<SentResponse>) =>
    violationsOf({ ...(reply as SentResponse), ...change }).map((one) => Object.values(one).join(' '));
  const body = (value: unknown) => found({ body: JSON.stringify(value) });
  const { price: _, ...unpriced } = data;
  t.same(body({ data: unpriced }), ['body /data/price required']);
  t.same(body({ data: { ...data, 'cost/unit': 1 } }), ['body /data/cost~1unit additionalProperties']);
  t.same(body({ data: { ...data, price: 1.0005 } }), ['body /data/price x-check']);
  t.same(body({ data: { ...data, allergens: [unheardOf] } }), ['body /data/allergens/0 maxLength']);
  t.same(body({ data, meta: {} }), ['body /meta additionalProperties']);
  t.same(found({ body: '{"data":' }), ['body  json']);
  t.same(found({ body: undefined }), ['body  json']);
  t.same(found({ status: 201 }), ['status  undocumented']);
  t.same(found({ status: 304 }), ['body  undocumented']);
  const headers = (change: SentResponse['headers']) => found({ headers: { ...reply?.headers, ...change } });
  t.same(headers({ etag: undefined }), ['headers /ETag required']);
  t.same(headers({ etag: 'seven' }), ['headers /ETag pattern']);
  t.same(headers({ 'retry-after': '1' }), ['headers /retry-after undocumented']);
  t.same(headers({ 'x-request-cost': '1' }), [], 'a header that promises nothing may come');
  t.same(headers({ 'content-type': 'text/html' }), ['headers /Content-Type undocumented']);
  t.same(headers({ 'content-type': undefined }), ['headers /Content-Type undocumented']);
  const [event] = exampleResponses().filter(({ operationId }) => operationId === 'getEvent');
  const told = JSON.parse(String(event?.body));
  delete told.data.data.version;
  t.same(
    violationsOf({ ...(event as SentResponse), body: JSON.stringify(told) }),
    [{ part: 'body', pointer: '/data/data/version', keyword: 'required' }],
    'of an event only what its own type demands',
  );
  const surplus = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`field_${n}`, n]));
  t.same(body({ data: { ...data, ...surplus } }).length, 20, 'a list has an end');
});

t.test(
  'a field that the contract does not name is a violation, also where clients are told to expect it',
  async (t) => {
    const open = JSON.stringify(document, (key, value) =>
      key === 'additionalProperties' ? undefined : value,
    );
    const [reply] = exampleResponses().filter(({ operationId }) => operationId === 'getItem');
    const { data } = JSON.parse(String(reply?.body));
    const body = JSON.stringify({ data: { ...data, account_id: 1 } });
    t.same(contractCheck(JSON.parse(open)).ofResponse({ ...(reply as SentResponse), body }), [
      { part: 'body', pointer: '/data/account_id', keyword: 'additionalProperties' },
    ]);
  },
);

t.test('there is a thread only if responses are to be checked', async (t) => {
  let threads = 0;
  const count = () => {
    threads += 1;
  };
  process.on('worker', count);
  t.teardown(() => process.off('worker', count));
  const database = openDatabase(await cloneDatabase(t));
  const destination = createDestination({ allowedNetworks: [] });
  t.teardown(async () => {
    await database.destroy();
    await destination.close();
  });
  for (const responseCheckRate of [0, 0.01]) {
    const app = await buildTestApp(database, destination, { responseCheckRate });
    await app.close();
    t.equal(threads, responseCheckRate > 0 ? 1 : 0);
  }
});

t.test('a live response that violates the contract is logged and counted, and sent unchanged', async (t) => {
  const demo = await startDemoProcess(t, { RESPONSE_CHECK_RATE: '1' });
  await spoil(demo);
  const plain = await startDemoProcess(t);
  await spoil(plain);

  const reply = await get(demo, '/menus/1/items/1', 'the-violation');
  const body = JSON.parse(reply.body);
  t.same(body.data.allergens, [unheardOf]);
  const line = await eventually('its line', async () =>
    demo.log().find(({ reqId, msg }) => reqId === 'the-violation' && msg !== 'request completed'),
  );
  t.match(line, {
    level: 40,
    msg: 'response violates the contract',
    operation: 'getItem',
    status: 200,
    violations: [{ part: 'body', pointer: '/data/allergens/0', keyword: 'maxLength' }],
  });
  const made = await post(demo, '/webhooks', { url: 'https://127.0.0.1:9/' });
  t.equal(made.status, 201);
  const { secret, description } = JSON.parse(made.body).data;
  t.match(secret, /^whsec_/);
  t.equal(description.length, 5000);
  const other = await eventually('the line of the webhook', async () =>
    demo.log().find(({ operation, msg }) => operation === 'createWebhook' && msg !== 'request completed'),
  );
  t.match(other.violations, [{ part: 'body', pointer: '/data/description', keyword: 'maxLength' }]);
  t.equal((await get(demo, '/menus/999999', 'no-menu')).status, 404);

  const counted = await eventually('all are counted', async () => {
    const lines = await checks(demo);
    return lines.some((one) => one.includes('operation="getMenu"')) && lines;
  });
  t.same(counted.filter((one) => !one.includes('issueToken')).toSorted(), [
    'menus_response_checks_total{operation="createWebhook",status="201",result="violated"} 1',
    'menus_response_checks_total{operation="getItem",status="200",result="violated"} 1',
    'menus_response_checks_total{operation="getMenu",status="404",result="kept"} 1',
  ]);
  for (const value of [unheardOf, secret, description, await demo.api.token()])
    t.notMatch(demo.service.printed.stdout, value, 'no value is logged');

  const same = await get(plain, '/menus/1/items/1', 'unchecked');
  t.same(JSON.parse(same.body), body, 'as without the check');
  t.same(
    Object.keys(reply.headers).filter((name) => !(name in same.headers)),
    [],
  );
  await eventually('the last line', async () => plain.log().find(({ reqId }) => reqId === 'unchecked'));
  t.same(await checks(plain), [], 'nothing is checked unless that is asked for');
  t.same(
    plain.log().filter(({ level }) => level >= 40),
    [],
  );
  t.equal((await demo.service.stop('SIGTERM')).ended, 0);
});

t.test('about the configured share is checked', async (t) => {
  const { app, results } = await serve(t, { rate: 0.5, body: '{}' });
  for (let n = 0; n < 400; n += 1) await app.inject('/');
  const [first] = await eventually('the thread has answered', async () => results.length > 120 && results);
  t.equal(first, 'violated');
  t.ok(results.length < 280, `${results.length} of 400`);
});

t.test('responses beyond what the thread can take are skipped; later ones are checked again', async (t) => {
  const { app, results } = await serve(t, { rate: 1, body: 'x'.repeat(3 << 20) });
  await Promise.all(Array.from({ length: 10 }, () => app.inject('/')));
  await eventually('each has its result', async () => results.length === 10);
  t.same(results.toSorted(), [...Array(7).fill('skipped'), ...Array(3).fill('violated')]);
  await app.inject('/');
  await eventually('the next has one', async () => results.length === 11);
  t.equal(results.at(-1), 'violated');
});

t.test('when the thread fails, that is logged once and the service goes on', async (t) => {
  const { app, results, lines } = await serve(t, { rate: 1, body: '{}', document: {} });
  await app.inject('/');
  await eventually('its line', async () => lines.length > 0);
  for (let n = 0; n < 3; n += 1) t.equal((await app.inject('/')).body, '{}');
  t.same(results, Array(4).fill('skipped'));
  t.match(
    lines.map((line) => JSON.parse(line)),
    [{ level: 50, msg: 'responses are no longer checked' }],
  );
  t.equal(lines.length, 1);
});

/** A server whose only route answers `getItem` as it is told to. */
async function serve(t: Test, options: { rate: number; body: string; document?: object }) {
  const results: CheckResult[] = [];
  const lines: string[] = [];
  const app: FastifyInstance = Fastify({
    logger: { level: 'error', stream: { write: (line: string) => void lines.push(line) } },
  });
  t.teardown(() => app.close());
  registerResponseCheck(app, { document, ...options, count: (_id, _status, result) => results.push(result) });
  app.get('/', { config: { operationId: 'getItem' satisfies OperationId } }, async () => options.body);
  await app.ready();
  return { app, results, lines };
}

/** Makes the database hold what the contract does not allow. */
async function spoil({ database }: DemoProcess): Promise<void> {
  await sql`update item set allergens = array[${unheardOf}] where item_id = 1`.execute(database);
  await sql`create function lengthen() returns trigger language plpgsql as $$
    begin new.description := repeat('x', 5000); return new; end $$`.execute(database);
  await sql`create trigger lengthen before insert on webhook for each row execute function lengthen()`.execute(
    database,
  );
}

// Not by the client of the tests, which would throw: it checks every answer itself.
async function get({ url, api }: DemoProcess, path: string, id: string) {
  const headers = { authorization: `Bearer ${await api.token()}`, 'x-request-id': id };
  const reply = await request(`${url}/api/v1${path}`, { headers });
  return { status: reply.statusCode, headers: reply.headers, body: await reply.body.text() };
}

async function post({ url, api }: DemoProcess, path: string, json: object) {
  const reply = await request(`${url}/api/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await api.token()}`, 'content-type': 'application/json' },
    body: JSON.stringify(json),
  });
  return { status: reply.statusCode, body: await reply.body.text() };
}

async function checks({ url }: DemoProcess): Promise<string[]> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return text.split('\n').filter((line) => line.startsWith('menus_response_checks_total{'));
}

interface Node {
  $ref?: string;
  required?: boolean;
  example?: unknown;
  value?: unknown;
  headers?: Record<string, Node>;
  content?: Record<string, { examples?: Record<string, Node> }>;
}

/** An answer for each example in the contract, with the examples of its headers. */
function exampleResponses(): SentResponse[] {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods)) as {
    operationId: string;
    responses: Record<string, Node>;
  }[];
  return operations.flatMap(({ operationId, responses }) =>
    Object.entries(responses).flatMap(([status, response]) => {
      const { headers = {}, content = {} } = resolve(response);
      const sent = Object.entries(headers).map(([name, header]) => [
        name.toLowerCase(),
        resolve(header).example,
      ]);
      return Object.entries(content).flatMap(([mediaType, { examples = {} }]) =>
        Object.values(examples).map((example) => {
          const { value } = resolve(example);
          return {
            operationId,
            status: status === 'default' ? 500 : Number(status),
            headers: { ...Object.fromEntries(sent), 'content-type': mediaType },
            body: mediaType.endsWith('json') ? JSON.stringify(value) : String(value),
          };
        }),
      );
    }),
  );
}

function resolve(node: Node): Node {
  if (node.$ref === undefined) return node;
  const steps = node.$ref.slice(2).split('/');
  return resolve(
    steps.reduce((from: unknown, key) => (from as Record<string, unknown>)[key], document) as Node,
  );
}
