import t from 'tap';
import { type Handlers, type OperationFacts, operations } from '../../generated/operations.ts';
import { buildApp } from '../../src/app.ts';
import { openDatabase } from '../../src/db/database.ts';
import { requireComplete } from '../../src/contract/wiring.ts';
import { handlers } from '../../src/operations.ts';
import { createDestination } from '../../src/webhooks/delivery/destination.ts';
import { cloneDatabase, encryptionKey } from '../support/service.ts';

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
  const start = () =>
    buildApp(
      { rateLimitPerMinute: 1, encryptionKey, logLevel: 'silent' },
      { database, destination, eventCommitted: () => {} },
    );
  const served = handlers as Partial<Handlers>;
  const { getItem } = handlers;

  delete served.getItem;
  await t.rejects(start(), /getItem has no handler in src\/operations\.ts/);
  served.getItem = getItem;

  (served as Record<string, unknown>)['eatItem'] = getItem;
  await t.rejects(start(), /eatItem is not an operation of the contract/);
  delete (served as Record<string, unknown>)['eatItem'];

  const app = await start();
  await app.close();
});
