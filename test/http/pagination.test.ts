import t from 'tap';
import type { Api, ApiResponse } from '../support/api.ts';
import { startTestService } from '../support/service.ts';

/** The path below the base path that the Link header leads to; undefined on the last page. */
function nextPath({ headers, body }: ApiResponse): string | undefined {
  const link = /^<\/api\/v1(\/[^>]*)>; rel="next"$/.exec(String(headers['link'] ?? ''))?.[1];
  const cursor = link && new URL(link, 'http://x').searchParams.get('cursor');
  if ((cursor ?? null) !== body.next_cursor) throw new Error(`${headers['link']} but ${body.next_cursor}`);
  return link;
}

async function walk(
  api: Api,
  path: string,
  between?: (page: ApiResponse) => Promise<void>,
): Promise<ApiResponse[]> {
  const pages: ApiResponse[] = [];
  for (
    let next: string | undefined = path;
    next !== undefined;
    next = nextPath(pages.at(-1) as ApiResponse)
  ) {
    const page = await api.get(next);
    if (page.status !== 200) throw new Error(page.text);
    pages.push(page);
    await between?.(page);
  }
  return pages;
}

const recordsOf = (pages: ApiResponse[]) => pages.flatMap(({ body }) => body.data);

t.test('the Link header leads through every list, whatever the size of a page', async (t) => {
  const { api } = await startTestService(t);
  for (const port of [1, 2, 3]) await api.post('/webhooks', { url: `https://127.0.0.1:${port}/` });
  const { menu_id } = (await api.get('/menus')).body.data[0];
  for (const path of ['/locations', '/menus', `/menus/${menu_id}/items`, '/webhooks']) {
    const all = recordsOf(await walk(api, `${path}?limit=200`));
    t.ok(all.length >= 3, `${path} has ${all.length}`);
    for (const limit of [1, 2, all.length - 1, all.length, all.length + 1]) {
      const pages = await walk(api, `${path}?limit=${limit}`);
      t.equal(pages.length, Math.ceil(all.length / limit), `${path} by ${limit}`);
      t.strictSame(recordsOf(pages), all);
    }
  }
});

t.test('a page holds 100 records unless asked for another number', async (t) => {
  const { api } = await startTestService(t, { webhooksPerAccount: 101 });
  const [first] = await walk(api, '/menus');
  t.ok(first);
  for (let port = 1; port <= 101; port++) await api.post('/webhooks', { url: `https://127.0.0.1:${port}/` });
  t.strictSame(
    (await walk(api, '/webhooks')).map(({ body }) => body.data.length),
    [100, 1],
  );
});

t.test('the next page keeps the filters', async (t) => {
  const { api } = await startTestService(t);
  const { menu_id } = (await api.get('/menus')).body.data[0];
  const items = recordsOf(await walk(api, `/menus/${menu_id}/items`));
  const name = 'Fish & chips? 50% + 鮭=/#';
  for (const { item_id } of items.slice(0, 5)) {
    const fields = { name, dietary_tags: ['a&b', 'c d'], is_available: false };
    t.equal((await api.put(`/menus/${menu_id}/items/${item_id}`, fields)).status, 200);
  }
  const filter = `q=${encodeURIComponent(name)}&dietary_tag=a%26b&dietary_tag=c%20d&is_available=false&limit=2`;
  const pages = await walk(api, `/menus/${menu_id}/items?${filter}`);
  t.strictSame(
    pages.map(({ body }) => body.data.length),
    [2, 2, 1],
  );
  t.ok(recordsOf(pages).every((item) => item.name === name));
  const raw = await walk(api, `/menus/${menu_id}/items?q=chips?+50&limit=2`);
  t.equal(recordsOf(raw).length, 5, 'a question mark may stand in a value as it is');
});

t.test('nothing is skipped or repeated while records come, go and change between the pages', async (t) => {
  const { api, database } = await startTestService(t);
  const { menu_id } = (await api.get('/menus')).body.data[0];
  const before = recordsOf(await walk(api, `/menus/${menu_id}/items`));
  const doomed: number[] = [before[0].item_id, before[3].item_id, before.at(-1).item_id];
  const model = await database
    .selectFrom('item')
    .select(['account_id', 'location_id', 'menu_id', 'category_id', 'name', 'price', 'sort_order'])
    .where('item_id', '=', before[1].item_id)
    .executeTakeFirstOrThrow();

  const pages = await walk(api, `/menus/${menu_id}/items?limit=2`, async ({ body }) => {
    // One that was shown, one that is still to come, the last; and a new one in front of all others.
    const gone = doomed.shift();
    if (gone !== undefined) await database.deleteFrom('item').where('item_id', '=', gone).execute();
    await api.put(`/menus/${menu_id}/items/${before[1].item_id}`, { sort_order: body.data[0].item_id });
    if (gone !== undefined) {
      await database
        .insertInto('item')
        .values({ ...model, name: 'Late', sort_order: 0 })
        .execute();
    }
  });

  const shown = recordsOf(pages).map(({ item_id }) => item_id);
  t.equal(new Set(shown).size, shown.length, 'no record comes twice');
  const gone = [before[0].item_id, before[3].item_id, before.at(-1).item_id];
  const stayed = before.map(({ item_id }) => item_id).filter((id) => !gone.includes(id));
  t.strictSame(
    stayed.filter((id) => !shown.includes(id)),
    [],
    'no record that was there all along is left out',
  );
  t.ok(recordsOf(pages).filter(({ name }) => name === 'Late').length >= 2, 'new ones join at the end');
});
