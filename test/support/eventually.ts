import { sql } from 'kysely';
import type { Database } from '../../src/db/database.ts';

const patienceMs = 60_000;

/**
 * Polls until there is a result.
 * @returns the first result that is neither undefined, null nor false.
 * @throws after a minute, naming what was awaited.
 */
export async function eventually<T>(
  what: string | (() => string),
  ask: () => Promise<T | undefined | null | false>,
): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const response = await ask();
    if (response !== undefined && response !== null && response !== false) return response;
    if (performance.now() > deadline) throw new Error(`in vain: ${typeof what === 'string' ? what : what()}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Waits until every event is relayed and every delivery of an enabled endpoint has ended. */
export async function settled(database: Database): Promise<void> {
  await eventually('all deliveries ended', async () => {
    const { rows } = await sql<{ open: boolean }>`
      select exists (select from outbox) or exists (
        select from delivery join webhook using (webhook_id) where enabled and state in ('held', 'pending')
      ) as open`.execute(database);
    return rows[0]?.open === false;
  });
}
