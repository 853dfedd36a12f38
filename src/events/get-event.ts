import { type Reach, reachOf, requireReach, withinReach } from '../records/reach.ts';
import { build, statement } from '../db/statement.ts';
import { notFound } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { data, type Json } from '../db/json.ts';
import { ok } from '../http/reply.ts';
import { parseEventId, type WebhookPayload } from './event.ts';

export async function getEvent({ database, params, caller }: Call<'getEvent'>): Promise<Reply<'getEvent'>> {
  const event_id = parseEventId(params.event_id);
  if (event_id === undefined) throw notFound('There is no such event.');
  const [found] = await selectEvent(database, { event_id, ...reachOf(caller) });
  return ok(data(requireReach(found, 'event').payload as Json<WebhookPayload>));
}

const selectEvent = statement<{ event_id: string } & Reach, { within_reach: boolean; payload: string }>((p) =>
  build
    .selectFrom('event')
    .select([withinReach(p, 'event').as('within_reach'), 'payload'])
    .where('event_id', '=', p('event_id', 'uuid')),
);
