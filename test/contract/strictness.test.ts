import t from 'tap';
import { checkAgainstContract, checkSchema } from '../support/contract.ts';
import { makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

/*
 * The contract leaves answers open, so that fields can be added; the checks of these tests must not be as lenient.
 */

t.test('a response with a field that the contract does not have fails, however deep', async (t) => {
  const { api } = await startTestService(t);
  const { menu } = await makeTree(api);
  const path = `/menus/${menu.menu_id}`;
  const response = await api.get(path);
  const check = (body: unknown) =>
    checkAgainstContract('GET', `/api/v1${path}`, { ...response, body, text: JSON.stringify(body) });
  t.doesNotThrow(() => check(response.body));
  for (const steps of [[], ['data'], ['data', 'categories', 0], ['data', 'categories', 0, 'items', 0]]) {
    const body = structuredClone(response.body);
    steps.reduce((node, step) => node[step], body).surprise = true;
    t.throws(
      () => check(body),
      new RegExp(`getMenu 200: body ${['', ...steps, 'surprise'].join('/')} additionalProperties`),
      steps.join('/'),
    );
  }
});

t.test('an event with a field that the contract does not have fails', async (t) => {
  const { api, database } = await startTestService(t);
  await makeTree(api);
  const { payload } = await database.selectFrom('event').select('payload').executeTakeFirstOrThrow();
  const event = JSON.parse(payload);
  t.doesNotThrow(() => checkSchema('WebhookPayload', event));
  t.throws(() => checkSchema('WebhookPayload', { ...event, surprise: true }), /not a WebhookPayload/);
  const { data } = event;
  t.throws(
    () => checkSchema('WebhookPayload', { ...event, data: { ...data, surprise: true } }),
    /not a WebhookPayload/,
  );
});
