import t, { type Test } from 'tap';
import type { Api } from '../support/api.ts';
import { startTestService } from '../support/service.ts';

async function startWithItem(t: Test): Promise<{ api: Api; path: string; menu: string; etag: string }> {
  const { api } = await startTestService(t);
  const { menu_id } = (await api.get('/menus')).body.data[0];
  const { item_id } = (await api.get(`/menus/${menu_id}/items`)).body.data[0];
  const path = `/menus/${menu_id}/items/${item_id}`;
  const etag = String((await api.get(path)).headers['etag']);
  return { api, path, menu: `/menus/${menu_id}`, etag };
}

t.test('If-None-Match: any of the ETags, strong or weak, or a star saves reading it again', async (t) => {
  const { api, path, etag } = await startWithItem(t);
  t.match(etag, /^"[^"]+"$/, 'a strong tag');
  const read = (ifNoneMatch: string) => api.get(path, { headers: { 'if-none-match': ifNoneMatch } });
  const current = [etag, `W/${etag}`, '*', ' * ', `"x", ${etag}`, `"x",W/"y" ,${etag}`, `"a,b", ${etag}`];
  for (const value of current) {
    const response = await read(value);
    t.equal(response.status, 304, value);
    t.equal(response.headers['etag'], etag);
    t.equal(response.text, '');
    t.type(response.headers['ratelimit'], 'string');
  }
  for (const value of [
    '"x"',
    'W/"x"',
    '',
    '""',
    'garbage',
    etag.slice(1, -1),
    etag.slice(0, -1),
    '"x',
    ',',
  ]) {
    t.equal((await read(value)).status, 200, value || 'empty');
  }
});

t.test('If-None-Match never hides that a record does not exist', async (t) => {
  const { api, menu } = await startWithItem(t);
  const headers = { 'if-none-match': '*' };
  t.equal((await api.get(`${menu}/items/9007199254740991`, { headers })).status, 404);
  t.equal((await api.get('/menus/9007199254740991', { headers })).status, 404);
});

t.test(
  'If-Match: a write takes place only when one of the strong tags is current, or with a star',
  async (t) => {
    const { api, path } = await startWithItem(t);
    let price = 1;
    const write = async (ifMatch: (etag: string) => string) => {
      const etag = String((await api.get(path)).headers['etag']);
      price += 1;
      return api.put(path, { price }, { headers: { 'if-match': ifMatch(etag) } });
    };
    for (const value of [
      (etag: string) => etag,
      () => '*',
      () => ' * ',
      (etag: string) => `"x", W/"y",${etag}`,
    ]) {
      const response = await write(value);
      t.match(response, { status: 200, body: { data: { price } } }, String(value));
    }
    const { version } = (await api.get(path)).body.data;
    const refused = [
      (etag: string) => `W/${etag}`,
      () => '"x"',
      () => '"0", "1"',
      () => '',
      () => 'garbage',
      () => '""',
    ];
    for (const value of refused) {
      const response = await write(value);
      t.match(response, { status: 412, body: { code: 'precondition_failed' } }, String(value));
      const toggled = await api.post(`${path}/toggle`, undefined, { headers: { 'if-match': value('"x"') } });
      t.equal(toggled.status, 412);
    }
    t.equal((await api.get(path)).body.data.version, version, 'nothing was changed');
  },
);

t.test('an ETag belongs to one state: a change gives another', async (t) => {
  const { api, path, menu, etag } = await startWithItem(t);
  const menuTag = String((await api.get(menu)).headers['etag']);
  const toggled = await api.post(`${path}/toggle`, undefined, { headers: { 'if-match': etag } });
  t.equal(toggled.status, 200);
  t.not(toggled.headers['etag'], etag);
  t.equal(
    (await api.post(`${path}/toggle`, undefined, { headers: { 'if-match': etag } })).status,
    412,
    'so that a toggle sent twice flips once',
  );
  t.equal((await api.get(path)).headers['etag'], toggled.headers['etag']);
  t.equal(
    (await api.get(menu, { headers: { 'if-none-match': menuTag } })).status,
    200,
    'the menu changed too',
  );
});
