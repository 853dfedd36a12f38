import { CompiledQuery, type RawBuilder, sql } from 'kysely';
import t from 'tap';
import { type Database, patient } from '../../../src/db/database.ts';
import { statementTexts } from '../../../src/db/statement.ts';
import { keepBounds, readBacklog } from '../../../src/webhooks/delivery/backlog.ts';
import { noteDue, watchDue } from '../../../src/webhooks/delivery/due-endpoints.ts';
import { pagesRead, withoutAutovacuum } from '../../support/buffers.ts';
import { addEvents, webhookIds, withWebhooks } from '../../support/queue.ts';

/*
 * The work of reading the backlog, counted in rows: however much waits, it stays below what is allowed for it, also
 * before the database has statistics of it.
 */

const most = 10_000;
const waiting = 4 * most;

for (const endpoints of [1, 100, 5_000])
  for (const kind of ['pending', 'held', 'mixed'] as const)
    t.test(
      `at ${endpoints} endpoints, with ${waiting} deliveries ${kind}, a bounded number of rows is read`,
      async (t) => {
        const database = await withWebhooks(t, endpoints, { max: 1 });
        await addDeliveries(database, endpoints, kind);
        const { pending, held } = await readBacklog(database);
        t.ok(pending > 0 && pending <= most && held <= most);
        if (kind !== 'held') t.equal(pending, most);
        if (kind === 'held') t.ok(held > most / 2);

        const rows = rowsRead(await planOf(database));
        t.ok(rows > most / 2, 'and the test sees them');
        // An endpoint costs a look for the next and, when there are many, a look for its oldest.
        t.ok(rows <= 3 * most + endpoints + 1, `${rows} rows are read`);
      },
    );

t.test('finished deliveries add nothing to it', async (t) => {
  const database = await withWebhooks(t, 1, { max: 1 });
  await addDeliveries(database, 1, 'mixed');
  await sql`update delivery set state = 'delivered', next_attempt_at = null`.execute(database);
  await addDeliveries(database, 1, 'mixed');
  await sql`vacuum delivery`.execute(database);
  t.ok(rowsRead(await planOf(database)) <= 3 * most + 2);
});

t.test('of unrelayed events no more are read than are counted', async (t) => {
  const database = await withWebhooks(t, 1, { max: 1 });
  await addEvents(database, { count: waiting, records: 100 });
  const { unrelayed, oldest_seconds } = await readBacklog(database);
  t.equal(unrelayed, most);
  t.ok(oldest_seconds > 0);
  // And the oldest, of whose event the time is read.
  t.ok(rowsRead(await planOf(database)) <= most + 2);
});

const idle: Record<string, RawBuilder<unknown>> = {
  'wait for a retry': sql`update delivery set next_attempt_at = now() + interval '1 hour'`,
  'are disabled': sql`update webhook set enabled = false`,
  'have an open circuit': sql`update webhook set consecutive_failures = 10, failing_since = now(),
    probe_at = now() + interval '1 minute'`,
};

for (const [reason, make] of Object.entries(idle))
  t.test(`reading it costs the same beside 5,000 endpoints that ${reason}`, async (t) => {
    const costs: number[] = [];
    for (const endpoints of [200, 5_000]) {
      const database = await withWebhooks(t, endpoints, { max: 1 });
      await withoutAutovacuum(database);
      await addDeliveries(database, endpoints, 'mixed', 2 * endpoints);
      await sql`update delivery set created_at = now() - make_interval(hours => webhook_id::int)`.execute(
        database,
      );
      await make.execute(database);
      await settleAll(database);
      await readBacklog(database);
      costs.push(await pagesRead(database, () => readBacklog(database)));
      const { pending, oldest_seconds } = await readBacklog(database);
      t.equal(pending, 0, 'nothing is due');
      const hours = reason === 'are disabled' ? 0 : endpoints;
      t.equal(Math.floor(oldest_seconds / 3600), hours, 'and it is known how long the oldest waits');
    }
    const [few = 0, many = 0] = costs;
    t.ok(many <= few + 5, `${few} pages, ${many} pages`);
  });

t.test('how long something waits is forgotten once it is delivered, or nobody waits for it', async (t) => {
  const database = await withWebhooks(t, 2, { max: 1 });
  await addDeliveries(database, 2, 'pending', 20);
  const oldest = async () => {
    await settleAll(database);
    return Math.round((await readBacklog(database)).oldest_seconds / 60);
  };
  await sql`update delivery set next_attempt_at = now() + interval '1 hour',
    created_at = now() - case webhook_id when 1 then interval '9 minutes' else interval '5 minutes' end`.execute(
    database,
  );
  t.equal(await oldest(), 9);
  await sql`update webhook set enabled = false where webhook_id = 1`.execute(database);
  t.equal(Math.round((await readBacklog(database)).oldest_seconds / 60), 5, 'at once');
  t.equal(await oldest(), 5);
  await sql`delete from delivery`.execute(database);
  t.equal(await oldest(), 0);
});

t.test('a reading that takes longer than a second is given up', async (t) => {
  const database = await withWebhooks(t, 1, { max: 2 });
  await addDeliveries(database, 1, 'pending');
  await database.transaction().execute(async (transaction) => {
    await sql`lock table webhook in access exclusive mode`.execute(transaction);
    await t.rejects(readBacklog(database), { code: '57014' });
  });
  t.equal((await readBacklog(database)).pending, most);
});

/** In turn for each endpoint; what is held waits behind the first event of one of two records. */
async function addDeliveries(
  database: Database,
  endpoints: number,
  kind: 'pending' | 'held' | 'mixed',
  count = waiting,
) {
  await sql`
    insert into delivery (account_id, webhook_id, event_id, event_sequence, event_type, record, state, next_attempt_at)
    select 1, 1 + n % ${endpoints}, uuidv7(), n, 'item.toggled', 'item:' || case when own then n else turn % 2 end,
      case when own or turn < 2 then 'pending' else 'held' end, case when own or turn < 2 then now() end
    from (
      select n, n / ${endpoints} as turn, ${kind} = 'pending' or ${kind} = 'mixed' and (n / ${endpoints}) % 2 = 0 as own
      from generate_series(0, ${count} - 1) as n
    ) as one`.execute(patient(database));
  await noteDue(database, await webhookIds(database), new Date(0));
}

interface Plan {
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: Plan[];
}

async function planOf(database: Database): Promise<Plan> {
  const text = statementTexts().find(({ name }) => name === 'webhooks.backlog')?.text;
  const { rows } = await database.transaction().execute(async (transaction) => {
    await keepBounds(transaction);
    return transaction.executeQuery<{ 'QUERY PLAN': string }>(
      CompiledQuery.raw(`explain (analyze, format json) ${text}`),
    );
  });
  return JSON.parse(rows[0]?.['QUERY PLAN'] ?? '')[0].Plan;
}

/** Of the tables that grow. */
function rowsRead(plan: Plan): number {
  const below = (plan.Plans ?? []).reduce((sum, one) => sum + rowsRead(one), 0);
  if (!['delivery', 'event', 'outbox'].includes(plan['Relation Name'] ?? '')) return below;
  const { 'Rows Removed by Filter': filtered = 0, 'Rows Removed by Index Recheck': rechecked = 0 } = plan;
  return below + plan['Actual Loops'] * (plan['Actual Rows'] + filtered + rechecked);
}

/** Lets a second pass for the watcher, and watches until nothing is left to put off. */
async function settleAll(database: Database): Promise<void> {
  await noteDue(database, await webhookIds(database));
  await sql`update endpoint_due set look_at = look_at - interval '2 seconds'`.execute(database);
  const watch = watchDue(database);
  while (await watch.next());
  await sql`vacuum analyze endpoint_due, webhook, delivery`.execute(database);
}
