import { type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import { columns, type Json, jsonObject, rfc3339 } from '../db/json.ts';

export type Replay = components['schemas']['Replay'];

/** A row of `replay` as the API shows it, with the results of its deliveries. */
export function replayJson(): RawBuilder<Json<Replay>> {
  const replay = columns('replay');
  const unfinished = sql<number>`(select count(*) from delivery
    where delivery.replay_id = ${replay.replay_id} and state in ('held', 'pending'))`;
  return jsonObject<Replay>({
    replay_id: replay.replay_id,
    webhook_id: replay.webhook_id,
    state: sql<Replay['state']>`case when ${replay.position} < ${replay.until} then 'queueing'
      when ${unfinished} > 0 then 'sending' else 'finished' end`,
    queued: replay.queued,
    unfinished,
    queued_through: rfc3339(sql<Date>`uuid_extract_timestamp(${replay.position})`),
    until: rfc3339(sql<Date>`uuid_extract_timestamp(${replay.until})`),
    requested_at: rfc3339(replay.created_at),
  });
}
