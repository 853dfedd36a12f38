import type { Database } from '../../src/db/database.ts';
import { loadDemo } from '../../src/process/demo.ts';

/** Loads the demo account without the events of that: a test looks at the events of its own changes. */
export async function loadQuietDemo(database: Database): Promise<void> {
  await loadDemo(database, { ifEmpty: true });
  await database.deleteFrom('event').execute();
  await database.deleteFrom('outbox').execute();
}
