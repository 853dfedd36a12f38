import t from 'tap';
import { openPlanner } from '../../src/menus/content/planners.ts';
import type { StoredText } from '../../src/menus/stored-menu.ts';

const large = {
  menu_id: 1,
  dry_run: true,
  body: Buffer.from('{"data":{"categories":[]}}'.padEnd(200_000)),
  bodyType: 'application/json',
} as const;

const nothing = { categories: '[]', items: '[]', groups: '[]', other_numbers: '[]' };
const stored = (menu: string) =>
  ({ location_id: 1, currency: 'EUR', etag: '"1"', menu, ...nothing }) as StoredText;

t.test('when a thread fails its import fails with it, and the next gets another thread', async (t) => {
  const failing = openPlanner('pos', large);
  await t.rejects(failing.plan(stored('this is not JSON')), /thread/);
  failing.close();
  const next = openPlanner('pos', large);
  const outcome = await next.plan(stored('{"name":"M","description":"","is_active":true,"hours":null}'));
  next.close();
  t.match(outcome, { isWrong: false, edits: { isEmpty: true }, stored: { categories: 0, items: 0 } });
});
