import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import t from 'tap';
import { defaultPoolSize, openDatabase } from '../../src/db/database.ts';
import { type DistantCall, distantClient } from '../support/distant-client.ts';
import { startFlood } from '../support/flood.ts';
import { makeCategory, makeItem, makeLocation, makeMenu, makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';
import { waiters, whileLocked } from '../support/while-locked.ts';

const connections = 50;
const itemsPerMenu = 1_000;
const floodMs = 300;
// Of a machine that does other things as well; whoever waits with the flood waits for longer, or gets 503.
const longestWaitMs = 3_000;
const usualWaitMs = 250;

const { url, api: loud, client, connection } = await startTestService(t);
const quiet = await client({ account: 'A quiet neighbour' });
const neighbour = await makeTree(quiet);
const probe = distantClient(t, { url, token: await quiet.token() });
const toggle: DistantCall = {
  method: 'POST',
  path: `/menus/${neighbour.menu.menu_id}/items/${neighbour.item.item_id}/toggle`,
};

const { location_id } = await makeLocation(loud);
const menus = [await largeMenu(), await largeMenu()];
const webhook = { url: 'https://hooks.example.com/', enabled: false };
const webhookPath = `/webhooks/${(await loud.post('/webhooks', webhook)).body.data.webhook_id}`;

const get = (path: string): DistantCall => ({ method: 'GET', path });
const send = (method: 'POST' | 'PUT', path: string, body: object): DistantCall => ({
  method,
  path,
  body: JSON.stringify(body),
});
const each = (call: (menu: LargeMenu, on: boolean) => DistantCall): DistantCall[] =>
  [true, false].flatMap((on) => menus.map((menu) => call(menu, on)));
const some = [...Array(500).keys()];

const floods: Record<string, DistantCall[]> = {
  'searches by text': [get('/items?q=nigiri&limit=200'), get('/items?q=wasabi&is_available=false')],
  'lists by text': each(({ path }) => get(`${path}/items?q=soy&limit=1000`)),
  'the largest pages': each(({ path }) => get(`${path}/items?limit=1000`)),
  'menus that change between reads': each(({ path, items: [item] }, on) =>
    on ? get(path) : { method: 'POST', path: `${path}/items/${item}/toggle` },
  ),
  'availability of 500 items of a menu': each(({ path, items }, is_available) =>
    send('POST', `${path}/availability`, {
      items: some.map((n) => ({ item_id: items[n], is_available })),
    }),
  ),
  'availability of 500 items of a location': each((_, is_available) =>
    send('POST', `/locations/${location_id}/availability`, {
      items: some.map((n) => ({ external_id: `I${n}`, is_available })),
    }),
  ),
  'what can be ordered': each(({ path }) => get(`${path}/availability`)),
  exports: each(({ path }) => get(`${path}/content`)),
  'imports on trial': each(({ path }) => send('PUT', `${path}/content?dry_run=true`, document(9))),
  imports: each(({ path }, on) => send('PUT', `${path}/content`, document(on ? 2 : 3))),
  'orders of a menu': each(({ path, category_id, items }, on) =>
    send('PUT', `${path}/order`, { categories: [{ category_id, items: on ? items : items.toReversed() }] }),
  ),
  'the event feed': [get('/events?limit=200'), get('/events?type=item.deleted&limit=200')],
  replays: [send('POST', `${webhookPath}/replay`, { since: new Date(Date.now() - 1_000).toISOString() })],
};

t.test('calls of one client that wait for a lock occupy half of the connections', async (t) => {
  const { menu } = await makeTree(loud);
  const create = () => loud.post(`/menus/${menu.menu_id}/categories`, { name: 'Waits for its menu' });
  const half = Array.from({ length: defaultPoolSize / 2 }, () => create);
  const queued: ReturnType<typeof create>[] = [];
  const aside = openDatabase(connection, { max: 2 });
  t.teardown(() => aside.destroy());
  const begun = await whileLocked(aside, ['menu', menu.menu_id], half, async () => {
    for (let more = 0; more < defaultPoolSize; more += 1) queued.push(create());
    const others = half.map(() => quiet.get('/locations'));
    for (const { status } of await Promise.all(others)) t.equal(status, 200, 'another account is served');
    t.equal((await quiet.post(toggle.path)).status, 200);
  });
  for (const { status } of [...begun, ...(await Promise.all(queued))]) t.equal(status, 201, 'in the end');
});

t.test('shared statements that wait for many menus occupy half of the connections too', async (t) => {
  const location = await makeLocation(loud);
  const paths: string[] = [];
  for (let made = 0; made < 2 * defaultPoolSize; made += 1) {
    const category = await makeCategory(loud, (await makeMenu(loud, location.location_id)).menu_id);
    const { menu_id, item_id } = await makeItem(loud, category);
    paths.push(`/menus/${menu_id}/items/${item_id}/toggle`);
  }
  const aside = openDatabase(connection, { max: 2 });
  t.teardown(() => aside.destroy());
  const begun = await aside.transaction().execute(async (transaction) => {
    await sql`select from menu where location_id = ${location.location_id} for update`.execute(transaction);
    const begun = [...paths, ...paths].map((path) => loud.post(path));
    await waiters(aside, defaultPoolSize / 2);
    await probed(300);
    t.equal((await waiters(aside, 1)).length, defaultPoolSize / 2);
    return begun;
  });
  for (const { status } of await Promise.all(begun)) t.equal(status, 200, 'in the end');
});

for (const others of ['nobody else', 'another account'])
  t.test(
    `a call that gets no connection of its client, while ${others} asks anything, is told to retry later`,
    async (t) => {
      const { menu } = await makeTree(loud);
      const create = () => loud.post(`/menus/${menu.menu_id}/categories`, { name: 'Waits for its menu' });
      const half = Array.from({ length: defaultPoolSize / 2 }, () => create);
      const patient = openDatabase(connection, { max: 2 });
      t.teardown(() => patient.destroy());
      await whileLocked(patient, ['menu', menu.menu_id], half, async () => {
        const [refused] = await Promise.all([
          loud.get('/locations'),
          ...(others === 'another account' ? [probed(3_000)] : []),
        ]);
        t.match(refused, {
          status: 429,
          body: { code: 'concurrency_limited' },
          headers: { 'retry-after': '1' },
        });
      });
      t.equal((await loud.get('/locations')).status, 200);
    },
  );

t.test('who reads a menu does not wait with another client whose calls wait for each other', async (t) => {
  const friend = await client();
  const { menu } = await makeTree(loud);
  const path = `/menus/${(await makeTree(loud)).menu.menu_id}`;
  await friend.get('/locations');
  const create = () => loud.post(`/menus/${menu.menu_id}/categories`, { name: 'Waits for its menu' });
  const half = Array.from({ length: defaultPoolSize / 2 }, () => create);
  const aside = openDatabase(connection, { max: 2 });
  t.teardown(() => aside.destroy());
  const reads = await whileLocked(aside, ['menu', menu.menu_id], half, async () => {
    const waiting = [1, 2, 3].flatMap(() => [loud.get(path), loud.get(`${path}/availability`)]);
    await pause(50);
    for (const read of [path, `${path}/availability`]) {
      const { status } = await Promise.race([friend.get(read), ...waiting]);
      t.equal(status, 200, read);
    }
    return waiting;
  });
  t.ok(reads.length > 0);
});

t.test('a client that revokes tokens occupies half of the connections', async (t) => {
  const { client_id, client_secret } = loud.credentials;
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const secret = new URLSearchParams({ client_id, client_secret }).toString();
  const aside = openDatabase(connection, { max: 2 });
  t.teardown(() => aside.destroy());
  const tokens: string[] = [];
  for (let made = 0; made < 2 * defaultPoolSize; made += 1) {
    const body = `grant_type=client_credentials&${secret}`;
    const options = { token: null, headers, body };
    tokens.push((await loud.call('POST', '/oauth/token', options)).body.access_token);
  }
  const begun = await aside.transaction().execute(async (transaction) => {
    await sql`lock table revoked_token in share mode`.execute(transaction);
    const begun = tokens.map((token) =>
      loud.call('POST', '/oauth/revoke', { token: null, headers, body: `token=${token}&${secret}` }),
    );
    await waiters(aside, defaultPoolSize / 2);
    await probed(300);
    return begun;
  });
  for (const { status } of await Promise.all(begun)) t.equal(status, 200, 'in the end');
});

t.test('a flood of heavy calls by one client does not make another account wait', async (t) => {
  const token = await loud.token();
  await probed(200);
  for (const [what, calls] of Object.entries(floods)) {
    const end = startFlood({ url, token, calls, connections });
    await pause(100);
    const waits = await probed(floodMs);
    const { responses, served } = await end();
    const longest = Math.round(Math.max(...waits));
    const found = `${JSON.stringify(responses)}, served in ${middle(served)} ms; ${waits.length} toggles beside them, the longest took ${longest}`;
    t.comment(`${what}: ${found}`);
    t.ok(longest < longestWaitMs && middle(waits) < usualWaitMs, `${what}: ${found}`);
    t.ok(served.length > 0, `${what} are served at all: ${found}`);
  }
});

interface LargeMenu {
  path: string;
  category_id: number;
  items: number[];
}

async function largeMenu(): Promise<LargeMenu> {
  const { menu_id } = await makeMenu(loud, location_id);
  const path = `/menus/${menu_id}`;
  const { status, text } = await loud.put(`${path}/content`, document(1));
  if (status !== 200) throw new Error(text);
  const [{ category_id, items }] = (await loud.get(path)).body.data.categories;
  return { path, category_id, items: items.map(({ item_id }: { item_id: number }) => item_id) };
}

function document(price: number): object {
  const items = Array.from({ length: itemsPerMenu }, (_, n) => ({
    external_id: `I${n}`,
    name: `握り Nigiri ${n}`,
    description: 'Two pieces, hand-pressed, with a touch of wasabi and a brush of soy. '.repeat(3),
    price,
    allergens: ['fish', 'soy', 'wheat'],
  }));
  return { data: { categories: [{ external_id: 'C', name: 'C', items }] } };
}

/** Toggles one after the other. @returns how long each took, in ms */
async function probed(forMs: number): Promise<number[]> {
  const waits: number[] = [];
  const until = performance.now() + forMs;
  while (performance.now() < until || waits.length < 20) {
    const started = performance.now();
    const { status } = await probe(toggle);
    waits.push(performance.now() - started);
    if (status !== 200) throw new Error(`a toggle beside it got ${status}`);
    await pause(2);
  }
  return waits;
}

function middle(values: number[]): number {
  return Math.round(values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0);
}
