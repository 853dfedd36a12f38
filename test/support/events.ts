import type { Database } from '../../src/db/database.ts';
import { checkSchema } from './contract.ts';

// biome-ignore lint/suspicious/noExplicitAny: the contract check has validated it; tests look into it freely
export type Event = Record<string, any>;

/** The event table as the tests see it; every payload is checked against the contract. */
export interface EventLog {
  /** The events recorded since the last call, oldest first. */
  next(): Promise<Event[]>;
  /** The types of the events recorded since the last call, oldest first. */
  nextTypes(): Promise<string[]>;
}

/** Follows the events from now on. */
export async function followEvents(database: Database): Promise<EventLog> {
  let seen = 0;
  const next: EventLog['next'] = async () => {
    const rows = await database
      .selectFrom('event')
      .select(['sequence', 'payload'])
      .where('sequence', '>', seen)
      .orderBy('sequence')
      .execute();
    seen = rows.at(-1)?.sequence ?? seen;
    const events: Event[] = rows.map((row) => JSON.parse(row.payload));
    for (const event of events) checkSchema('WebhookPayload', event);
    return events;
  };
  await next();
  return { next, nextTypes: async () => (await next()).map((event) => event['type']) };
}
