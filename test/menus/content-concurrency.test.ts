import type { IncomingMessage } from 'node:http';
import { sql } from 'kysely';
import t from 'tap';
import { request } from 'undici';
import { eventually } from '../support/eventually.ts';
import { whileItemsAreLocked } from '../support/locked-items.ts';
import { startTestService } from '../support/service.ts';

const { api, app, client, database, url } = await startTestService(t);
const path = '/menus/1/content?dry_run=true';
const document = { data: { categories: [] } };
const limited = { status: 429, body: { code: 'concurrency_limited' }, headers: { 'retry-after': '1' } };

t.test('a client can have two imports in progress, and the next is told to retry later', async (t) => {
  const statuses: number[] = [];
  const send = async () => void statuses.push((await api.put(path, document)).status);
  const other = await client();
  const third = await whileItemsAreLocked(database, send, 2, async () => {
    const headers = { 'content-type': 'application/json' };
    const broken = await other.call('PUT', path, { body: '[', headers });
    t.equal(broken.status, 422, 'another client is not refused');
    return api.put(path, document);
  });
  t.match(third, limited);
  t.strictSame(statuses, [200, 200]);
  t.equal((await api.put(path, document)).status, 200, 'once they have ended there is room');
});

t.test('the large imports of one client do not hold up those of another', async (t) => {
  const other = await client();
  // Wrong at its end, so that the response is small.
  const described = { name: 'Salmon', description: 'x'.repeat(200), price: 1, allergens: ['fish', 'milk'] };
  const items = Array.from({ length: 10_000 }, (_, n) => ({ ...described, external_id: `${n % 9_999}` }));
  const body = JSON.stringify({ data: { categories: [{ external_id: 'all', name: 'All', items }] } });
  const headers = { 'content-type': 'application/json' };
  const responded: string[] = [];
  const send = async (by: typeof api, name: string) => {
    const { status } = await by.call('PUT', path, { body, headers });
    t.equal(status, 422);
    responded.push(name);
  };
  // Starts both threads.
  await Promise.all([send(api, 'one'), send(other, 'another')]);
  responded.length = 0;
  let arrived = 0;
  const count = () => {
    arrived += 1;
  };
  app.server.on('request', count);
  const first = [send(api, 'one'), send(api, 'one')];
  await eventually('both have arrived', async () => arrived >= 2);
  await Promise.all([...first, send(other, 'another')]);
  app.server.off('request', count);
  t.equal(responded.at(-1), 'one', 'the second of the first client waits for the first');
});

t.test('a refused import frees its place as well', async (t) => {
  for (const _ of [1, 2, 3]) t.equal((await api.put(path, { data: 1 })).status, 422);
  const headers = { 'content-type': 'text/plain' };
  for (const _ of [1, 2, 3]) t.equal((await api.call('PUT', path, { body: 'x', headers })).status, 415);
});

t.test('an import whose client has gone keeps its place until it has ended', async (t) => {
  const gone = new AbortController();
  const token = await api.token();
  const abandoned = () =>
    request(`${url}/api/v1${path}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(document),
      signal: gone.signal,
    }).catch(() => undefined);
  const third = await whileItemsAreLocked(database, abandoned, 2, async () => {
    gone.abort();
    return api.put(path, document);
  });
  t.match(third, limited);
  await eventually('there is room again', async () => (await api.put(path, document)).status === 200);
});

t.test('calls whose client goes before it is authenticated leave no place behind', async (t) => {
  for (const [method, path, count] of [
    ['PUT', '/menus/1/content?dry_run=true', 2],
    ['GET', '/menus/1/content', 16],
  ] as const) {
    const other = await client();
    const authorization = `Bearer ${await other.token()}`;
    const json = JSON.stringify(document);
    const gone = new AbortController();
    await database.transaction().execute(async (transaction) => {
      await sql`lock table client in access exclusive mode`.execute(transaction);
      let open = 0;
      const track = ({ socket }: IncomingMessage) => {
        open += 1;
        socket.once('close', () => {
          open -= 1;
        });
      };
      app.server.on('request', track);
      const calls = Array.from({ length: count }, () =>
        request(`${url}/api/v1${path}`, {
          method,
          headers: { authorization, ...(method === 'PUT' && { 'content-type': 'application/json' }) },
          ...(method === 'PUT' && { body: json }),
          signal: gone.signal,
        }).catch(() => undefined),
      );
      await eventually('they are being authenticated', async () => open === count);
      gone.abort();
      await Promise.all(calls);
      await eventually('their connections have ended', async () => open === 0);
      app.server.off('request', track);
    });
    const options = method === 'PUT' ? { json: document } : {};
    t.equal((await other.call(method, path, options)).status, 200, path);
  }
});

t.test('a client can have sixteen exports in progress, and the next is told to retry later', async (t) => {
  const path = '/menus/1/content';
  const statuses: number[] = [];
  const ten = () =>
    Promise.all(
      Array.from({ length: 10 }, async () => {
        const response = await api.get(path);
        if (response.status !== 200) t.match(response, limited);
        statuses.push(response.status);
      }),
    );
  const other = await client();
  await whileItemsAreLocked(database, ten, 2, async () => {
    await eventually('four of twenty are refused', async () => statuses.length >= 4);
    t.strictSame(statuses, [429, 429, 429, 429]);
    const headers = { 'content-type': 'application/json' };
    const broken = await other.call('PUT', '/menus/1/content', { body: '[', headers });
    t.equal(broken.status, 422, 'another client is not refused');
  });
  t.strictSame(statuses.toSorted(), [...Array(16).fill(200), ...Array(4).fill(429)]);
  t.equal((await api.get(path)).status, 200, 'once they have ended there is room');
});
