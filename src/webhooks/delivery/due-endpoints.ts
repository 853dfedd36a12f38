/**
 * When to look at which endpoint. A claim reads from the table `endpoint_due` at which endpoints something may be
 * attempted now. So endpoints that wait for a retry, are disabled, asked for a pause or have an open circuit cost it
 * nothing.
 *
 * - `look_at`: nothing may be attempted earlier. Whoever makes something due just sets it to the present. Watchers
 *   find out about a second later when there really is something to do: they defer the endpoint until its next retry,
 *   probe or end of a lease, or indefinitely, or set an endpoint that is still due to the present again.
 * - `oldest_at`: no pending delivery is due earlier, so claims begin there. While a snapshot is open for long, as
 *   during a dump, the index entries of finished deliveries remain; but they come before this time.
 * - `waiting_since`: when the oldest waiting delivery was queued, for the metrics. Watchers write it whenever they
 *   look.
 *
 * The first two are bounds. Whoever makes something due either holds the lock on the endpoint (ordering.ts), as does
 * a watcher, who looks in a later statement; or writes a row in any case, and a watcher that has not seen it leaves
 * the row alone. Deliveries queued by a process of an older version are found by the watchers, who slowly go through
 * all endpoints.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { build, type Param, statement } from '../../db/statement.ts';
import { tripAfter } from './endpoint-health.ts';
import { ownerObjection } from './owner.ts';

/** Rows that are due are given the present once a second, so a claim need not look further back. */
export const claimsLookBackSeconds = 10;

const settleAfterSeconds = 1;
const batchSize = 500;
/** Endpoints that are looked through each second, whatever the table says. */
const passSize = 200;
/** Of its time that a watcher spends on that, while much that has ended cannot be removed. */
const passShare = 0.05;
/** Attempts at an endpoint, in all processes together, whose leases are looked at. */
const mostUnderWay = 10_000;
/** Deliveries that have been due longest, among which the oldest is looked for. */
const longestDue = 10;

/**
 * Tells claims that something is due at these endpoints; they must be locked, and the due deliveries written before.
 * @param since the earliest `next_attempt_at` among them, if it is in the past.
 */
export async function noteDue(
  transaction: Database,
  webhook_ids: number[],
  since: Date | null = null,
): Promise<void> {
  await note(transaction, { webhook_ids, since });
}

/** Most of the time that is known already, and nothing is written. */
const note = statement('webhooks.due.note', (p: Param<{ webhook_ids: number[]; since: Date | null }>) => {
  const since = sql`least(${p('since', 'timestamptz')}, now())`;
  return sql<object>`
    insert into endpoint_due (webhook_id, account_id, look_at, oldest_at)
    select webhook.webhook_id, webhook.account_id, now(), coalesce(least(oldest_at, ${since}), '-infinity')
    from webhook left join endpoint_due using (webhook_id, account_id)
    where webhook.webhook_id = any (${p('webhook_ids', 'bigint[]')})
      and coalesce(look_at > now() or oldest_at > ${since}, true)
    order by webhook.webhook_id
    on conflict (webhook_id, account_id) do update
      set look_at = excluded.look_at, oldest_at = least(endpoint_due.oldest_at, excluded.oldest_at)`;
});

export interface Watch {
  /**
   * Defers endpoints at which nothing is due any more, and checks some more endpoints.
   * @returns whether there is more to do.
   */
  next(): Promise<boolean>;
}

/** A watcher; any number may watch at the same time. */
export function watchDue(database: Database): Watch {
  let settledAt = Number.NEGATIVE_INFINITY;
  let nextPassAt = Number.NEGATIVE_INFINITY;
  let passed = 0;
  return {
    async next() {
      const now = performance.now();
      const settling = idsOf(await listSettling(database, { seconds: secondsSince(settledAt, now) }));
      await underLock(database, settling, settle);
      if (settling.length === batchSize) return true;
      settledAt = now;
      if (now < nextPassAt) return false;
      const passing = idsOf(await listNext(database, { after: passed }));
      passed = (passing.length === passSize && passing.at(-1)) || 0;
      await underLock(database, passing, repair);
      nextPassAt = performance.now() + (performance.now() - now) / passShare;
      return false;
    },
  };
}

/** How far back to look for due endpoints: to the last time that nothing was left, with a margin. */
function secondsSince(settledAt: number, now: number): number {
  return Math.min(60 + (now - settledAt) / 1_000, 1e9);
}

const listSettling = statement('webhooks.due.settling', (p: Param<{ seconds: number }>) =>
  build
    .selectFrom('endpoint_due')
    .select('webhook_id')
    .where('look_at', '>', sql<Date>`now() - make_interval(secs => ${p('seconds', 'float8')})`)
    .where('look_at', '<=', sql<Date>`now() - make_interval(secs => ${sql.lit(settleAfterSeconds)})`)
    .orderBy('look_at')
    .limit(batchSize),
);

const listNext = statement('webhooks.due.next', (p: Param<{ after: number }>) =>
  build
    .selectFrom('webhook')
    .select('webhook_id')
    .where('webhook_id', '>', p('after', 'bigint'))
    .orderBy('webhook_id')
    .limit(passSize),
);

function idsOf(rows: { webhook_id: number }[]): number[] {
  return rows.map(({ webhook_id }) => webhook_id);
}

/** Skips endpoints that others have locked: they are about to make something due. */
async function underLock(
  database: Database,
  webhook_ids: number[],
  work: (transaction: Database, locked: { webhook_ids: number[] }) => Promise<unknown>,
): Promise<void> {
  if (webhook_ids.length === 0) return;
  await database.transaction().execute(async (transaction) => {
    const locked = idsOf(await lock(transaction, { webhook_ids }));
    if (locked.length > 0) await work(transaction, { webhook_ids: locked });
  });
}

const lock = statement('webhooks.due.lock', (p: Param<{ webhook_ids: number[] }>) =>
  build
    .selectFrom('webhook')
    .select('webhook_id')
    .where(sql<boolean>`webhook_id = any (${p('webhook_ids', 'bigint[]')})`)
    .orderBy('webhook_id')
    .forNoKeyUpdate()
    .skipLocked(),
);

/**
 * The values according to the deliveries themselves. If all due deliveries of an endpoint are leased, it is looked at
 * when the first lease ends, in case its holder is gone. Each lateral has a limit, or the planner reads whole tables
 * when its statistics are old.
 * @param begin where to begin in the order of due times.
 */
function lookedAt(p: Param<{ webhook_ids: number[] }>, begin: RawBuilder<unknown>) {
  const pending = sql`delivery.webhook_id = webhook.webhook_id and state = 'pending' and next_attempt_at >= ${begin}`;
  return sql`
    select webhook.webhook_id, webhook.account_id, known.look_at, known.oldest_at, known.waiting_since,
      first.next_attempt_at as first_at,
      case when enabled and ${ownerObjection()} is null then longest.created_at end as queued_at,
      case when enabled and coalesce(free.next_attempt_at, leased.until) is not null and ${ownerObjection()} is null
        then greatest(least(free.next_attempt_at, leased.until), quiet_until, now(),
          case when consecutive_failures >= ${sql.lit(tripAfter)} then probe_at end) end as next_at
    from unnest(${p('webhook_ids', 'bigint[]')}) as locked (webhook_id)
    cross join lateral (select * from webhook where webhook.webhook_id = locked.webhook_id limit 1) as webhook
    left join lateral (
      select look_at, oldest_at, waiting_since from endpoint_due as noted
      where noted.webhook_id = webhook.webhook_id and noted.account_id = webhook.account_id limit 1
    ) as known on true
    left join lateral (
      select next_attempt_at from delivery where ${pending} order by next_attempt_at limit 1
    ) as first on true
    cross join lateral (
      select min(created_at) as created_at from (
        select created_at from delivery where ${pending} order by next_attempt_at limit ${sql.lit(longestDue)}
      ) as due
    ) as longest
    left join lateral (
      select next_attempt_at from delivery
      where ${pending} and coalesce(leased_until <= now(), true) order by next_attempt_at limit 1
    ) as free on true
    left join lateral (
      select min(leased_until) as until from (
        select leased_until from delivery where ${pending} and next_attempt_at <= now()
          and leased_until > now() and coalesce(free.next_attempt_at > now(), true)
        order by next_attempt_at limit ${sql.lit(mostUnderWay)}
      ) as under_way
    ) as leased on true`;
}

/** A row that was written since is left alone. */
const settle = statement(
  'webhooks.due.settle',
  (p: Param<{ webhook_ids: number[] }>) => sql<object>`
    with found as materialized (${lookedAt(p, sql`known.oldest_at`)})
    update endpoint_due
    set look_at = next_at, waiting_since = queued_at,
      oldest_at = greatest(found.oldest_at, least(first_at, now() - interval '1 second'))
    from found
    where endpoint_due.webhook_id = found.webhook_id and endpoint_due.account_id = found.account_id
      and endpoint_due.look_at is not distinct from found.look_at
      and endpoint_due.oldest_at is not distinct from found.oldest_at`,
);

/** Endpoints whose `look_at` was set too late, or not at all. */
const repair = statement(
  'webhooks.due.repair',
  (p: Param<{ webhook_ids: number[] }>) => sql<object>`
    insert into endpoint_due (webhook_id, account_id, look_at, oldest_at, waiting_since)
    select webhook_id, account_id, next_at, least(oldest_at, first_at), queued_at
    from (${lookedAt(p, sql`'-infinity'`)}) as found
    where next_at is not null
      and coalesce(oldest_at > first_at or look_at > next_at or look_at < now() - interval '1 minute'
        or look_at > now() and waiting_since is distinct from queued_at, true)
    order by webhook_id
    on conflict (webhook_id, account_id) do update
      set look_at = excluded.look_at, oldest_at = least(endpoint_due.oldest_at, excluded.oldest_at),
        waiting_since = excluded.waiting_since`,
);
