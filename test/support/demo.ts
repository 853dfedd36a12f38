import type { Database } from '../../src/db/database.ts';
import { loadDemo } from '../../src/process/demo.ts';

/** Loads the demo account without its events, so that a test sees only those of its own changes. */
export async function loadQuietDemo(database: Database): Promise<void> {
  await loadDemo(database, { ifEmpty: true });
  await database.deleteFrom('event').execute();
  await database.deleteFrom('outbox').execute();
}
