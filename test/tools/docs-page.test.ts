import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { noBrowser, startBrowser } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { shot, tooWide } from '../support/page-looks.ts';
import { anchorOf, authorization, goTo, operation, search } from '../support/reference-page.ts';
import { startTestService } from '../support/service.ts';

const generated = async (name: string) =>
  JSON.parse(await readFile(new URL(`../../generated/${name}`, import.meta.url), 'utf8'));
const [bundle, samples] = await Promise.all([generated('openapi.json'), generated('code-samples.json')]);
const events = Object.entries<{ post: Operation }>(bundle.webhooks);
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

  t.test('it has a language, a title and headings, links to the documents, and the changelog', async (t) => {
    const { page, faults } = await browser.open(t, docs, tablet);
    await authorization(page).authorize.waitFor();
    await shot(page, 'tablet');
    t.strictSame(await tooWide(page), [], 'on a tablet nothing is wider than the screen');
    t.equal(await page.locator('html').getAttribute('lang'), 'en');
    t.equal(await page.title(), 'Menu Management Service');
    const main = page.getByRole('main');
    t.match(await main.getByRole('heading', { level: 1 }).first().textContent(), /^Menu Management Service/);
    for (const [name, path] of [
      ['JSON', '/openapi.json'],
      ['YAML', '/openapi.yaml'],
      ['3.0 JSON', '/openapi-3.0.json'],
      ['3.0 YAML', '/openapi-3.0.yaml'],
    ] as const) {
      t.equal(await main.getByRole('link', { name, exact: true }).getAttribute('href'), path);
    }
    await showsChangelog(t, page);
    t.ok(
      await page.getByText(`export API=${service.url}/api/v1`).first().isVisible(),
      'the address is its own',
    );
    t.strictSame(faults, [], 'nothing was asked of another host, and nothing went wrong');
  });

  // Opening it is what takes long.
  const desktop = await browser.open(t, `${docs}#tag/authentication/issueToken`, {
    permissions: ['clipboard-read', 'clipboard-write'],
  });

  t.test('until the first operation is shown, little is loaded', async (t) => {
    const { page, faults } = desktop;
    const first = operation(page, 'Authentication', 'issueToken');
    await first.getByRole('button', { name: /Test Request/ }).waitFor();
    const files = await page.evaluate(`performance.getEntriesByType('resource').map(({ name }) => name)`);
    const loaded = files as string[];
    t.ok(loaded.length > 5 && loaded.length <= 20, `${loaded.length} requests`);
    let bytes = 0;
    // One after the other: what is asked for while three are being compressed comes as it is.
    for (const file of loaded) {
      const { headers } = await fetch(file, { headers: { 'accept-encoding': 'gzip' } });
      bytes += Number(headers.get('content-length'));
    }
    t.ok(bytes > 100_000 && bytes < 900_000, `${bytes} bytes`);
    t.strictSame(faults, [], 'nothing was asked of another host, and nothing went wrong');
  });

  t.test('every operation and event is in the side bar, and its link leads to its section', async (t) => {
    const { page, faults } = desktop;
    await openGroups(page);
    const operations = Object.values<Record<string, Operation>>(bundle.paths)
      .flatMap((path) => Object.values(path))
      .map((one) => ({ id: one.operationId, ...one }));
    const all = [...operations, ...events.map(([name, { post }]) => ({ id: eventId(name), ...post }))];
    const texts = await linksOf(page);
    for (const { id, tags, summary } of all) {
      t.match(texts.get(`#${anchorOf(tags[0], id)}`), summary, id);
    }
    for (const { name } of bundle.tags) {
      const [first] = all.filter(({ tags }) => tags[0] === name);
      const { id = '', summary = '' } = first ?? {};
      await sideBar(page).locator(`a[href$="/${id}"]`).click();
      await operation(page, name, id).getByRole('heading', { name: summary }).waitFor();
      t.ok(page.url().endsWith(`#${anchorOf(name, id)}`), page.url());
    }
    t.strictSame(faults, [], 'nothing was asked of another host, and nothing went wrong');
  });

  t.test('a sample is shown in five languages, and copied with a button', async (t) => {
    const { page, faults } = desktop;
    const one = await goTo(page, 'Items', 'createItem');
    let shown = 'curl';
    for (const { label, source } of samples.createItem) {
      await one.getByRole('button', { name: shown, exact: true }).click();
      const options = page.getByRole('option');
      await options.first().waitFor();
      t.strictSame(
        (await options.allTextContents()).map((text) => text.trim()),
        ['curl', 'TypeScript', 'Python', 'Go', 'Java'],
        'and in no other, made by Scalar',
      );
      await options.filter({ hasText: label }).click();
      const block = one.locator('.scalar-code-block').first();
      await block
        .getByText(label === 'Go' ? 'package' : source.split(/\W/)[0])
        .first()
        .waitFor();
      await block.hover();
      await block.getByRole('button', { name: /Copy/ }).click();
      await eventually(label, async () => (await page.evaluate('navigator.clipboard.readText()')) === source);
      shown = label;
    }
    t.strictSame(faults, [], 'nothing was asked of another host, and nothing went wrong');
  });

  t.test('headers that every response has are folded away', async (t) => {
    const { page, faults } = desktop;
    const one = await goTo(page, 'Items', 'toggleItem');
    const { height = 0 } = (await one.boundingBox()) ?? {};
    t.ok(height < 2_600, `toggleItem is ${height} pixels high`);
    t.equal(await one.getByText('RateLimit-Policy').count(), 0);
    await one.getByRole('button', { name: '200' }).first().click();
    await one
      .getByRole('button', { name: /Headers/ })
      .first()
      .click();
    await one.getByText('RateLimit-Policy').first().waitFor();
    t.strictSame(faults, [], 'nothing was asked of another host, and nothing went wrong');
  });

  t.test('each parameter shows one example, and it is one of the demo account', async (t) => {
    const { page, faults } = desktop;
    for (const [tag, id] of [
      ['Items', 'updateItem'],
      ['Items', 'listItems'],
    ] as const) {
      const parameters = (await goTo(page, tag, id)).locator('.parameter-item', {
        has: page.locator('.property-name'),
      });
      const count = await parameters.count();
      t.ok(count >= 3, `${count} parameters`);
      for (let nth = 0; nth < count; nth++) {
        const one = parameters.nth(nth);
        // Below it may stand the example of a list's member.
        const heading = one.locator('.property-heading').first();
        t.equal(await heading.locator('.property-example:visible').count(), 1, `${id} ${nth}`);
      }
      const value = parameters.first().locator('.property-example:visible .property-example-value').first();
      t.equal(await value.textContent(), '1', `menu_id of ${id}`);
    }
    t.strictSame(faults, [], 'nothing was asked of another host, and nothing went wrong');
  });

  t.test('every event is shown with an example and the type of its payload', async (t) => {
    const { page, faults } = desktop;
    t.equal(events.length, 21);
    for (const [name, { post }] of events) {
      const event = operation(page, post.tags[0], eventId(name));
      await page.goto(`${docs}#${anchorOf(post.tags[0], eventId(name))}`);
      await event.getByText(`"${name}"`).first().waitFor();
      t.ok(await event.getByRole('heading', { name: post.summary }).isVisible(), name);
      const schema = post.requestBody.content['application/json'].schema.$ref.split('/').at(-1) ?? '';
      t.ok(await event.getByText(schema).first().isVisible(), schema);
      for (const field of ['type', 'timestamp', 'data']) {
        t.ok(await event.getByText(field, { exact: true }).first().isVisible(), field);
      }
    }
    t.strictSame(faults, [], 'nothing was asked of another host, and nothing went wrong');
  });

  t.test('every schema has a section, and a union names its members', async (t) => {
    const { page, faults } = desktop;
    await page.goto(`${docs}#models/WebhookPayload`);
    const union = page.locator('[id="api-1/models/WebhookPayload-content"]');
    await union.getByText('LocationCreatedEvent').first().waitFor();
    t.match(await union.innerText(), /One of\s[\s\S]*location\.created[\s\S]*timestamp/);
    await union.getByText('LocationCreatedEvent').first().click();
    const members = page.getByRole('option').or(page.getByRole('menuitem'));
    await eventually('all members are offered', async () => (await members.count()) === events.length);
    await page.keyboard.press('Escape');
    const names = [...(await linksOf(page)).keys()].filter((link) => link.startsWith('#models/'));
    t.strictSame(
      names.map((link) => link.slice('#models/'.length)).toSorted(),
      Object.keys(bundle.components.schemas).toSorted(),
    );
    t.strictSame(faults, [], 'nothing was asked of another host, and nothing went wrong');
  });

  t.test('a search finds an operation by its words', async (t) => {
    const { page, faults } = desktop;
    await (await search(page, 'rotate secret', 'rotateWebhookSecret')).click();
    await operation(page, 'Webhooks', 'rotateWebhookSecret').getByRole('heading').first().waitFor();
    t.match(page.url(), /#tag\/webhooks\/rotateWebhookSecret$/);
    t.strictSame(faults, [], 'nothing was asked of another host, and nothing went wrong');
  });
});

interface Operation {
  operationId: string;
  tags: [string];
  summary: string;
  requestBody: { content: { 'application/json': { schema: { $ref: string } } } };
}

async function showsChangelog(t: Test, page: Page): Promise<void> {
  const changelog = await readFile(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');
  const versions = [...changelog.matchAll(/^## (.+)$/gm)].map(([, version = '']) => version);
  t.ok(versions.length > 0);
  t.ok(await page.getByRole('heading', { name: 'Changelog' }).isVisible());
  for (const version of versions) {
    t.ok(await page.getByRole('heading', { name: version, exact: true }).isVisible(), version);
  }
}

const eventId = (name: string) => `webhook/POST/${name}`;

/** Opens the groups of the side bar that are closed. */
async function openGroups(page: Page): Promise<void> {
  const closed = sideBar(page).getByRole('button', { name: /^Open Group/ });
  for (let left = await closed.count(); left > 0; left = await closed.count()) await closed.first().click();
}

/** What the links of the side bar say, by where they lead. */
async function linksOf(page: Page): Promise<Map<string, string>> {
  const links = await sideBar(page)
    .locator('a')
    .evaluateAll((nodes) => nodes.map((node) => [node.getAttribute('href'), node.textContent]));
  return new Map(links as [string, string][]);
}

const sideBar = (page: Page) => page.getByRole('navigation').or(page.locator('aside')).first();
