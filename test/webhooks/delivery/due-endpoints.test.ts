import { type RawBuilder, sql } from 'kysely';
import t from 'tap';
import { type Database, patient } from '../../../src/db/database.ts';
import { type Claim, claimDue } from '../../../src/webhooks/delivery/claim.ts';
import { watchDue } from '../../../src/webhooks/delivery/due-endpoints.ts';
import { recordOutcomes } from '../../../src/webhooks/delivery/outcomes.ts';
import { relayBatch } from '../../../src/webhooks/delivery/relay.ts';
import { pagesRead, withoutAutovacuum } from '../../support/buffers.ts';
import { eventually } from '../../support/eventually.ts';
import { delivered } from '../../support/outcomes.ts';
import { addEvents, withWebhooks } from '../../support/queue.ts';

const claimAll = { limit: 1000, perEndpoint: 1000, busy: new Map<number, number>(), leaseMs: 30_000 };
const retentionDays = 30;

/** What keeps an endpoint from being attempted, each with a delivery that waits. */
const idle: Record<string, RawBuilder<unknown>> = {
  'wait for a retry': sql`update delivery set next_attempt_at = now() + interval '1 hour' where webhook_id > 1`,
  'are disabled': sql`update webhook set enabled = false where webhook_id > 1`,
  'have an open circuit': sql`update webhook set consecutive_failures = 10, failing_since = now(),
    probe_at = now() + interval '1 minute' where webhook_id > 1`,
  'asked for quiet': sql`update webhook set quiet_until = now() + interval '1 minute' where webhook_id > 1`,
  'belong to a disabled client': sql`with disabled as (
      insert into client (client_id, account_id, secret_hash, scopes, disabled_at)
      values ('disabled', 1, '', '{menus:read}', now())
    ) update webhook set client_id = 'disabled' where webhook_id > 1`,
  'have one under way': sql`update delivery set leased_until = now() + interval '1 minute' where webhook_id > 1`,
};

for (const [reason, make] of Object.entries(idle))
  t.test(`a claim costs the same beside 5,000 endpoints that ${reason}`, async (t) => {
    const costs: number[] = [];
    for (const endpoints of [200, 5_000]) {
      const database = await withWebhooks(t, endpoints, { max: 1 });
      await withoutAutovacuum(database);
      await addOneEach(database, endpoints);
      await make.execute(database);
      await sql`update webhook set event_types = '{menu.*}' where webhook_id > 1`.execute(database);
      await settleAll(database);
      await addEvents(database, { count: 1, records: 1 });
      await relayBatch(database, { retentionDays });
      await claimDue(database, claimAll);
      costs.push(await pagesRead(database, () => claimDue(database, claimAll)));
    }
    const [few = 0, many = 0] = costs;
    t.ok(few > 0 && many <= few + 5, `${few} pages, ${many} pages`);
  });

t.test('an endpoint is claimed once whatever kept it from being attempted ends', async (t) => {
  const ends: Record<string, (database: Database) => Promise<unknown>> = {
    'a retry is due': (database) => setDue(database, 'next_attempt_at', 'delivery'),
    'a probe is due': (database) => setDue(database, 'probe_at', 'webhook'),
    'its quiet is over': (database) => setDue(database, 'quiet_until', 'webhook'),
    'a lease has run out': (database) => setDue(database, 'leased_until', 'delivery'),
  };
  for (const [end, soon] of Object.entries(ends)) {
    const database = await withWebhooks(t, 1);
    await addOneEach(database, 1);
    if (end === 'a probe is due')
      await sql`update webhook set consecutive_failures = 10, failing_since = now()`.execute(database);
    await soon(database);
    await settleAll(database);
    t.same(await claimDue(database, claimAll), [], `before ${end}`);
    const [{ look_at, at } = { look_at: 0, at: 1 }] = (
      await sql<{ look_at: number; at: number }>`
        select extract(epoch from look_at)::float8 as look_at,
          extract(epoch from now() + interval '1 hour')::float8 as at from endpoint_due`.execute(database)
    ).rows;
    t.ok(Math.abs(look_at - at) < 60, 'it is looked at then');
    // The hour passes.
    await sql`update delivery set next_attempt_at = least(next_attempt_at, now()), leased_until = null`.execute(
      database,
    );
    await sql`update webhook set probe_at = null, quiet_until = null, consecutive_failures = 0`.execute(
      database,
    );
    await sql`update endpoint_due set look_at = look_at - interval '1 hour'`.execute(database);
    t.equal((await claimDue(database, claimAll)).length, 1, end);
  }
});

t.test('what is recorded too late, or not at all, is found by looking through all endpoints', async (t) => {
  const mistakes = {
    'an older version queued it': sql`delete from endpoint_due`,
    'it is thought to be due tomorrow': sql`update endpoint_due set look_at = now() + interval '1 day'`,
    'it is thought to have nothing': sql`update endpoint_due set look_at = null`,
    'its deliveries are thought to be younger': sql`update endpoint_due set oldest_at = now() + interval '1 day'`,
    'a clock went forward': sql`update endpoint_due set look_at = now() - interval '1 day'`,
  };
  for (const [mistake, make] of Object.entries(mistakes)) {
    const database = await withWebhooks(t, 500);
    await addOneEach(database, 500);
    await make.execute(database);
    t.same(await claimDue(database, claimAll), [], `${mistake}, and nothing is claimed`);
    const watch = watchDue(database);
    const claimed = new Set<number>();
    await eventually(mistake, async () => {
      await watch.next();
      for (const { webhook_id } of await claimDue(database, claimAll)) claimed.add(webhook_id);
      return claimed.size === 500;
    });
    t.pass(mistake);
  }
});

t.test('a backlog is claimed to its end while watchers defer what they think is done', async (t) => {
  const database = await withWebhooks(t, 5);
  const watchers = [watchDue(database), watchDue(database)];
  const claimed: Claim[] = [];
  let queued = 0;
  await eventually('all is claimed', async () => {
    if (queued < 200) await addEvents(database, { count: 10, records: 100 });
    queued += 10;
    await sql`update endpoint_due set look_at = look_at - interval '2 seconds' where look_at > now() - interval '3 seconds'`.execute(
      database,
    );
    const [, , , claims] = await Promise.all([
      relayBatch(database, { retentionDays, maxEvents: 3 }),
      ...watchers.map((watch) => watch.next()),
      claimDue(database, { ...claimAll, limit: 100 }),
    ]);
    claimed.push(...(claims as Claim[]));
    await recordOutcomes(database, (claims as Claim[]).map(delivered));
    return claimed.length === 5 * 200;
  });
  t.equal(new Set(claimed.map(({ delivery_id }) => delivery_id)).size, 5 * 200);
});

/** A delivery that is due at each endpoint. */
async function addOneEach(database: Database, endpoints: number): Promise<void> {
  await addEvents(database, { count: 1, records: 1 });
  // As the worker does: five thousand rows in one batch take seconds on a busy machine.
  while ((await relayBatch(patient(database), { retentionDays, maxDeliveries: endpoints })) > 0);
}

/** In an hour. */
function setDue(database: Database, column: string, table: string): Promise<unknown> {
  return sql`update ${sql.table(table)} set ${sql.ref(column)} = now() + interval '1 hour'`.execute(database);
}

/** Lets a second pass for the watcher, and watches until nothing is left to put off. */
async function settleAll(database: Database): Promise<void> {
  await sql`update endpoint_due set look_at = look_at - interval '2 seconds'`.execute(database);
  const watch = watchDue(database);
  while (await watch.next());
  await sql`vacuum analyze endpoint_due, webhook, delivery`.execute(database);
}
