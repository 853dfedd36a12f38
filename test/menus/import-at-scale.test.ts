import t, { type Test } from 'tap';
import { startFlood } from '../support/flood.ts';
import { makeLocation, makeMenu } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const { url, api, client, database } = await startTestService(t);
const { location_id } = await makeLocation(api);
const mebibyte = 1_048_576;
// Seconds; a quiet machine takes one or two.
const few = 15;

interface Content {
  data: { categories: { external_id: string; name: string; items: Item[] }[] };
}
interface Item {
  external_id: string;
  name: string;
  description: string;
  price: number;
  allergens: string[];
}

/** A document of 50 categories with `count` items, of some 300 bytes each. */
function document(count: number): Content {
  const items = Array.from({ length: count }, (_, index) => ({
    external_id: `I${index}`,
    name: `握り Nigiri ${index}`,
    description: 'Two pieces, hand-pressed, with a touch of wasabi and a brush of soy. '.repeat(3),
    price: index / 4,
    allergens: ['fish', 'soy', 'wheat'],
  }));
  const categories = Array.from({ length: 50 }, (_, index) => ({
    external_id: `C${index}`,
    name: `Category ${index}`,
    items: items.filter((_, item) => item % 50 === index),
  }));
  return { data: { categories } };
}

const newMenu = async () => {
  const { menu_id } = await makeMenu(api, location_id);
  return { menu_id, path: `/menus/${menu_id}/content` };
};

async function compareCsv(t: Test, path: string): Promise<void> {
  const { text } = await api.get(path, { headers: { accept: 'text/csv' } });
  t.ok(text.length > mebibyte, 'larger than other bodies may be');
  const body = text.replaceAll('fish;soy;wheat', 'fish;soy');
  const started = performance.now();
  const response = await api.call('PUT', `${path}?dry_run=true`, {
    body,
    headers: { 'content-type': 'text/csv' },
  });
  t.ok(performance.now() - started < few * 1_000);
  t.equal(response.body.data.items.updated.length, 5_000, 'as CSV');
}

async function countEvents(menu_id: number): Promise<Record<string, number>> {
  const rows = await database
    .selectFrom('event')
    .select(({ fn }) => ['type', fn.countAll<number>().as('count')])
    .where('menu_id', '=', menu_id)
    .where('type', '<>', 'menu.created')
    .groupBy('type')
    .execute();
  return Object.fromEntries(rows.map(({ type, count }) => [type, Number(count)]));
}

t.test('five thousand items are created, changed and deleted in a few seconds each', async (t) => {
  const { menu_id, path } = await newMenu();
  const content = document(5_000);
  const steps: Record<string, () => Content> = {
    created: () => content,
    unchanged: () => content,
    updated: () => {
      for (const { items } of content.data.categories) {
        for (const item of items) Object.assign(item, { price: item.price + 1, is_available: false });
      }
      return content;
    },
    deleted: () => ({ data: { categories: [] } }),
  };
  for (const [what, change] of Object.entries(steps)) {
    const wanted = change();
    const dry = await api.put(`${path}?dry_run=true`, wanted);
    const started = performance.now();
    const real = await api.put(path, wanted);
    const seconds = (performance.now() - started) / 1000;
    t.ok(seconds < few, `${what}: ${seconds.toFixed(1)} s`);
    t.strictSame(real.body.data, { ...dry.body.data, dry_run: false });
    const list = real.body.data.items[what];
    t.equal(Array.isArray(list) ? list.length : list, 5_000);
    if (what === 'created') await compareCsv(t, path);
  }
  t.strictSame(await countEvents(menu_id), {
    'category.created': 50,
    'category.deleted': 50,
    'item.created': 5_000,
    'item.updated': 5_000,
    'item.toggled': 5_000,
    'item.deleted': 5_000,
  });
});

t.test('the limits are ten thousand items and sixteen mebibytes', async (t) => {
  const { menu_id, path } = await newMenu();
  const tooMany = await api.put(`${path}?dry_run=true`, document(10_001));
  t.match(tooMany, { status: 422, body: { errors: [{ field: '/data/categories', code: 'too_many' }] } });
  t.equal((await api.put(`${path}?dry_run=true`, document(10_000))).body.data.items.created.length, 10_000);
  const categories = Array.from({ length: 1_001 }, (_, i) => ({
    external_id: `C${i}`,
    name: 'C',
    items: [],
  }));
  t.match(await api.put(path, { data: { categories } }), { status: 422 });

  const headers = { 'content-type': 'application/json' };
  const body = Buffer.alloc(16 * mebibyte + 1, ' ');
  body.write('{"data":{"categories":[]}}');
  t.equal((await api.call('PUT', path, { headers, body: body.subarray(0, -1) })).status, 200);
  t.equal((await api.call('PUT', path, { headers, body })).status, 413);
  const menu = `/menus/${menu_id}`;
  t.equal(
    (await api.call('PUT', menu, { headers, body: body.subarray(0, mebibyte + 1) })).status,
    413,
    'here alone',
  );
});

t.test('the largest document is imported while others keep the server busy', async (t) => {
  const busy = await newMenu();
  t.equal((await api.put(busy.path, document(1_000))).status, 200);
  const { path } = await newMenu();
  const content = document(10_000);
  const room = 16 * mebibyte - Buffer.byteLength(JSON.stringify(content));
  for (const { items } of content.data.categories)
    for (const item of items) item.description += 'x'.repeat(Math.floor(room / 10_000));
  const others = await client();
  const calls = ['wasabi', 'soy'].map((q) => {
    return { method: 'GET', path: `/menus/${busy.menu_id}/items?q=${q}&limit=1000` } as const;
  });
  const end = startFlood({ url, token: await others.token(), calls, connections: 4 });
  const { status, body } = await api.put(path, content);
  const { served } = await end();
  t.equal(status, 200);
  t.equal(body.data.items.created.length, 10_000);
  t.ok(served.length > 0);
});

t.test('of very many errors the first hundred are listed, at little cost', async (t) => {
  const { path } = await newMenu();
  const content = document(3_000);
  for (const { items } of content.data.categories) for (const item of items) item.price = -0.001;
  const response = await api.put(path, content);
  t.equal(response.status, 422);
  t.equal(response.body.errors.length, 100);
  t.match(response.body.detail, /^The first 100 errors; there are more: /);

  const headers = { 'content-type': 'application/json' };
  for (const body of [
    `{"data":{"categories":[${'1,'.repeat(6_000_000)}1]}}`,
    `[${'[],'.repeat(4_000_000)}[]]`,
  ]) {
    const started = performance.now();
    t.equal((await api.call('PUT', path, { headers, body })).status, 422);
    t.ok(performance.now() - started < 3_000);
  }
  const labels = `record,category_external_id,external_id,name,price,allergens\nitem,N,S,x,1,${';'.repeat(8_000_000)}`;
  t.equal(
    (await api.call('PUT', path, { headers: { 'content-type': 'text/csv' }, body: labels })).status,
    422,
  );
  const rows = `record\n${'x\n'.repeat(4_000_000)}`;
  t.equal((await api.call('PUT', path, { headers: { 'content-type': 'text/csv' }, body: rows })).status, 422);
});
