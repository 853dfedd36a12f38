import type { Database } from '../../src/db/database.ts';
import { enterFeed } from '../../src/events/feed.ts';
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
  let seen = '00000000-0000-0000-0000-000000000000';
  const next: EventLog['next'] = async () => {
    const rows = await database
      .selectFrom('event')
      .select(['event_id', 'payload'])
      .where('event_id', '>', seen)
      .orderBy('event_id')
      .execute();
    seen = rows.at(-1)?.event_id ?? seen;
    const events: Event[] = rows.map((row) => JSON.parse(row.payload));
    for (const event of events) checkSchema('WebhookPayload', event);
    return events;
  };
  await next();
  return { next, nextTypes: async () => (await next()).map((event) => event['type']) };
}

/** Lists every event in the feed, without the deliveries that the relay would queue. */
export async function listAllEvents(database: Database): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    const waiting = await transaction.selectFrom('outbox').selectAll().orderBy('sequence').execute();
    await enterFeed(transaction, waiting);
  });
}
