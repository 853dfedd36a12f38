import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { noBrowser, startBrowser } from '../support/browser.ts';
import { demoItems } from '../support/items.ts';
import { shot } from '../support/page-looks.ts';
import { authorization, authorize, execute, goTo } from '../support/reference-page.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { authorizes, otherThanRefusal } from './docs-page-authorizes.ts';

t.test('the reference page, tried in Chromium', { skip: noBrowser }, async (t) => {
  const service = await startTestService(t);
  const browser = await startBrowser(t);
  const docs = `${service.url}/docs`;

  t.test('a reader gets a token on it, tries calls and logs out again', async (t) => {
    const { page, faults } = await browser.open(t, docs);
    await authorization(page).authorize.waitFor();
    await shot(page, 'desktop');
    await authorizes(t, page, service);
    await triesCalls(t, page, service);
    await logsOut(t, page, service);
    t.strictSame(otherThanRefusal(faults), [], 'nothing was asked of another host, and nothing went wrong');
  });

  t.test('the requests that it fills in by itself can be sent in the demo account', async (t) => {
    const { page, faults } = await browser.open(t, docs);
    await authorization(page).authorize.waitFor();
    await authorize(page, service.api.credentials);
    await authorization(page).token.waitFor();
    for (const [tag, id] of [
      ['Locations', 'getLocation'],
      ['Menus', 'updateMenu'],
      ['Categories', 'updateCategory'],
      ['Items', 'listItems'],
      ['Items', 'updateItem'],
    ] as const) {
      t.match(await execute(page, await goTo(page, tag, id)), { status: 200 }, id);
    }
    t.strictSame(faults, [], 'nothing was asked of another host, and nothing went wrong');
  });
});

async function triesCalls(t: Test, page: Page, { api }: TestService) {
  const [item] = await demoItems(api);
  const { path, menu_id, item_id } = item;
  const update = await goTo(page, 'Items', 'updateItem');
  const updated = await execute(page, update, { menu_id, item_id }, { body: '{"price": 1250}' });
  t.match(updated, { status: 200, body: { data: { item_id, price: 1250 } } });
  t.equal(JSON.parse(updated.text).data.price, 1250, 'it is shown');
  t.equal(updated.headers['if-match'], undefined);
  t.equal((await api.get(path)).body.data.price, 1250);

  const toggled = await execute(page, await goTo(page, 'Items', 'toggleItem'), { menu_id, item_id });
  t.match(toggled, { status: 200, body: { data: { item_id, is_available: !item.is_available } } });
  t.equal(toggled.headers['idempotency-key'], undefined);
  t.equal((await api.get(path)).body.data.is_available, !item.is_available);

  const get = await goTo(page, 'Items', 'getItem');
  t.match(await execute(page, get, { menu_id, item_id: 999_999 }), {
    status: 404,
    body: { code: 'not_found' },
  });
}

async function logsOut(t: Test, page: Page, { api }: TestService) {
  const { client_id, client_secret } = api.credentials;
  const kept = await page.evaluate(
    'JSON.stringify([location.href, document.cookie, { ...localStorage }, { ...sessionStorage }])',
  );
  t.notMatch(kept, new RegExp(`${client_secret}|${client_id}|eyJ`), 'neither secret nor token is kept');
  await page.goto(`${new URL(page.url()).origin}/docs#description/introduction`);
  await authorization(page).clear.click();
  await authorization(page).authorize.waitFor();
  const list = await goTo(page, 'Menus', 'listMenus');
  t.equal((await execute(page, list)).status, 401, 'logged out');
}
