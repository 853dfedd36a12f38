import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { eventually } from '../support/eventually.ts';
import { makeCategory, makeItem, makeLocation, makeMenu } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api, database } = service;
const { location_id } = await makeLocation(api);

/** A menu with an item of each name, or of each name and description. */
async function menuOf(...items: (string | [name: string, description: string])[]) {
  const { menu_id } = await makeMenu(api, location_id);
  const category = await makeCategory(api, menu_id);
  for (const item of items) {
    const [name, description = ''] = [item].flat();
    await makeItem(api, category, { name, description });
  }
  return { menu_id, category };
}

async function find(menu_id: number, query: Record<string, string>): Promise<string[]> {
  const response = await api.get(`/menus/${menu_id}/items?${new URLSearchParams(query)}`);
  if (response.status !== 200) throw new Error(response.text);
  return response.body.data.map(({ name }: { name: string }) => name);
}

async function requireFound(t: Test, menu_id: number, q: string, names: string[]): Promise<void> {
  t.strictSame(await find(menu_id, { q }), names, JSON.stringify(q));
}

// First, while nothing else has searched.
t.test('an index serves q in a big menu', async (t) => {
  const { menu_id, category } = await menuOf();
  const { account_id } = api.credentials;
  await sql`insert into item (account_id, location_id, menu_id, category_id, name, price, sort_order)
    select ${account_id}, ${location_id}, ${menu_id}, ${category.category_id}, 'Dish ' || md5(n::text), 1, n
    from generate_series(1, 9999) as n`.execute(database);
  await makeItem(api, category, { name: '特上サーモン握り', sort_order: 1 });
  // As autovacuum does in its own time: the index takes in what is pending, the planner learns what there is.
  await sql`vacuum analyze item`.execute(database);
  const scans = async () => {
    const { rows } = await sql<{ count: number }>`
      select idx_scan as count from pg_stat_user_indexes where indexrelname = 'item_search'`.execute(
      database,
    );
    return Number(rows[0]?.count);
  };
  t.equal(await scans(), 0);
  t.strictSame(await find(menu_id, { q: 'サーモン' }), ['特上サーモン握り']);
  await eventually('the index was scanned', async () => {
    await find(menu_id, { q: 'ＳＡＬＭＯＮ' });
    return (await scans()) > 0;
  });
  t.pass('the index was scanned');
});

t.test('q finds in every script, whatever the case, width or composition of the letters', async (t) => {
  const names = [
    'Salmon Nigiri',
    'ＳＡＬＭＯＮ roll',
    'サーモン握り',
    'Crème Brûlée',
    'Straße',
    'Μόσχος στον ΦΟΎΡΝΟ',
    'Борщ украинский',
    'شاورما دجاج',
    '김치찌개',
    'ต้มยำกุ้ง',
    '🍣 special',
  ];
  const { menu_id } = await menuOf(...names);
  await requireFound(t, menu_id, 'sAlMoN', ['Salmon Nigiri', 'ＳＡＬＭＯＮ roll']);
  await requireFound(t, menu_id, 'ｓａｌｍｏｎ', ['Salmon Nigiri', 'ＳＡＬＭＯＮ roll']);
  await requireFound(t, menu_id, 'サーモン', ['サーモン握り']);
  await requireFound(t, menu_id, 'ｻｰﾓﾝ', ['サーモン握り']);
  await requireFound(t, menu_id, 'CRÈME', ['Crème Brûlée']);
  await requireFound(t, menu_id, 'creme'.replace('e', 'e\u0300'), ['Crème Brûlée']);
  await requireFound(t, menu_id, 'STRASSE', ['Straße']);
  await requireFound(t, menu_id, 'ΜΌΣ', ['Μόσχος στον ΦΟΎΡΝΟ']);
  await requireFound(t, menu_id, 'φούρνο', ['Μόσχος στον ΦΟΎΡΝΟ']);
  await requireFound(t, menu_id, 'УКРАИН', ['Борщ украинский']);
  await requireFound(t, menu_id, 'دجاج', ['شاورما دجاج']);
  await requireFound(t, menu_id, '찌개', ['김치찌개']);
  await requireFound(t, menu_id, 'ยำ', ['ต้มยำกุ้ง']);
  await requireFound(t, menu_id, '🍣', ['🍣 special']);
  await requireFound(t, menu_id, 'nowhere', []);
});

t.test('q may be as short as one character', async (t) => {
  const { menu_id } = await menuOf('鮭の塩焼き', '鮪', 'Ox tail', 'a');
  await requireFound(t, menu_id, '鮭', ['鮭の塩焼き']);
  await requireFound(t, menu_id, '塩焼', ['鮭の塩焼き']);
  await requireFound(t, menu_id, 'O', ['Ox tail']);
  await requireFound(t, menu_id, 'a', ['Ox tail', 'a']);
  await requireFound(t, menu_id, ' ', ['Ox tail']);
  t.equal((await api.get(`/menus/${menu_id}/items?q=`)).status, 422);
});

t.test('characters that are wildcards elsewhere are plain text in q', async (t) => {
  const names = [
    '100% Arabica',
    '100 Arabica',
    'a_b',
    'axb',
    'back\\slash',
    "O'Brien",
    'x.*y',
    '[z]',
    '％ off',
  ];
  const { menu_id } = await menuOf(...names);
  await requireFound(t, menu_id, '100%', ['100% Arabica']);
  await requireFound(t, menu_id, '%', ['100% Arabica', '％ off']);
  await requireFound(t, menu_id, '％', ['100% Arabica', '％ off']);
  await requireFound(t, menu_id, 'a_b', ['a_b']);
  await requireFound(t, menu_id, '_', ['a_b']);
  await requireFound(t, menu_id, '\\', ['back\\slash']);
  await requireFound(t, menu_id, '\\s', ['back\\slash']);
  await requireFound(t, menu_id, "'", ["O'Brien"]);
  await requireFound(t, menu_id, '.*', ['x.*y']);
  await requireFound(t, menu_id, '[z', ['[z]']);
  await requireFound(t, menu_id, '%%', []);
});

t.test('q looks into the name and the description, not across both', async (t) => {
  const { menu_id } = await menuOf(['Tea', 'green leaf'], ['Green', 'tea'], ['Coffee', 'black']);
  await requireFound(t, menu_id, 'green', ['Tea', 'Green']);
  await requireFound(t, menu_id, 'leaf', ['Tea']);
  await requireFound(t, menu_id, 'green tea', []);
  await requireFound(t, menu_id, 'tea green', []);
});

t.test('another spelling of a label does not hide an allergen', async (t) => {
  const { menu_id, category } = await menuOf();
  for (const allergens of [['ｆｉｓｈ'], [' FISH '], ['ΨΆΡΙΑ', 'milk'], ['soy']]) {
    await makeItem(api, category, { name: allergens[0]?.trim(), allergens });
  }
  t.strictSame(await find(menu_id, { allergen_free: 'fish' }), ['ΨΆΡΙΑ', 'soy']);
  t.strictSame(await find(menu_id, { allergen_free: 'ψάρια' }), ['ｆｉｓｈ', 'FISH', 'soy']);
});

t.test('q combines with the other filters', async (t) => {
  const { menu_id, category } = await menuOf();
  const other = await makeCategory(api, menu_id);
  const item = { name: 'Salmon one', dietary_tags: ['raw'], allergens: ['fish'] };
  const old = await makeItem(api, category, { ...item, name: 'Salmon zero' });
  await eventually('the clock has moved on', async () => Date.now() > Date.parse(old.updated_at));
  const wanted = await makeItem(api, category, item);
  await makeItem(api, category, { ...item, name: 'Tuna' });
  await makeItem(api, other, { ...item, name: 'Salmon two' });
  await makeItem(api, category, { ...item, name: 'Salmon three', dietary_tags: [] });
  await makeItem(api, category, { ...item, name: 'Salmon four', is_available: false });
  await makeItem(api, category, { ...item, name: 'Salmon five', allergens: ['milk'] });
  const filters: Record<string, string> = {
    q: 'SALMON',
    category_id: String(category.category_id),
    dietary_tag: 'raw',
    is_available: 'true',
    allergen_free: 'milk',
    updated_since: wanted.updated_at,
  };
  t.strictSame(await find(menu_id, filters), ['Salmon one']);
  for (const left of Object.keys(filters)) {
    const { [left]: _, ...others } = filters;
    t.equal((await find(menu_id, others)).length, 2, `${left} counts`);
  }
});

t.test('updated_since is exact to the millisecond that the item shows', async (t) => {
  const { menu_id } = await menuOf('One');
  const { updated_at } = (await api.get(`/menus/${menu_id}/items`)).body.data[0];
  const at = (ms: number) => new Date(Date.parse(updated_at) + ms).toISOString();
  const east = `${new Date(Date.parse(updated_at) + 2 * 3_600_000).toISOString().slice(0, -1)}+02:00`;
  t.strictSame(await find(menu_id, { updated_since: updated_at }), ['One']);
  t.strictSame(await find(menu_id, { updated_since: east }), ['One']);
  t.strictSame(await find(menu_id, { updated_since: at(-1) }), ['One']);
  t.strictSame(await find(menu_id, { updated_since: at(1) }), []);
  t.strictSame(await find(menu_id, { updated_since: updated_at.replace('Z', '001Z') }), []);
});

t.test('a client that polls with updated_since sees what changed, even by an import', async (t) => {
  const { menu_id, category } = await menuOf('One', 'Two', 'Three');
  const followed = async () => {
    const { data } = (await api.get(`/menus/${menu_id}/items`)).body;
    return data
      .map(({ updated_at }: { updated_at: string }) => updated_at)
      .toSorted()
      .at(-1);
  };
  const [, two, three] = (await api.get(`/menus/${menu_id}/items`)).body.data;
  const since = new Date(Date.parse(await followed()) + 1).toISOString();
  await eventually('the clock has moved on', async () => Date.now() > Date.parse(since));
  await api.post(`/menus/${menu_id}/items/${three.item_id}/toggle`);
  t.strictSame(await find(menu_id, { updated_since: since }), ['Three']);
  const document = (await api.get(`/menus/${menu_id}/content`)).body;
  document.data.categories[0].items[1].price = 99;
  await api.put(`/menus/${menu_id}/content`, document);
  t.strictSame(await find(menu_id, { updated_since: since }), ['Two', 'Three']);
  await api.put(`/menus/${menu_id}/items/${two.item_id}`, { price: 99 });
  t.strictSame(
    await find(menu_id, { updated_since: since }),
    ['Two', 'Three'],
    'a write without change is none',
  );
  await makeItem(api, category, { name: 'Four' });
  t.strictSame(await find(menu_id, { updated_since: since }), ['Two', 'Three', 'Four']);
});

t.test('pages of a search neither skip nor repeat while others write', async (t) => {
  const { menu_id, category } = await menuOf();
  for (let index = 0; index < 60; index += 1) {
    await makeItem(api, category, { name: index % 2 ? `Salmon ${index}` : `Tuna ${index}` });
  }
  const path = `/menus/${menu_id}/items`;
  const all = (await api.get(path)).body.data;
  const stay = all.filter(({ name }: { name: string }) => name.startsWith('Salmon'));
  let reading = true;
  const write = async () => {
    for (let round = 0; reading; round += 1) {
      const item = stay[round % stay.length];
      await api.post(`${path}/${item.item_id}/toggle`);
      await api.put(`${path}/${item.item_id}`, { sort_order: round, price: round });
      await makeItem(api, category, { name: `Salmon new ${round}` });
      const goner = all.find(({ name }: { name: string }) => name === `Tuna ${round * 2}`);
      if (goner) await api.delete(`${path}/${goner.item_id}`);
    }
  };
  const writing = write();
  for (let time = 0; time < 5; time += 1) {
    const ids: number[] = [];
    let cursor = '';
    do {
      const { body } = await api.get(`${path}?q=salmon&limit=7${cursor && `&cursor=${cursor}`}`);
      ids.push(...body.data.map(({ item_id }: { item_id: number }) => item_id));
      cursor = body.next_cursor ?? '';
    } while (cursor);
    t.strictSame(
      ids,
      [...new Set(ids)].toSorted((a, b) => a - b),
      'each once, in order',
    );
    const missed = stay.filter(({ item_id }: { item_id: number }) => !ids.includes(item_id));
    t.strictSame(missed, [], 'nothing that was there all along is left out');
  }
  reading = false;
  await writing;
});
