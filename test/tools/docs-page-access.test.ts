import { readFile } from 'node:fs/promises';
import type { Locator } from 'playwright-core';
import t, { type Test } from 'tap';
import { type Browser, noBrowser, startBrowser } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { shot } from '../support/page-looks.ts';
import {
  authorization,
  execute,
  goTo,
  operation,
  parameter,
  search,
  send,
} from '../support/reference-page.ts';
import { startTestService, type TestService } from '../support/service.ts';

const contrast = await readFile(new URL('docs-page.contrast.js', import.meta.url), 'utf8');

t.test('the reference page, by everybody in Chromium', { skip: noBrowser }, async (t) => {
  const service = await startTestService(t);
  const browser = await startBrowser(t);
  const docs = `${service.url}/docs`;

  t.test('it can be used with the keyboard alone', async (t) => usesKeyboard(t, browser, service, docs));

  for (const colorScheme of ['light', 'dark'] as const) {
    t.test(`its text can be read, in ${colorScheme} colours too`, async (t) => {
      const { page, faults } = await browser.open(t, docs, { colorScheme });
      await authorization(page).authorize.waitFor();
      t.strictSame(await page.evaluate(contrast), [], 'the introduction');
      const update = await goTo(page, 'Items', 'updateItem');
      t.strictSame(await page.evaluate(contrast), [], 'an operation');
      await shot(page, `${colorScheme}-operation`);
      await execute(
        page,
        update,
        { menu_id: 1, item_id: 999_999 },
        {
          look: async () => {
            t.strictSame(await page.evaluate(contrast), [], 'a call');
            await shot(page, `${colorScheme}-call`);
          },
        },
      );
      t.strictSame(faults, [], 'nothing was asked of another host, and nothing went wrong');
      const faint = colorScheme === 'light' ? '#bbb' : '#444';
      await page.evaluate(`document.querySelector('h2').style.color = '${faint}'`);
      t.equal(Object(await page.evaluate(contrast)).length, 1, 'a faint heading would be noticed');
    });
  }
});

async function usesKeyboard(t: Test, browser: Browser, { api }: TestService, docs: string) {
  const { page, faults } = await browser.open(t, docs, { colorScheme: 'dark' });
  const form = authorization(page);
  await form.authorize.waitFor();
  const { client_id, client_secret } = api.credentials;
  const unseen = new Set<string>();
  const tabTo = async (wanted: Locator, key = 'Tab') => {
    // The side bar and the operations of Authentication come before the menus: 226 at present.
    for (let presses = 0; presses < 400; presses++) {
      if (await isFocused(wanted)) return;
      await page.keyboard.press(key);
      const fault = await page.evaluate(focusFault);
      if (fault) unseen.add(String(fault));
    }
    throw new Error(`the keyboard does not reach ${wanted}`);
  };

  await tabTo(form.id);
  await page.keyboard.type(client_id);
  await tabTo(form.secret);
  await page.keyboard.type(client_secret);
  await tabTo(form.authorize);
  await page.keyboard.press('Enter');
  await form.token.waitFor();

  await search(page, 'list menus', 'listMenus');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  const list = operation(page, 'Menus', 'listMenus');
  const opener = list.getByRole('button', { name: /Test Request/ });
  await opener.waitFor();
  await tabTo(opener);
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'API Client' });
  await send(dialog).waitFor();
  for (const key of ['Tab', 'Shift+Tab']) {
    for (let presses = 0; presses < 30; presses++) await page.keyboard.press(key);
    t.ok((await dialog.locator(':focus').count()) > 0, `${key} stays in the dialog`);
  }
  await tabTo(parameter(dialog, 'limit').getByRole('checkbox'));
  await page.keyboard.press('Space');
  t.ok(await parameter(dialog, 'limit').getByRole('checkbox').isChecked(), 'a parameter is chosen');
  await tabTo(send(dialog));
  await page.keyboard.press('Enter');
  await dialog.getByText('"menu_id"').first().waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  t.ok(await isFocused(opener), 'the focus is where it was');
  await page.locator('a[href$="/getMenu"]').first().focus();
  await page.keyboard.press('Enter');
  const section = operation(page, 'Menus', 'getMenu');
  await section.getByRole('button', { name: /Test Request/ }).waitFor();
  await eventually('the section has the focus', () => isFocused(section));
  t.equal(await section.evaluate(outlineOf), 'none', 'no ring around all of it');
  t.equal(
    await section.getByRole('heading', { level: 3 }).evaluate(outlineOf),
    'solid',
    'but at its heading',
  );
  t.strictSame([...unseen], [], 'what has the focus can be seen');
  t.strictSame(faults, [], 'nothing was asked of another host, and nothing went wrong');
}

const isFocused = (one: Locator) =>
  one.evaluateAll((nodes) => nodes.some((node) => node === node.ownerDocument.activeElement));

const outlineOf = (node: { ownerDocument: { defaultView: unknown } }) =>
  (
    node.ownerDocument.defaultView as { getComputedStyle(node: object): { outlineStyle: string } }
  ).getComputedStyle(node).outlineStyle;

/** What has the focus and does not show it. */
const focusFault = `(() => {
  const focused = document.activeElement;
  const mark = focused.matches('[type=checkbox]') ? focused.parentElement : focused;
  const { outlineStyle, outlineWidth } = getComputedStyle(mark);
  const { width, height } = mark.getBoundingClientRect();
  const seen = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 && width > 3 && height > 3;
  return seen ? '' : focused.outerHTML.slice(0, 120);
})()`;
