import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { eventually } from '../support/eventually.ts';
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
  // It slides in, and goes after a few seconds.
  await eventually('the refusal is seen without scrolling', () =>
    page.evaluate<boolean>(isInView('The client is unknown or disabled')),
  );
  await look('refused');
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

/** An expression for the page: whether an element with this text is on the screen. */
const isInView = (text: string): string => `(() => {
  const any = XPathResult.ORDERED_NODE_SNAPSHOT_TYPE;
  const found = document.evaluate('//*[text()[contains(., "${text}")]]', document.body, null, any);
  return Array.from({ length: found.snapshotLength }, (_, place) => found.snapshotItem(place)).some((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return element.checkVisibility() && top >= 0 && bottom <= innerHeight;
  });
})()`;

/** All that went wrong but the refusal, which Scalar may write to the console as well. */
export const otherThanRefusal = (faults: string[]): string[] =>
  faults.filter(
    (fault) => !/^console Error: The client is unknown or disabled, or its secret is wrong/.test(fault),
  );
