import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { followEvents } from '../support/events.ts';
import { makeCategory, makeItem, makeLocation, makeMenu } from '../support/records.ts';
import { startTestService } from '../support/service.ts';
import { expectedEvents, type ModelMenu, projected, settle, toldEvents } from './model.ts';
import { type Plan, plans } from './operations.ts';

/*
 * Random sequences of everything that changes a menu, against the service and against a plain model of it. After each
 * call both must show the same menu, and the events must be those that the rules demand. A failure prints the calls,
 * shortened; MODEL_SEED and MODEL_PATH run it again.
 */

const seconds = 10;
const seed = Number(process.env['MODEL_SEED'] ?? Date.now() % 2_147_483_647);
const path = process.env['MODEL_PATH'];

t.test(`menu and model agree, whatever is done to them (MODEL_SEED=${seed})`, async (t) => {
  const { api, database } = await startTestService(t);
  const { location_id } = await makeLocation(api);
  const log = await followEvents(database);
  let calls = 0;
  let last: Promise<unknown> = Promise.resolve();

  const run = async (sequence: Plan[]) => {
    const made = await makeMenu(api, location_id);
    const named = await makeCategory(api, made.menu_id, { external_id: 'A' });
    for (const external_id of ['I1', 'I2']) await makeItem(api, named, { external_id });
    await makeItem(api, await makeCategory(api, made.menu_id));
    const show = async (): Promise<ModelMenu> =>
      projected((await api.get(`/menus/${made.menu_id}`)).body.data);
    let menu = await show();
    await log.next();
    for (const plan of sequence) {
      const step = plan(menu);
      if (!step) continue;
      const before = menu;
      menu = structuredClone(before);
      const response = await step.send(api);
      calls += 1;
      assert.equal(response.status, step.status, response.text);
      step.apply(menu);
      const shown = await show();
      settle(before, menu, shown, { choosesPlaces: step.choosesPlaces ?? false });
      assert.deepEqual(shown, projected(menu));
      assert.deepEqual(toldEvents(await log.next(), before, menu), expectedEvents(before, menu));
      step.check?.(response, before, menu);
    }
  };

  const agree = fc.asyncProperty(fc.array(plans(), { maxLength: 30, size: 'max' }), async (sequence) => {
    const running = run(sequence);
    last = running.catch(() => {});
    await running;
  });
  const details = await fc.check(agree, {
    seed,
    ...(path !== undefined && { path }),
    numRuns: 100_000,
    interruptAfterTimeLimit: seconds * 1_000,
    markInterruptAsFailure: false,
  });
  // The one that the clock has cut short.
  await last;
  t.comment(`${calls} calls in ${details.numRuns} sequences`);
  t.notOk(
    details.failed,
    `MODEL_SEED=${seed} MODEL_PATH=${details.counterexamplePath}\n${fc.defaultReportMessage(details)}\n${details.errorInstance}`,
  );
  t.ok(calls > 20, 'it did something');
});
