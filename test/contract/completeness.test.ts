import t from 'tap';
import { type Handlers, type OperationFacts, operations } from '../../generated/operations.ts';
import { requireComplete } from '../../src/contract/wiring.ts';
import { openDatabase } from '../../src/db/database.ts';
import { createHandlers } from '../../src/operations.ts';
import { createDestination } from '../../src/webhooks/delivery/destination.ts';
import { buildTestApp, cloneDatabase } from '../support/service.ts';

const handlers = createHandlers({} as never);

// The compiler refuses each of these pages; at start they are refused once more, whoever ran no compiler.
const page = (change: Record<string, unknown>) => ({ ...handlers, ...change }) as unknown as Handlers;
const without = (id: keyof Handlers) => {
  const { [id]: _, ...rest } = handlers;
  return rest as unknown as Handlers;
};

t.test('the contract and the page of handlers agree', async (t) => {
  t.doesNotThrow(() => requireComplete(operations, handlers));
});

t.test('each difference is named', async (t) => {
  t.throws(() => requireComplete(operations, without('getItem')), /getItem has no handler/);
  t.throws(
    () => requireComplete(operations, page({ eatItem: handlers.getItem })),
    /eatItem is not an operation of the contract/,
  );
  const { security: _, ...open } = operations.toggleItem;
  const unsecured = { ...operations, toggleItem: open as OperationFacts };
  t.throws(() => requireComplete(unsecured, handlers), /toggleItem has no security in the contract/);
  t.throws(
    () => requireComplete(unsecured, without('getItem')),
    /getItem has no handler.*; toggleItem has no security/,
  );
});

t.test('the service refuses to start when they differ', async (t) => {
  const database = openDatabase(await cloneDatabase(t));
  const destination = createDestination({ allowedNetworks: [] });
  t.teardown(async () => {
    await database.destroy();
    await destination.close();
  });
  const start = () => buildTestApp(database, destination);
  const table = operations as Partial<Record<string, OperationFacts>>;
  const { getItem } = operations;

  table['eatItem'] = getItem;
  await t.rejects(start(), /eatItem has no handler in src\/operations\.ts/);
  delete table['eatItem'];

  delete table['getItem'];
  await t.rejects(start(), /getItem is not an operation of the contract/);
  table['getItem'] = getItem;

  const app = await start();
  await app.close();
});
