/**
 * Failed deliveries wait for hours, according to their schedule. Once the endpoint has recovered (its circuit closes,
 * or somebody enables it or changes its address), they are due at once, and go out at the endpoint's pace. Whoever
 * learns of the recovery only notes the time in the endpoint's row. The deliveries become due here, in batches, so
 * neither a response nor a batch of results waits for half a million rows.
 *
 * Such an attempt comes early, so it does not count against the schedule: an endpoint that is up only for moments
 * must not use up the attempts that are meant for three days.
 */
import { sql } from 'kysely';
import { isStaying } from '../../db/cell.ts';
import type { Database } from '../../db/database.ts';
import { build, type Param, statement } from '../../db/statement.ts';
import { noteDue } from './due-endpoints.ts';
import { lockEndpoints } from './ordering.ts';

const batchSize = 1000;

/** Early attempts at one delivery end here: more are not shown in the log. */
const mostAttempts = 100;

export interface Recovery {
  /** Makes one batch of each recovered endpoint due. Says whether there may be more. */
  next(): Promise<boolean>;
}

/** Any number may work at the same time. */
export function recoverEndpoints(database: Database): Recovery {
  // Where each endpoint's last batch ended: deliveries made due leave dead index entries before it, which are read
  // only once.
  let reached = new Map<string, Date>();
  return {
    async next() {
      const endpoints = await selectRecovered(database, {});
      const before = reached;
      reached = new Map();
      for (const endpoint of endpoints) {
        const recovery = `${endpoint.webhook_id} ${endpoint.recovered_at.getTime()}`;
        const hastened = await hastenBatch(database, endpoint, before.get(recovery) ?? null);
        if (hastened?.end && hastened.count === batchSize) reached.set(recovery, hastened.end);
        else await finish(database, endpoint);
      }
      return endpoints.length > 0;
    },
  };
}

function hastenBatch(database: Database, endpoint: Recovered, from: Date | null) {
  return database.transaction().execute(async (transaction) => {
    await lockEndpoints(transaction, [endpoint.webhook_id]);
    const [hastened] = await hasten(transaction, { ...endpoint, from });
    if (hastened?.oldest) await noteDue(transaction, [endpoint.webhook_id], hastened.oldest);
    return hastened;
  });
}

interface Recovered {
  webhook_id: number;
  account_id: number;
  recovered_at: Date;
}

interface Hastened {
  count: number;
  /** When the first of them was queued. */
  oldest: Date | null;
  /** The latest time at which one of them was due. */
  end: Date | null;
}

const selectRecovered = statement('webhooks.recovery.recovered', () =>
  build
    .selectFrom('webhook')
    .select(['webhook_id', 'account_id', sql<Date>`recovered_at`.as('recovered_at')])
    .where('recovered_at', 'is not', null)
    .where(isStaying('webhook.account_id'))
    .orderBy('recovered_at')
    .limit(20),
);

/**
 * Due since they were queued, so that the oldest go first. Skips those that an attempt has deferred since the
 * recovery.
 * @param from the due time at which the previous batch ended; null: there was none.
 */
const hasten = statement(
  'webhooks.recovery.hasten',
  (p: Param<Recovered & { from: Date | null }>) => sql<Hastened>`
    with batch as (
      select delivery_id, next_attempt_at from delivery
      where webhook_id = ${p('webhook_id', 'bigint')} and account_id = ${p('account_id', 'bigint')}
        and state = 'pending' and next_attempt_at >= greatest(${p('from', 'timestamptz')}, now())
        and next_attempt_at > now() and attempts < ${sql.lit(mostAttempts)}
        and coalesce(leased_until <= now(), true)
        and not exists (
          select from attempt
          where attempt.delivery_id = delivery.delivery_id and attempt.account_id = delivery.account_id
            and attempt.number = delivery.attempts and attempt.started_at >= ${p('recovered_at', 'timestamptz')}
        )
      order by next_attempt_at limit ${sql.lit(batchSize)}
      for update skip locked
    ),
    hastened as (
      update delivery set next_attempt_at = created_at, spared = coalesce(spared, 0) + 1
      where delivery_id = any (array(select delivery_id from batch)) and account_id = ${p('account_id', 'bigint')}
      returning created_at
    )
    select (select count(*) from hastened) as count, (select min(created_at) from hastened) as oldest,
      (select max(next_attempt_at) from batch) as "end"`,
);

/** Unless it has recovered once more. */
const finish = statement('webhooks.recovery.finish', (p: Param<Recovered>) =>
  build
    .updateTable('webhook')
    .set({ recovered_at: null })
    .where('webhook_id', '=', p('webhook_id', 'bigint'))
    .where('account_id', '=', p('account_id', 'bigint'))
    .where('recovered_at', '=', p('recovered_at', 'timestamptz')),
);
