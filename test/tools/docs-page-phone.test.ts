import t from 'tap';
import { noBrowser, startBrowser } from '../support/browser.ts';
import { shot, tooSmall, tooWide } from '../support/page-looks.ts';
import { authorization, execute, goTo } from '../support/reference-page.ts';
import { startTestService } from '../support/service.ts';
import { authorizes, otherThanRefusal } from './docs-page-authorizes.ts';

const phone = { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };

t.test('the reference page, on a phone in Chromium', { skip: noBrowser }, async (t) => {
  const service = await startTestService(t);
  const browser = await startBrowser(t);
  const docs = `${service.url}/docs`;

  t.test('on a phone nothing is wider than the screen, and the same can be done', async (t) => {
    const { page, faults } = await browser.open(t, docs, phone);
    await authorization(page).authorize.waitFor();
    t.equal(await page.evaluate('document.documentElement.clientWidth'), 360, 'it is laid out for the phone');
    const look = async (what: string) => {
      await shot(page, `phone-${what}`);
      t.strictSame(await tooWide(page), [], what);
      t.strictSame(await tooSmall(page), [], what);
    };
    await authorizes(t, page, service, look);
    const update = await goTo(page, 'Items', 'updateItem');
    await look('operation');
    const parameters = { menu_id: 1, item_id: 1 };
    const refused = await execute(page, update, parameters, {
      body: '{"price": -1}',
      look: () => look('refused call'),
    });
    t.match(refused, { status: 422, text: /"code": "invalid_request"|"errors"/ });
    t.strictSame(otherThanRefusal(faults), [], 'nothing was asked of another host, and nothing went wrong');
  });
});
