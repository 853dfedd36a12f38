import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { type Browser, noBrowser, startBrowser } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { demoItems } from '../support/items.ts';
import { startTestService, type TestService } from '../support/service.ts';

const bundle = JSON.parse(await readFile(new URL('../../generated/openapi.json', import.meta.url), 'utf8'));
const contrast = await readFile(new URL('docs-page.contrast.js', import.meta.url), 'utf8');
const phone = { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };
const tablet = { viewport: { width: 768, height: 1024 } };

t.test('the reference page, read in Chromium', { skip: noBrowser }, async (t) => {
  const service = await startTestService(t);
  const browser = await startBrowser(t);
  const docs = `${service.url}/docs`;

  t.test('what watches it notices a request elsewhere, a breach of the policy and an error', async (t) => {
    const { page, faults } = await browser.open(t, docs);
    await page.evaluate(`fetch('http://127.0.0.2:9/').catch(() => 0)`);
    await page.evaluate(
      `document.body.append(Object.assign(new Image(), { src: 'https://example.com/a.png' }))`,
    );
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement('script'), { text: '1' }))`,
    );
    await page.evaluate(`setTimeout(() => nothing.here)`);
    for (const fault of [
      /policy connect-src http:\/\/127\.0\.0\.2:9/,
      /policy img-src https:\/\/example\.com\/a\.png/,
      /policy script-src-elem inline/,
      /error nothing is not defined/,
    ]) {
      await eventually(`${fault}`, async () => faults.some((seen) => fault.test(seen)));
    }
    const { page: other, faults: seen } = await browser.open(t, `${service.url}/health/live`);
    await other.goto('http://127.0.0.2:9/').catch(() => 0);
    t.ok(seen.includes('request http://127.0.0.2:9/'), 'on a page without the policy');
  });

  t.test('a reader gets a token on it, tries calls and logs out again', async (t) => {
    const { page, faults } = await browser.open(t, docs);
    const shown = await page
      .locator('.opblock')
      .first()
      .waitFor()
      .then(() => page.evaluate('performance.now()'));
    t.ok(Number(shown) < 20_000, `operations are shown after ${Math.round(Number(shown))} ms`);
    await shot(page, 'desktop');
    await authorizes(t, page, service);
    await triesCalls(t, page, service);
    await logsOut(t, page, service);
    t.strictSame(faults, [], 'nothing was asked of another host, and nothing went wrong');
  });

  t.test('on a phone nothing is wider than the screen, and the same can be done', async (t) => {
    const { page, faults } = await browser.open(t, docs, phone);
    await page.locator('.models').waitFor();
    t.equal(await page.evaluate('document.documentElement.clientWidth'), 360, 'it is laid out for the phone');
    const look = async (what: string) => {
      await shot(page, `phone-${what}`);
      t.strictSame(await tooWide(page), [], what);
      t.strictSame(await tooSmall(page), [], what);
    };
    await authorizes(t, page, service, look);
    await execute(page, operation(page, 'Items', 'updateItem'), { menu_id: 1, item_id: 1 }, '{"price": -1}');
    await look('refused call');
    t.strictSame(faults, [], 'nothing was asked of another host, and nothing went wrong');
  });

  t.test('it has a language, a title, a main part and headings, and links to the documents', async (t) => {
    const { page, faults } = await browser.open(t, `${docs}#/Items/updateItem`, tablet);
    await operation(page, 'Items', 'updateItem').locator('.responses-table').waitFor();
    await shot(page, 'tablet');
    t.strictSame(await tooWide(page), [], 'on a tablet nothing is wider than the screen');
    t.equal(await page.locator('html').getAttribute('lang'), 'en');
    t.equal(await page.title(), 'Menu Management Service');
    const main = page.getByRole('main');
    t.match(await main.getByRole('heading', { level: 1 }).textContent(), /^Menu Management Service/);
    for (const { name } of bundle.tags) {
      t.ok(await main.getByRole('heading', { level: 3, name }).first().isVisible(), name);
    }
    for (const [name, path] of [
      ['JSON', '/openapi.json'],
      ['YAML', '/openapi.yaml'],
      ['3.0 JSON', '/openapi-3.0.json'],
      ['3.0 YAML', '/openapi-3.0.yaml'],
    ] as const) {
      t.equal(await main.getByRole('link', { name, exact: true }).getAttribute('href'), path);
    }
    t.strictSame(faults, [], 'nothing was asked of another host, and nothing went wrong');
  });

  t.test('every operation, event and schema is shown, and has a link of its own', async (t) => {
    const { page, faults } = await browser.open(t, docs);
    await page.locator('.models').waitFor();
    const operations = Object.values<Record<string, Operation>>(bundle.paths).flatMap((path) =>
      Object.values(path).filter(({ operationId }) => operationId),
    );
    for (const { operationId, tags, summary } of operations) {
      const one = operation(page, tags[0], operationId);
      t.equal(await one.locator('.opblock-summary-description').textContent(), summary);
    }
    t.equal(await page.locator('.opblock').count(), operations.length + Object.keys(bundle.webhooks).length);
    await showsSchemas(t, page);
    await showsEvents(t, page);
    await page.goto(`${docs}#/Items/toggleItem`);
    await page.reload();
    await operation(page, 'Items', 'toggleItem').locator('.execute').waitFor();
    t.equal(await page.locator('.opblock.is-open').count(), 1);
    t.strictSame(faults, [], 'nothing was asked of another host, and nothing went wrong');
  });

  t.test('it can be used with the keyboard alone', async (t) => usesKeyboard(t, browser, service, docs));

  for (const colorScheme of ['light', 'dark'] as const) {
    t.test(`its text can be read, in ${colorScheme} colours too`, async (t) => {
      const { page, faults } = await browser.open(t, `${docs}#/Items/updateItem`, { colorScheme });
      const one = operation(page, 'Items', 'updateItem');
      await execute(page, one, { menu_id: 1, item_id: 999_999 }, '{}');
      t.strictSame(await page.evaluate(contrast), [], 'a call');
      await page.locator('.btn.authorize').click();
      t.strictSame(await page.evaluate(contrast), [], 'the dialog');
      await shot(page, colorScheme);
      t.strictSame(faults, [], 'nothing was asked of another host, and nothing went wrong');
      await page.evaluate(`document.querySelector('.modal-ux h3').style.color = '#888'`);
      t.equal(Object(await page.evaluate(contrast)).length, 1, 'a faint heading would be noticed');
    });
  }
});

interface Operation {
  operationId: string;
  tags: [string];
  summary: string;
  requestBody: { content: { 'application/json': { schema: { $ref: string } } } };
}

/** Calls without a token, gets one on the page and calls again; `look` is called at each step. */
async function authorizes(t: Test, page: Page, { api }: TestService, look = async (_what: string) => {}) {
  const { client_id, client_secret } = api.credentials;
  const list = operation(page, 'Menus', 'listMenus');
  await look('top');
  t.match(await execute(page, list), { status: 401, body: { code: 'unauthorized' } }, 'no token yet');

  await page.locator('.btn.authorize').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('client_id').fill(client_id);
  await dialog.getByLabel('client_secret').fill('wrong');
  await dialog.getByRole('button', { name: 'Apply given OAuth2 credentials' }).click();
  const refusal = dialog.locator('.errors');
  t.match(await refusal.textContent(), /invalid_client/, 'the refusal is told');
  const { y = 0, height = 0 } = (await refusal.boundingBox()) ?? {};
  t.ok(y + height < (page.viewportSize()?.height ?? 0), 'where it is seen without scrolling');
  await look('refused');
  await dialog.getByLabel('client_secret').fill(client_secret);
  await dialog.getByRole('button', { name: 'Apply given OAuth2 credentials' }).click();
  await dialog.getByRole('button', { name: 'Remove authorization' }).waitFor();
  await dialog.getByRole('button', { name: 'Close', exact: true }).click();

  const listed = await execute(page, list);
  t.equal(listed.status, 200);
  t.strictSame(listed.body, (await api.get('/menus')).body, 'the menus of the demo account');
  t.equal(new URL(listed.url).search, '', 'without the examples of the parameters');
  await look('listed');
}

async function triesCalls(t: Test, page: Page, { api }: TestService) {
  const [item] = await demoItems(api);
  const { path, menu_id, item_id } = item;
  const update = operation(page, 'Items', 'updateItem');
  const updated = await execute(page, update, { menu_id, item_id }, '{"price": 12.5}');
  t.match(updated, { status: 200, body: { data: { item_id, price: 12.5 } } });
  t.equal(updated.headers['if-match'], undefined);
  t.equal((await api.get(path)).body.data.price, 12.5);

  const toggle = operation(page, 'Items', 'toggleItem');
  const toggled = await execute(page, toggle, { menu_id, item_id });
  t.match(toggled, { status: 200, body: { data: { item_id, is_available: !item.is_available } } });
  t.equal(toggled.headers['idempotency-key'], undefined);
  t.equal((await api.get(path)).body.data.is_available, !item.is_available);

  const get = operation(page, 'Items', 'getItem');
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
  await page.locator('.btn.authorize').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Remove authorization' }).click();
  await dialog.getByRole('button', { name: 'Close', exact: true }).click();
  t.equal((await execute(page, operation(page, 'Menus', 'listMenus'))).status, 401, 'logged out');
}

const operation = (page: Page, tag: string, id: string) => page.locator(`#operations-${tag}-${id}`);

/** Opens the operation where it is closed, fills it in and executes it; what the page then shows, and what it sent. */
async function execute(page: Page, one: Locator, parameters: Record<string, number> = {}, body?: string) {
  if ((await one.locator('.execute').count()) === 0) await one.locator('.opblock-summary-control').click();
  for (const [name, value] of Object.entries(parameters)) {
    await one.locator(`tr[data-param-name="${name}"] input`).fill(String(value));
  }
  if (body !== undefined) await one.locator('textarea.body-param__text').fill(body);
  const [response] = await Promise.all([
    page.waitForResponse((reply) => reply.url().includes('/api/v1/')),
    one.locator('.execute').click(),
  ]);
  const shown = one.locator('.live-responses-table');
  // The time and the number of the request are new in each answer.
  await shown
    .getByText((await response.headerValue('x-request-id')) ?? '')
    .first()
    .waitFor();
  return {
    status: Number(await shown.locator('.response-col_status').last().textContent()),
    body: JSON.parse((await shown.locator('.highlight-code code').textContent()) ?? ''),
    url: response.url(),
    headers: response.request().headers(),
  };
}

async function showsEvents(t: Test, page: Page) {
  const events = Object.entries<{ post: Operation }>(bundle.webhooks);
  t.equal(events.length, 14);
  await page.evaluate(clickAll('.webhooks .opblock-summary-control'));
  for (const [name, { post }] of events) {
    const event = theEvent(page, name);
    t.equal(await event.locator('.opblock-summary-description').textContent(), post.summary);
    const example = await event.locator('.opblock-section-request-body .highlight-code code').textContent();
    t.match(JSON.parse(example ?? ''), { type: name }, `an example of ${name}`);
  }
  await page.evaluate(clickAll('.webhooks .opblock-section-request-body [role=tab][data-name=model]'));
  for (const [name, { post }] of events) {
    const event = theEvent(page, name);
    const schema = post.requestBody.content['application/json'].schema.$ref.split('/').at(-1) ?? '';
    await event.locator('.json-schema-2020-12__title', { hasText: schema }).first().waitFor();
    await event.locator('.json-schema-2020-12-property', { hasText: 'timestamp' }).first().waitFor();
  }
}

const theEvent = (page: Page, name: string) =>
  page.locator('.webhooks .opblock', { has: page.locator(`[data-path="${name}"]`) });

const clickAll = (selector: string) =>
  `for (const one of document.querySelectorAll('${selector}')) one.click()`;

/** The list is long: just the part in view exists, so it is scrolled through. */
async function showsSchemas(t: Test, page: Page) {
  const titles = page.locator('.models .json-schema-2020-12__title');
  const seen = new Set<string>();
  await eventually('all schemas are seen', async () => {
    for (const title of await titles.allTextContents()) seen.add(title);
    await page.evaluate(`(() => {
      const list = document.querySelector('.models-scroll');
      list.scrollTop += list.clientHeight / 2;
    })()`);
    return seen.size >= Object.keys(bundle.components.schemas).length;
  });
  t.strictSame([...seen].sort(), Object.keys(bundle.components.schemas).sort());
  await page.evaluate(`document.querySelector('.models-scroll').scrollTop = 0`);
  const token = page.locator('.models .json-schema-2020-12', { hasText: 'TokenRequest' }).first();
  await token.getByRole('button', { name: 'TokenRequest' }).click();
  await token.locator('.json-schema-2020-12-property', { hasText: 'grant_type' }).first().waitFor();
}

async function usesKeyboard(t: Test, browser: Browser, { api }: TestService, docs: string) {
  // In dark colours swagger-ui takes the outline off.
  const { page, faults } = await browser.open(t, docs, { colorScheme: 'dark' });
  await page.locator('.models').waitFor();
  const { client_id, client_secret } = api.credentials;
  const unseen = new Set<string>();
  const tabTo = async (selector: string, key = 'Tab') => {
    for (let presses = 0; presses < 200; presses++) {
      if ((await page.locator(`${selector}:focus`).count()) > 0) return;
      await page.keyboard.press(key);
      const fault = await page.evaluate(focusFault);
      if (fault) unseen.add(String(fault));
    }
    throw new Error(`the keyboard does not reach ${selector}`);
  };

  await tabTo('.btn.authorize');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('heading', { name: 'Available authorizations' }).waitFor();
  t.ok((await dialog.locator(':focus').count()) > 0, 'the dialog has the focus');
  await tabTo('[role=dialog] [data-name=clientId]');
  await page.keyboard.type(client_id);
  await tabTo('[role=dialog] [data-name=clientSecret]');
  await page.keyboard.type(client_secret);
  await tabTo('[role=dialog] [data-value="menus:read"]');
  await page.keyboard.press('Space');
  t.ok(await dialog.getByRole('checkbox', { name: /^menus:read/ }).isChecked(), 'a scope is chosen');
  for (const key of ['Tab', 'Shift+Tab']) {
    for (let presses = 0; presses < 12; presses++) await page.keyboard.press(key);
    t.ok((await dialog.locator(':focus').count()) > 0, `${key} stays in it`);
  }
  await tabTo('[role=dialog] .modal-btn.authorize');
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Remove authorization' }).waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  const opener = await page.evaluate('document.activeElement.className');
  t.match(opener, /authorize locked/, 'the focus is where it was');

  const list = operation(page, 'Menus', 'listMenus');
  await tabTo('#operations-Menus-listMenus .opblock-summary-control');
  await page.keyboard.press('Enter');
  await list.locator('.responses-table').waitFor();
  await tabTo('#operations-Menus-listMenus .execute');
  await page.keyboard.press('Space');
  await list.locator('.live-responses-table').getByText('"menu_id"').first().waitFor();
  await tabTo('#operations-Menus-listMenus .opblock-summary-control', 'Shift+Tab');
  await page.keyboard.press('Space');
  await list.locator('.execute').waitFor({ state: 'detached' });

  await tabTo('.models-control');
  t.pass('and goes on to the end of the page');
  t.strictSame([...unseen], [], 'what has the focus can be seen');
  t.strictSame(faults, [], 'nothing was asked of another host, and nothing went wrong');
}

/** What has the focus and does not show it. */
const focusFault = `(() => {
  const focused = document.activeElement;
  const mark = focused.matches('[type=checkbox]') ? focused.nextElementSibling.firstElementChild : focused;
  const { outlineStyle, outlineWidth } = getComputedStyle(mark);
  const { width, height } = mark.getBoundingClientRect();
  const seen = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 && width > 3 && height > 3;
  return seen ? '' : focused.outerHTML.slice(0, 120);
})()`;

/** Elements that make the page scroll sideways. */
const tooWide = (page: Page) =>
  page.evaluate(`(() => {
    const screen = document.documentElement.clientWidth;
    if (document.scrollingElement.scrollWidth <= screen) return [];
    const name = (node) => node.tagName + '.' + node.className;
    return ['the page', ...[...document.querySelectorAll('body *')]
      .filter((node) => node.getBoundingClientRect().right > screen).map(name)];
  })()`);

/** Controls smaller than 24 pixels or off the screen (WCAG 2.5.8). */
const tooSmall = (page: Page) =>
  page.evaluate(`[...document.querySelectorAll('button, input, select, textarea')]
    .filter((node) => node.checkVisibility({ opacityProperty: true }) && !node.closest('.copy-to-clipboard'))
    .map((node) => ({ node, box: node.getBoundingClientRect() }))
    .filter(({ box: { width, height, left, right } }) =>
      width < 24 || height < 24 || left < 0 || right > document.documentElement.clientWidth)
    .map(({ node, box }) => node.outerHTML.slice(0, 80) + ' ' + JSON.stringify(box))`);

/** For people, who name a directory in DOCS_SCREENSHOTS. */
async function shot(page: Page, name: string): Promise<void> {
  const directory = process.env['DOCS_SCREENSHOTS'];
  if (!directory) return;
  await mkdir(directory, { recursive: true });
  await page.screenshot({ path: join(directory, `${name}.png`), fullPage: true });
}
