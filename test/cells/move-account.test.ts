import { sql } from 'kysely';
import { Webhook } from 'standardwebhooks';
import t, { type Test } from 'tap';
import type { Program } from '../../scripts/launch.ts';
import { accountTables, numbered } from '../../src/cells/account-records.ts';
import { blocksRunBy } from '../docs/blocks.ts';
import { commandsOf } from '../docs/terminal.ts';
import { admin, done } from '../support/admin.ts';
import { type Api, type ApiResponse, createApi } from '../support/api.ts';
import { startCells } from '../support/cells.ts';
import { eventually } from '../support/eventually.ts';
import { noPgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { environmentOf } from '../support/process.ts';
import { notInstalled } from '../support/proxies.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { makeItem, makeModifierGroup, makeTree } from '../support/records.ts';
import {
  cloneDatabase,
  emptyDatabase,
  encryptionKey,
  startTestService,
  type TestService,
} from '../support/service.ts';
import { whileLocked } from '../support/while-locked.ts';
import { Group } from './group.ts';
import {
  asTarget,
  backTo,
  idsOfCell,
  markAsLeft,
  move,
  otherKey,
  rowsOf,
  startAcme,
  startTwoCells,
  whileItWaits,
} from './two-cells.ts';

t.setTimeout(240_000);
// Most of the time they wait for the second in which all processes hear of a move.
t.jobs = 3;

const typed = blocksRunBy(import.meta.url).flatMap(commandsOf);
const [moveCommand = [], removeCommand = []] = typed.flatMap(({ line }) => {
  const [, command] = line.split(' admin -- ');
  return command ? [command.split(' ')] : [];
});
const [addToMap = ''] = typed.flatMap(({ line }) => /^echo "(.+)" \| socat/.exec(line)?.[1] ?? []);

t.test(
  'a group moves while everybody works',
  { skip: notInstalled('haproxy'), buffered: true },
  async (t) => {
    const { first, second, env } = await startTwoCells(t);
    const { proxy, tell } = await startCells(t, [first.url, second.url], second.api);
    const acme = await first.client({ account: 'Acme' });
    const receiver = await startReceiver(t);
    // Each of these keeps what follows of its record waiting.
    const hesitant = await startReceiver(t, ({ id }, nth) => (nth === 1 && id.endsWith('0') ? 503 : 204));
    t.equal((await acme.post('/webhooks', { url: hesitant.url })).status, 201);
    const hook = await acme.post('/webhooks', { url: receiver.url });
    t.equal(hook.status, 201);
    const { location, menu, category, item } = await makeTree(acme);
    await makeModifierGroup(acme, location.location_id);
    const items = [item];
    for (let n = 0; n < 7; n += 1) items.push(await makeItem(acme, category));
    const keyed = { headers: { 'idempotency-key': 'once' } };
    const before = await acme.post(`/menus/${menu.menu_id}/categories`, { name: 'Once' }, keyed);
    const path = `/menus/${menu.menu_id}/items/${items[7].item_id}`;
    const kept = await acme.get(path);

    // As after some hours: this part of the log is copied first.
    await eventually('a delivery has ended', async () => {
      const { rows } = await sql`update delivery_log set ended_at = ended_at - interval '20 minutes'
      where webhook_id = ${hook.body.data.webhook_id} returning 1`.execute(first.database);
      return rows.length > 0;
    });

    const moving = new Group(proxy, acme.credentials, items.slice(0, 7));
    const stays = new Group(proxy, first.api.credentials, await itemsOf(first));
    const isThere = new Group(proxy, second.api.credentials, await itemsOf(second));
    for (const group of [moving, stays, isThere]) group.start();
    await eventually('everybody writes', async () =>
      [moving, stays, isThere].every(({ acknowledged }) => acknowledged.length > 20),
    );
    const moved = await admin(t, env, ...moveCommand);
    t.equal(moved.ended, 0, moved.stderr);
    const { account_id, clients, closed_ms } = JSON.parse(moved.stdout);
    t.equal(account_id, acme.credentials.account_id);
    t.same(clients, [acme.credentials.client_id]);
    t.comment(`closed for ${closed_ms} ms`);
    const here = moving.acknowledged.length;
    for (const clientId of clients) await tell(addToMap.replace('client_…', clientId));
    await eventually('it goes on there', async () => moving.acknowledged.length > here + 50);
    for (const group of [stays, isThere]) {
      await group.stop();
      t.same([...group.statuses.keys()].sort(), [200, 201], 'others notice nothing');
    }
    await moving.stop();
    t.same([...moving.statuses.keys()].sort(), [200, 201, 401, 503]);

    const after = createApi(second.url, acme.credentials);
    const receivers = [receiver, hesitant];
    await verify(t, { group: moving, after, second, receivers, secret: hook.body.data.secret });

    await t.test('nothing is created anew', async (t) => {
      const log = await after.get(`/webhooks/${hook.body.data.webhook_id}/deliveries?limit=100`);
      t.ok(log.body.data.length > 0, 'the log of deliveries is there');
      t.equal((await after.get(path)).headers['etag'], kept.headers['etag']);
      t.equal((await after.get(path)).text, kept.text);
      const repeated = await after.post(`/menus/${menu.menu_id}/categories`, { name: 'Once' }, keyed);
      t.equal(repeated.text, before.text, 'a call with a key that was answered before is answered again');
      const created = await makeItem(after, category);
      t.ok(created.item_id > 3 * idsOfCell && created.item_id < 4 * idsOfCell, 'new ids are of the new cell');
      t.equal((await second.api.get(path)).status, 403, 'and nobody else sees it');
    });

    await t.test('the cell that it has left refuses it, then removes it', async (t) => {
      t.equal((await first.api.get(path)).status, 403);
      t.equal((await acme.get(path)).status, 503);
      t.equal((await acme.put(path, { name: 'Late' })).status, 503);
      t.match(await done(t, env, ...removeCommand), { removed: Number });
      t.same(await rowsOf(first, account_id), {}, 'no table has a row of it');
      await eventually('it is forgotten', async () => (await acme.get(path)).status === 401);
      t.equal((await first.api.get(path)).status, 404);
      const { rows } = await sql`select from pg_trigger where tgname like 'account%moves%'`.execute(
        first.database,
      );
      t.same(rows, []);
    });

    await t.test('it moves back', async (t) => {
      const moved = await admin(t, backTo({ first, second }), 'move-account', '--account', 'Acme');
      t.equal(moved.ended, 0, moved.stderr);
      const again = createApi(first.url, acme.credentials);
      t.equal((await again.get(path)).text, kept.text);
      t.equal((await again.put(path, { name: 'Back' })).status, 200);
      t.equal((await acme.get(path)).status, 401, 'no token from before a move is taken');
    });
  },
);

t.test(
  'a move that is killed leaves one cell that takes writes, and the next run goes on',
  { buffered: true },
  async (t) => {
    const { first, second, env } = await startTwoCells(t);
    const { acme, path } = await startAcme(first);
    const there = () => createApi(second.url, acme.credentials);
    let version = 1;
    for (const line of ['waiting for', 'history', 'refusing', 'the rest', 'copied']) {
      await killedAt(move(t, env), line);
      const statuses = [
        (await acme.put(path, { name: `Here ${line}` })).status,
        await statusOf(() => there().put(path, { name: `There ${line}` })),
      ];
      const taken = statuses.filter((one) => one === 200).length;
      t.ok(taken <= 1, `killed when it says "${line}": ${statuses}`);
      version += taken;
    }
    const moved = await admin(t, env, 'move-account', '--account', 'Acme');
    t.equal(moved.ended, 0, moved.stderr);
    const found = await there().get(path);
    t.equal(found.status, 200);
    t.equal(found.body.data.version, version, 'what was acknowledged is there');
    t.equal((await acme.put(path, { name: 'Again' })).status, 503);
  },
);

t.test(
  'a move that was interrupted can be undone until the other cell has the account',
  { buffered: true },
  async (t) => {
    const { first, second, env } = await startTwoCells(t);
    const { acme, path } = await startAcme(first);
    const { account_id } = acme.credentials;
    const last = { target: second, table: 'idempotency_key', program: () => move(t, env) };
    await whileItWaits(t, last, async (program) => {
      t.equal((await acme.put(path, { name: 'No' })).status, 503);
      t.equal((await acme.put(path, { name: 'No' })).headers['retry-after'], '1');
      t.equal((await acme.get(path)).status, 200, 'it is read as before');
      await program.stop('SIGKILL');
    });
    // A dump has read the table, which the command has to get past in the end.
    const dump = await whileItWaits(
      t,
      { target: first, table: 'outbox', mode: 'access share', program: () => move(t, env, 'Acme', '--back') },
      async () => {
        await eventually(
          'writes are taken',
          async () => (await acme.put(path, { name: 'Yes' })).status === 200,
        );
      },
    );
    t.match(await dump.outcome, { ended: 0, stdout: JSON.stringify({ account_id }) });
    t.same(await rowsOf(second, account_id), {});

    t.equal((await admin(t, env, 'move-account', '--account', 'Acme')).ended, 0);
    const late = await admin(t, env, 'move-account', '--account', 'Acme', '--back');
    t.match(late, { ended: 1, stderr: /in the other cell already/ });
  },
);

t.test(
  'a write in progress when its account is closed either takes effect or is refused',
  { buffered: true },
  async (t) => {
    const { first, second, env } = await startTwoCells(t);
    const { acme, path } = await startAcme(first);
    const item = (await acme.get(path)).body.data;
    const { path: other } = await startAcme(first, 'Other');
    const beside = await first.client({ account: 'Other' });
    const history = { target: second, table: 'delivery_log', program: () => move(t, env) };
    let written: Promise<ApiResponse[]> | undefined;
    await whileItWaits(t, history, async (program) => {
      const isHeld = Promise.withResolvers<void>();
      written = whileLocked(
        first.database,
        ['item', item.item_id],
        [() => acme.put(path, { name: 'Under way' })],
        async () => {
          isHeld.resolve();
          await eventually('it closes the account', async () => program.printed.stderr.includes('refusing'));
          // It waits for the write above, and lets others pass.
          for (let n = 0; n < 5; n += 1) t.equal((await beside.put(other, { name: `${n}` })).status, 200);
          t.notMatch(program.printed.stderr, /the rest/);
        },
      );
      await isHeld.promise;
    }).then((program) => program.outcome);
    const [response] = (await written) ?? [];
    t.equal(response?.status, 200);
    const found = await createApi(second.url, acme.credentials).get(path);
    t.equal(found.text, response?.text);
  },
);

t.test('what holds a table for long keeps nobody from writing', { buffered: true }, async (t) => {
  const { first, env } = await startTwoCells(t);
  const { acme, path } = await startAcme(first);
  const vacuum = { target: first, table: 'idempotency_key', mode: 'share update exclusive' } as const;
  const program = await whileItWaits(t, { ...vacuum, program: () => move(t, env) }, async ({ printed }) => {
    await eventually('it says so', async () => /refusing its writes/.test(printed.stderr));
    t.equal((await acme.put(path, { name: 'Meanwhile' })).status, 200);
  });
  t.match(await program.outcome, { ended: 0 });
});

t.test('an impossible move is refused before anything has changed', { buffered: true }, async (t) => {
  const { first, second, env } = await startTwoCells(t);
  const { acme, path } = await startAcme(first);
  const refusal = async (changed: Record<string, string>, stderr: RegExp, account = 'Acme') => {
    const outcome = await admin(t, { ...env, ...changed }, 'move-account', '--account', account);
    t.match(outcome, { ended: 1, stdout: '', stderr });
    t.match(outcome.stderr, /^admin: [^\n]+\n$/, 'in one line');
  };
  await refusal({}, /no account Nobody/, 'Nobody');
  await refusal({ TARGET_DATABASE_URL: '' }, /set TARGET_DATABASE_URL/);
  await refusal({ TARGET_ENCRYPTION_KEY: 'short' }, /TARGET_ENCRYPTION_KEY/);
  await refusal(
    { TARGET_ENCRYPTION_KEY: encryptionKey.toString('base64') },
    /the target cannot be used: ENCRYPTION_KEY/,
  );
  if (!noPgBouncer)
    for (const mode of ['session', 'transaction'] as const) {
      const { DATABASE_URL } = environmentOf(await startPgBouncer(t, first.connection, { mode }));
      await refusal({ DATABASE_URL }, /127\.0\.0\.1:\d+ is a pooler/);
    }
  const same = await cloneDatabase(t);
  await refusal(asTarget(environmentOf(same).DATABASE_URL, encryptionKey), /both databases are cell 0/);
  const unmigrated = await emptyDatabase(t);
  await refusal(asTarget(environmentOf(unmigrated).DATABASE_URL, otherKey), /target is of an older release/);
  await sql`insert into kysely_migration (name, timestamp) values ('9001_later', '')`.execute(
    second.database,
  );
  await refusal({}, /the target is of a newer release/);
  await sql`delete from kysely_migration where name = '9001_later'`.execute(second.database);
  await sql`select setval('item_item_id_seq', ${3 * idsOfCell + 100})`.execute(first.database);
  await startAcme(first);
  await refusal({}, /the target gives ids that the account has, such as item 26388279066725/);
  await sql`delete from item where item_id > ${3 * idsOfCell}`.execute(first.database);
  for (const table of ['feed', 'event'])
    await sql`select drop_partitions(${table}, now() + interval '1 day')`.execute(second.database);
  await refusal({}, /the target keeps no events before .*EVENT_RETENTION_DAYS/);
  await second.client({ account: 'Acme' });
  await refusal({}, /the target has an account Acme of its own/);
  t.equal((await acme.put(path, { name: 'As before' })).status, 200);
  t.same(await sql`select * from account_move`.execute(first.database).then(({ rows }) => rows), []);
});

t.test(
  'a cell that was restored from before the move leaves the group alone',
  { buffered: true },
  async (t) => {
    const { first, env } = await startTwoCells(t);
    const { acme, path } = await startAcme(first);
    const hook = await acme.post('/webhooks', { url: (await startReceiver(t)).url });
    t.equal(hook.status, 201);
    await sql.raw(markAsLeft).execute(first.database);
    await eventually('it is refused', async () => (await acme.get(path)).status === 503);
    t.match(await done(t, env, ...removeCommand), { removed: Number });
    t.same(await rowsOf(first, acme.credentials.account_id), {});
  },
);

t.test('a move includes every table that has an account', { buffered: true }, async (t) => {
  const { database } = await startTestService(t);
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.columns
    join pg_class on pg_class.oid = table_name::regclass and relkind in ('r', 'p') and not relispartition
    where table_schema = current_schema() and column_name = 'account_id' order by 1`.execute(database);
  const others = ['account_move', 'outbox', 'revoked_token'];
  t.same(
    rows.map(({ name }) => name),
    [...accountTables.map(({ name }) => name), ...others].sort(),
  );
  const { rows: identities } = await sql<{ name: string }>`
    select table_name as name from information_schema.columns
    where table_schema = current_schema() and is_identity = 'YES' order by 1`.execute(database);
  t.same(
    identities.map(({ name }) => name),
    [...numbered, 'outbox'].sort(),
    'and looks at all that is numbered',
  );
});

async function itemsOf({ api }: TestService) {
  const { menu, category } = await makeTree(api);
  return [await makeItem(api, category), await makeItem(api, { ...category, menu_id: menu.menu_id })];
}

/** Unless it comes to its end before. */
async function killedAt(program: Program, line: string): Promise<void> {
  let isOver = false;
  program.outcome.then(() => (isOver = true));
  await eventually(`it says ${line}`, async () => isOver || program.printed.stderr.includes(line));
  await program.stop('SIGKILL');
}

async function statusOf(call: () => Promise<{ status: number }>): Promise<number> {
  try {
    return (await call()).status;
  } catch {
    return 401;
  }
}

interface Verified {
  group: Group;
  after: Api;
  second: TestService;
  receivers: Receiver[];
  secret: string;
}

/** What the group was told, against what the other cell has. */
async function verify(t: Test, { group, after, second, receivers, secret }: Verified): Promise<void> {
  await eventually('every event is listed, and nothing is about to be restored', async () => {
    const { rows } = await sql<{ busy: boolean }>`select exists (select from outbox)
      or exists (select from item where unavailable_until is not null) as busy`.execute(second.database);
    return rows[0]?.busy === false;
  });
  const all = await eventsOf(after);
  await group.readToEnd();
  const ids = all.map(({ id }) => id);
  t.same(
    group.read.map(({ id }) => id),
    ids,
    'a reader that went on has every event once, in their order',
  );
  const itemEvents = all.filter(({ type }) => type.startsWith('item.'));
  for (const [id, events] of Map.groupBy(itemEvents, ({ data }) => data.item_id)) {
    const versions = events.map(({ data }) => data.version);
    const without = Array.from(versions, (_, index) => index + 1);
    t.same(versions, without, `the versions of item ${id} have no gap`);
  }
  t.ok(itemEvents.some(({ type, request_id }) => type === 'item.toggled' && request_id === null));
  const names = new Map(itemEvents.map(({ data }) => [`${data.item_id} ${data.version}`, data.name]));
  const lost = group.acknowledged.filter(
    ({ item_id, version, name }) => names.get(`${item_id} ${version}`) !== name,
  );
  t.same(lost, [], `none of ${group.acknowledged.length} acknowledged writes is lost`);
  const made = all.filter(({ type }) => type === 'category.created').map(({ data }) => data.name);
  t.same(
    made.filter((name) => name.startsWith('Category')),
    group.made,
    'calls that were repeated with their key took effect once',
  );
  for (const { deliveries } of receivers)
    await eventually('everything is delivered', async () => {
      const delivered = new Set(deliveries.map(({ id }) => id));
      return group.read.every(({ id }) => delivered.has(id));
    });
  const last = receivers[0]?.deliveries.at(-1);
  if (last)
    t.ok(new Webhook(secret).verify(last.body, last.headers), 'it is signed with the secret that it had');
}

// biome-ignore lint/suspicious/noExplicitAny: the contract check has validated it
async function eventsOf(api: Api): Promise<any[]> {
  const all = [];
  for (let cursor = ''; ; ) {
    const { body } = await api.get(`/events?limit=200${cursor}`);
    all.push(...body.data);
    if (body.next_cursor === null) return all;
    cursor = `&cursor=${body.next_cursor}`;
  }
}
