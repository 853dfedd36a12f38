import t from 'tap';
import { blocksRunBy } from '../docs/blocks.ts';
import { commandsOf } from '../docs/terminal.ts';
import { admin, done } from '../support/admin.ts';
import type { Api } from '../support/api.ts';
import { startCells } from '../support/cells.ts';
import { environmentOf } from '../support/process.ts';
import { notInstalled, type RunningProxy } from '../support/proxies.ts';
import { emptyDatabase, startTestService } from '../support/service.ts';

const [, numbering] = blocksRunBy(import.meta.url);
const [, chooseCell = ''] = (numbering ? commandsOf(numbering)[0]?.line : '')?.split(' admin -- ') ?? [];
const caller = '127.0.0.1';
const form = { 'content-type': 'application/x-www-form-urlencoded' };

t.test('HAProxy puts two cells behind one address', { skip: notInstalled('haproxy') }, async (t) => {
  const [first, second] = [await startTestService(t), await startTestService(t)];
  const { proxy } = await startCells(t, [first.url, second.url], second.api);

  await t.test('a client gets its token from its own cell, by HTTP Basic and in the form', async (t) => {
    for (const { credentials } of [first.api, second.api]) {
      const { client_id, client_secret } = credentials;
      const basic = { authorization: `Basic ${btoa(`${client_id}:${client_secret}`)}` };
      t.equal((await ask(proxy, basic)).status, 200);
      t.equal((await ask(proxy, {}, { client_id, client_secret })).status, 200);
      t.equal((await ask(proxy, {}, { client_id, client_secret: 'wrong' })).status, 401);
    }
    t.equal((await ask(proxy, {}, { client_id: 'client_of_nobody', client_secret: 'x' })).status, 401);
  });

  await t.test('its calls go there and nowhere else', async (t) => {
    for (const { api } of [first, second]) {
      const name = `Only in ${api.url}`;
      const body = JSON.stringify({ ...location, name });
      const created = await proxy.send(caller, '/api/v1/locations', {
        method: 'POST',
        headers: { ...(await bearer(api)), 'content-type': 'application/json' },
        body,
      });
      t.equal(created.status, 201, created.text);
      const { location_id } = JSON.parse(created.text).data;
      t.equal((await api.get(`/locations/${location_id}`)).body.data.name, name);
    }
    const other = await first.api.get('/locations?limit=100');
    t.notMatch(other.text, second.url);
  });

  await t.test('a token that names a client of another cell is refused there', async (t) => {
    const [head, , signature] = (await first.api.token()).split('.');
    const [, claims] = (await second.api.token()).split('.');
    const forged = { authorization: `Bearer ${head}.${claims}.${signature}` };
    t.equal((await proxy.send(caller, '/api/v1/menus', { headers: forged })).status, 401);
    t.equal((await first.api.get('/menus', { token: await second.api.token() })).status, 401);
  });

  await t.test('only its own clients notice a cell that is down', async (t) => {
    await second.app.close();
    t.equal((await proxy.send(caller, '/api/v1/menus', { headers: await bearer(second.api) })).status, 503);
    t.equal((await proxy.send(caller, '/api/v1/menus', { headers: await bearer(first.api) })).status, 200);
  });
});

t.test('a cell is given its number once', async (t) => {
  const env = environmentOf(await emptyDatabase(t));
  t.match(await done(t, env, ...chooseCell.split(' ')), { cell: 1 });
  t.match(await done(t, env, 'migrate', '--cell', '1023'), { cell: 1023 });
  t.match(await done(t, env, 'migrate', '--cell', '7'), { cell: 7 }, 'as long as it is empty');
  t.match(await admin(t, env, 'migrate', '--cell', '1024'), { ended: 2, stderr: /from 0 to 1023/ });
  const { account_id } = await done(t, env, 'create-client', '--account', 'Acme');
  t.equal(account_id, 7 * 2 ** 43 + 1);
  t.match(await done(t, env, 'migrate', '--cell', '7'), { cell: 7 });
  t.match(await admin(t, env, 'migrate', '--cell', '8'), {
    ended: 1,
    stderr: /this is cell 7, and has given ids/,
  });
});

const location = {
  address: { line1: '1 High Street', city: 'York', postal_code: 'YO1 8RL', country: 'GB' },
  timezone: 'Europe/London',
  currency: 'GBP',
};

async function bearer(api: Api): Promise<{ authorization: string }> {
  return { authorization: `Bearer ${await api.token()}` };
}

function ask(proxy: RunningProxy, headers: Record<string, string>, credentials = {}) {
  const body = new URLSearchParams({ grant_type: 'client_credentials', ...credentials }).toString();
  return proxy.send(caller, '/api/v1/oauth/token', {
    method: 'POST',
    headers: { ...form, ...headers },
    body,
  });
}
