import { data } from '../db/json.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { notFound } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { ok } from '../http/reply.ts';
import { type Reach, reachOf, requireReach, withinReach } from '../records/reach.ts';
import { parseEventId, toldPayload } from './event.ts';

/** One event, as it was sent to webhooks. @throws 404 or 403, also for an event that is no longer kept */
export async function getEvent({ database, params, caller }: Call<'getEvent'>): Promise<Reply<'getEvent'>> {
  const event_id = parseEventId(params.event_id);
  if (event_id === undefined) throw notFound('There is no such event.');
  const [found] = await selectEvent(database, { event_id, ...reachOf(caller) });
  return ok(data(requireReach(found, 'event').resource));
}

const selectEvent = statement('events.getEvent', (p: Param<{ event_id: string } & Reach>) =>
  build
    .selectFrom('event')
    .select([withinReach(p, 'event').as('within_reach'), toldPayload().as('resource')])
    .where('event_id', '=', p('event_id', 'uuid')),
);
