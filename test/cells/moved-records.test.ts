import { sql } from 'kysely';
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { migrate } from '../../src/db/migrate.ts';
import { beginEpoch } from '../../src/events/epoch.ts';
import { admin, done } from '../support/admin.ts';
import { type Api, createApi } from '../support/api.ts';
import { type Event, listAllEvents } from '../support/events.ts';
import { eventually, settled } from '../support/eventually.ts';
import { migrationsWith } from '../support/migrations.ts';
import { environmentOf } from '../support/process.ts';
import { startReceiver } from '../support/receiver.ts';
import type { TestService } from '../support/service.ts';
import {
  backTo,
  idsOfCell,
  markAsLeft,
  move,
  otherKey,
  rowsOf,
  startAcme,
  startSecondCell,
  startTwoCells,
  target,
  unlimited,
  whileItWaits,
} from './two-cells.ts';

t.setTimeout(240_000);
t.jobs = 3;

t.test(
  'readers of the feed miss nothing, whatever epochs the cells have begun',
  { buffered: true },
  async (t) => {
    const { first, second, env } = await startTwoCells(t);
    const { acme, path } = await startAcme(first);
    await listed(first);
    const { resume_cursor } = (await acme.get('/events?limit=200')).body;
    const since = `cursor=${resume_cursor}`;
    await beginEpoch(second.database);
    await first.worker?.stop();
    for (const name of ['One', 'Two']) t.equal((await acme.put(path, { name })).status, 200);
    // It found both in the outbox, and the command lists them.
    await beginEpoch(first.database);
    t.equal((await admin(t, env, 'move-account', '--account', 'Acme')).ended, 0);

    const there = createApi(second.url, acme.credentials);
    const [one, two] = await read(there, since);
    t.match([one, two], [{ data: { name: 'One' } }, { data: { name: 'Two' } }]);
    const again = await namesOf(there, `after_event_id=${two?.['id']}`);
    t.same(again, ['One', 'Two'], 'who has seen one event of them may not have seen the other');
    t.equal((await there.put(path, { name: 'Three' })).status, 200);
    await listed(second);
    for (const filter of ['', '&type=item.updated', `&menu_id=${path.split('/')[2]}`])
      t.same(await namesOf(there, since + filter), ['One', 'Two', 'Three']);

    await beginEpoch(second.database);
    t.equal((await there.put(path, { name: 'Four' })).status, 200);
    await done(t, env, 'remove-moved-account', '--account', 'Acme');
    t.equal((await admin(t, backTo({ first, second }), 'move-account', '--account', 'Acme')).ended, 0);
    const here = createApi(first.url, acme.credentials);
    t.equal((await here.put(path, { name: 'Five' })).status, 200);
    await listAllEvents(first.database);
    t.same(await namesOf(here, since), ['One', 'Two', 'Three', 'Four', 'Five']);
  },
);

t.test(
  'what a client and its webhooks were in the middle of goes on in the other cell',
  { buffered: true },
  async (t) => {
    const { first, second, env } = await startTwoCells(t);
    const account = `L'Été "寿司" %s`;
    const { acme, path } = await startAcme(first, account);
    await listed(first);
    await first.worker?.stop();
    const receivers = [await startReceiver(t), await startReceiver(t)] as const;
    const [, paused] = await Promise.all(
      receivers.map(async ({ url }) => (await acme.post('/webhooks', { url })).body.data),
    );
    const hook = `/webhooks/${paused.webhook_id}`;
    t.equal((await acme.put(hook, { enabled: false })).status, 200);
    const rotated = await acme.post(`${hook}/rotate-secret`, {}, once);
    const refused = await acme.post('/webhooks', { url: 'http://10.0.0.1/' }, once);
    t.same([rotated.status, refused.status], [200, 422]);
    t.equal((await acme.put(path, { name: 'Waits' })).status, 200);
    const replay = await acme.post(`${hook}/replay`, {
      since: new Date(Date.now() - 3_600_000).toISOString(),
    });
    t.equal(replay.status, 202);
    const { client_id } = acme.credentials;
    await done(t, environmentOf(first.connection), 'rotate-client-secret', client_id, '--overlap', '1h');

    // Two at once: the second waits for the first, and finds that all is done.
    const moved = await Promise.all([1, 2].map(() => admin(t, env, 'move-account', '--account', account)));
    t.same(
      moved.map(({ ended }) => ended),
      [0, 0],
      moved.map(({ stderr }) => stderr).join(''),
    );
    const metrics = await (await fetch(`${first.url}/metrics`)).text();
    t.match(metrics, /^menus_webhook_backlog\{state="pending"\} 0$/m, 'nothing waits where it has left');
    t.match(metrics, /^menus_webhook_oldest_undelivered_seconds 0$/m);

    const there = createApi(second.url, acme.credentials);
    t.equal((await there.post(`${hook}/rotate-secret`, {}, once)).text, rotated.text);
    t.equal((await there.post('/webhooks', { url: 'http://10.0.0.1/' }, once)).status, 422);
    await receivers[0].until(1, ({ event }) => (event.data as { name?: string }).name === 'Waits');
    t.same(receivers[1].deliveries, []);
    t.equal((await there.put(hook, { enabled: true })).status, 200);
    await settled(second.database);
    const deliveries = receivers[1].deliveries;
    const known = await read(there, 'limit=200');
    t.same(new Set(deliveries.map(({ id }) => id)), new Set(known.map(({ id }) => id)), 'all was replayed');
    for (const secret of [paused.secret, rotated.body.data.secret])
      for (const { body, headers } of deliveries) t.ok(new Webhook(secret).verify(body, headers));
  },
);

t.test('a copy that arrived in vain is never served, and can be removed', { buffered: true }, async (t) => {
  const { first, second, env } = await startTwoCells(t);
  const third = await startSecondCell(t);
  const { acme, path } = await startAcme(first);
  const { account_id } = acme.credentials;
  const elsewhere = { ...env, ...target(third, otherKey) };
  await unlimited(t, first)
    .transaction()
    .execute(async (transaction) => {
      const history = { target: second, table: 'delivery_log', program: () => move(t, env) };
      const program = await whileItWaits(t, history, async () => {
        await sql`select from account_move for update`.execute(transaction);
      });
      // The other cell has it, and this one loses the command before it has noted that.
      await eventually('it is cut off', async () => {
        const { rows } = await sql`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and query like 'update account_move%' and wait_event_type = 'Lock'`.execute(
          first.database,
        );
        return rows.length > 0;
      });
      t.match(await program.outcome, {
        ended: 1,
        stderr: /^admin: copied \d+ rows\nadmin: .*terminating.*\n$/m,
      });
    });
  // With the wrong target, which cannot know.
  await done(t, elsewhere, 'move-account', '--account', 'Acme', '--back');
  t.equal((await acme.put(path, { name: 'Later' })).status, 200);
  t.match(await admin(t, env, 'move-account', '--account', 'Acme'), {
    ended: 1,
    stderr: /copy of account Acme from a move that was given up/,
  });
  t.equal((await admin(t, elsewhere, 'move-account', '--account', 'Acme')).ended, 0);
  t.match(await admin(t, env, 'move-account', '--account', 'Acme'), {
    ended: 1,
    stderr: /has left to another cell/,
  });
  t.match(await admin(t, env, 'move-account', '--account', 'Acme', '--back'), { ended: 1 });
  await t.rejects(createApi(second.url, acme.credentials).get(path), /no token: 503/);
  t.equal((await createApi(third.url, acme.credentials).get(path)).body.data.name, 'Later');

  await sql.raw(markAsLeft).execute(second.database);
  const inSecond = { ...environmentOf(second.connection), ENCRYPTION_KEY: otherKey.toString('base64') };
  t.match(await done(t, inSecond, 'remove-moved-account', '--account', 'Acme'), { removed: Number });
  t.same(await rowsOf(second, account_id), {});
});

t.test('tables that a later release adds give ids of their cell', async (t) => {
  const { connection, database } = await startSecondCell(t);
  const create = (name: string) => `create table ${name} (id bigint generated always as identity);`;
  const directory = migrationsWith(t, {
    '9001_one': create('one'),
    '9002_other': `-- no transaction\n${create('other')}\n`,
  });
  await migrate(connection, { directory });
  for (const table of ['one', 'other', 'one']) {
    const inserted = sql<{ id: number }>`insert into ${sql.table(table)} default values returning id`;
    const [row] = (await inserted.execute(database)).rows;
    t.ok(row && row.id > 3 * idsOfCell && row.id < 4 * idsOfCell, `${table}: ${row?.id}`);
  }
});

const once = { headers: { 'idempotency-key': 'once' } };

/** Waits until every event is in the feed. */
async function listed({ database }: TestService): Promise<void> {
  await eventually('all is listed', async () => {
    const { rows } = await sql`select from outbox`.execute(database);
    return rows.length === 0;
  });
}

async function read(api: Api, query: string): Promise<Event[]> {
  return (await api.get(`/events?${query}`)).body.data;
}

async function namesOf(api: Api, query: string): Promise<unknown[]> {
  return (await read(api, query)).map(({ data }) => data.name);
}
