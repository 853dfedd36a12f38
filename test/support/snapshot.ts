import { sql } from 'kysely';
import type { Test } from 'tap';
import { openDatabase } from '../../src/db/database.ts';

/** Opens a snapshot in another session, as a dump does. @returns a function that ends it */
export async function takeSnapshot(
  t: Test,
  connection: Parameters<typeof openDatabase>[0],
): Promise<() => Promise<void>> {
  const other = openDatabase({ ...connection, idle_in_transaction_session_timeout: 0 }, { max: 1 });
  t.teardown(() => other.destroy());
  const taken = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const reading = other.connection().execute(async (session) => {
    await sql`begin isolation level repeatable read`.execute(session);
    await sql`select count(*) from delivery`.execute(session);
    taken.resolve();
    await over.promise;
    await sql`rollback`.execute(session);
  });
  await taken.promise;
  return async () => {
    over.resolve();
    await reading;
  };
}
