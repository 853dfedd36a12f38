import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { authorization, authorize, execute, goTo } from '../support/reference-page.ts';
import type { TestService } from '../support/service.ts';

/** Calls without a token, gets one on the page and calls again; `look` is called at each step. */
export async function authorizes(
  t: Test,
  page: Page,
  { api }: TestService,
  look = async (_what: string) => {},
) {
  const { client_id } = api.credentials;
  await look('top');
  const list = await goTo(page, 'Menus', 'listMenus');
  t.match(await execute(page, list), { status: 401, body: { code: 'unauthorized' } }, 'no token yet');

  await page.goto(`${new URL(page.url()).origin}/docs#description/introduction`);
  const form = authorization(page);
  await authorize(page, { ...api.credentials, client_secret: 'wrong' });
  // Scalar writes it into the client's dialog as well, which is closed.
  const refusal = page.getByText('The client is unknown or disabled').filter({ visible: true }).first();
  await refusal.waitFor();
  await look('refused');
  const { y = 0, height = 0 } = (await refusal.boundingBox()) ?? {};
  t.ok(y + height < (page.viewportSize()?.height ?? 0), 'the refusal is seen without scrolling');
  await authorize(page, api.credentials);
  await form.token.waitFor();
  t.equal(await page.getByText(client_id).count(), 0, 'the token stands in the place of the credentials');

  const listed = await execute(
    page,
    await goTo(page, 'Menus', 'listMenus'),
    {},
    { look: () => look('listed') },
  );
  t.equal(listed.status, 200);
  t.match(listed.text, /"menu_id": 1,/);
  t.strictSame(listed.body, (await api.get('/menus')).body, 'the menus of the demo account');
  t.equal(new URL(listed.url).search, '', 'without the examples of the parameters');
}

/** All that went wrong but the refusal, which Scalar may write to the console as well. */
export const otherThanRefusal = (faults: string[]): string[] =>
  faults.filter(
    (fault) => !/^console Error: The client is unknown or disabled, or its secret is wrong/.test(fault),
  );
