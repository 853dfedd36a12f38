import { sql } from 'kysely';
import { Webhook } from 'standardwebhooks';
import t, { type Test } from 'tap';
import { launch, type Program } from '../../scripts/launch.ts';
import { accountTables } from '../../src/cells/account-records.ts';
import { chooseCell } from '../../src/db/cell.ts';
import { openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { blocksRunBy } from '../docs/blocks.ts';
import { commandsOf } from '../docs/terminal.ts';
import { admin, done } from '../support/admin.ts';
import { type Api, createApi } from '../support/api.ts';
import { startCells } from '../support/cells.ts';
import { eventually } from '../support/eventually.ts';
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

t.setTimeout(240_000);

const typed = blocksRunBy(import.meta.url).flatMap(commandsOf);
const [moveCommand = [], removeCommand = []] = typed.flatMap(({ line }) => {
  const [, command] = line.split(' admin -- ');
  return command ? [command.split(' ')] : [];
});
const [addToMap = ''] = typed.flatMap(({ line }) => /^echo "(.+)" \| socat/.exec(line)?.[1] ?? []);
const [markAsLeft = ''] = typed.flatMap(({ line }) => /^psql .* -c "(.+)"$/.exec(line)?.[1] ?? []);
const otherKey = Buffer.alloc(32, 'other');
const idsOfCell = 2 ** 43;

const cellThree = emptyDatabase(t).then(async (connection) => {
  await migrate(connection);
  const database = openDatabase(connection, { max: 1 });
  await chooseCell(database, 3);
  await database.destroy();
  return { template: connection.database as string };
});

t.test('a group moves while everybody works', { skip: notInstalled('haproxy') }, async (t) => {
  const { first, second, env } = await startTwoCells(t);
  const { proxy, tell } = await startCells(t, [first.url, second.url], second.api);
  const acme = await first.client({ account: 'Acme' });
  const receiver = await startReceiver(t);
  const hesitant = await startReceiver(t, (_delivery, nth) => (nth === 1 ? 503 : 204));
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
    const back = {
      ...environmentOf(second.connection),
      ENCRYPTION_KEY: otherKey.toString('base64'),
      ...target(first, encryptionKey),
    };
    const moved = await admin(t, back, 'move-account', '--account', 'Acme');
    t.equal(moved.ended, 0, moved.stderr);
    const again = createApi(first.url, acme.credentials);
    t.equal((await again.get(path)).text, kept.text);
    t.equal((await again.put(path, { name: 'Back' })).status, 200);
  });
});

t.test(
  'a move that is killed leaves one cell that takes writes, and is finished by the next run',
  async (t) => {
    for (const line of ['waiting for', 'history', 'refusing', 'the rest', 'copied'])
      await t.test(`killed when it says "${line}"`, async (t) => {
        const { first, second, env } = await startTwoCells(t);
        const { acme, path } = await startAcme(first);
        const program = move(t, env);
        await killedAt(program, line);
        const there = createApi(second.url, acme.credentials);
        const servers = [
          await acme.put(path, { name: 'Here' }),
          await statusOf(() => there.put(path, { name: 'There' })),
        ];
        t.ok(
          servers.filter((one) => one === 200 || (typeof one === 'object' && one.status === 200)).length <= 1,
        );
        const moved = await admin(t, env, 'move-account', '--account', 'Acme');
        t.equal(moved.ended, 0, moved.stderr);
        const found = await createApi(second.url, acme.credentials).get(path);
        t.equal(found.status, 200);
        const version = servers.some((one) => typeof one === 'object' && one.status === 200) ? 2 : 1;
        t.equal(found.body.data.version, version, 'what was acknowledged is there');
        t.equal((await acme.put(path, { name: 'Again' })).status, 503);
      });
  },
);

t.test('a move that was interrupted can be undone until the other cell has the account', async (t) => {
  const { first, second, env } = await startTwoCells(t);
  const { acme, path } = await startAcme(first);
  await unlimited(t, second)
    .connection()
    .execute(async (connection) => {
      // The copy waits for this lock, so that it is killed in the middle of it.
      await sql`begin`.execute(connection);
      await sql`lock table idempotency_key in access exclusive mode`.execute(connection);
      const program = move(t, env);
      await eventually('it copies', async () => program.printed.stderr.includes('the rest'));
      await eventually('it waits', async () => {
        const { rows } =
          await sql`select from pg_locks where relation = 'idempotency_key'::regclass and not granted`.execute(
            connection,
          );
        return rows.length > 0;
      });
      t.equal((await acme.put(path, { name: 'No' })).status, 503);
      t.equal((await acme.put(path, { name: 'No' })).headers['retry-after'], '1');
      t.equal((await acme.get(path)).status, 200, 'it is read as before');
      await program.stop('SIGKILL');
      await sql`rollback`.execute(connection);
    });
  t.same(await done(t, env, 'move-account', '--account', 'Acme', '--back'), {
    account_id: acme.credentials.account_id,
  });
  t.equal((await acme.put(path, { name: 'Yes' })).status, 200);
  t.same(await rowsOf(second, acme.credentials.account_id), {});

  t.equal((await admin(t, env, 'move-account', '--account', 'Acme')).ended, 0);
  const late = await admin(t, env, 'move-account', '--account', 'Acme', '--back');
  t.match(late, { ended: 1, stderr: /in the other cell already/ });
});

t.test('a write in progress when its account is closed either takes effect or is refused', async (t) => {
  const { first, second, env } = await startTwoCells(t);
  const { acme, path } = await startAcme(first);
  const item = (await acme.get(path)).body.data;
  const { path: other } = await startAcme(first, 'Other');
  const copying = Promise.withResolvers<void>();
  const locked = unlimited(t, second)
    .transaction()
    .execute(async (transaction) => {
      await sql`lock table delivery_log in access exclusive mode`.execute(transaction);
      await copying.promise;
    });
  const program = move(t, env);
  await eventually('it copies', async () => program.printed.stderr.includes('its history'));
  const [written] = await whileLocked(
    first.database,
    ['item', item.item_id],
    [() => acme.put(path, { name: 'Under way' })],
    async () => {
      copying.resolve();
      await eventually('it closes the account', async () => program.printed.stderr.includes('refusing'));
      // It waits for the write above, and lets others pass.
      const beside = await first.client({ account: 'Other' });
      for (let n = 0; n < 5; n += 1) t.equal((await beside.put(other, { name: `${n}` })).status, 200);
      t.notMatch(program.printed.stderr, /the rest/);
    },
  );
  t.equal(written?.status, 200);
  await locked;
  t.equal((await program.outcome).ended, 0);
  const found = await createApi(second.url, acme.credentials).get(path);
  t.equal(found.text, written?.text);
});

t.test('an impossible move is refused before anything has changed', async (t) => {
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
  const same = await cloneDatabase(t);
  await refusal(asTarget(environmentOf(same).DATABASE_URL, encryptionKey), /both databases are cell 0/);
  const unmigrated = await emptyDatabase(t);
  await refusal(asTarget(environmentOf(unmigrated).DATABASE_URL, otherKey), /target is of an older release/);
  await sql`insert into kysely_migration (name, timestamp) values ('9001_later', '')`.execute(
    second.database,
  );
  await refusal({}, /the target is of a newer release/);
  await sql`delete from kysely_migration where name = '9001_later'`.execute(second.database);
  await second.client({ account: 'Acme' });
  await refusal({}, /the target has an account Acme of its own/);
  t.equal((await acme.put(path, { name: 'As before' })).status, 200);
  t.same(await sql`select * from account_move`.execute(first.database).then(({ rows }) => rows), []);
});

t.test('a cell that was restored from before the move leaves the group alone', async (t) => {
  const { first, env } = await startTwoCells(t);
  const { acme, path } = await startAcme(first);
  const hook = await acme.post('/webhooks', { url: (await startReceiver(t)).url });
  t.equal(hook.status, 201);
  await sql.raw(markAsLeft).execute(first.database);
  await eventually('it is refused', async () => (await acme.get(path)).status === 503);
  t.match(await done(t, env, ...removeCommand), { removed: Number });
  t.same(await rowsOf(first, acme.credentials.account_id), {});
});

t.test('a move includes every table that has an account', async (t) => {
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
});

interface TwoCells {
  first: TestService;
  second: TestService;
  /** Of the command that moves from the first to the second. */
  env: Record<string, string>;
}

async function startTwoCells(t: Test): Promise<TwoCells> {
  const connection = await cloneDatabase(t, await cellThree);
  const worker = { retryDelay: () => 300 };
  const first = await startTestService(t, { worker });
  const second = await startTestService(t, { connection, encryptionKeys: [otherKey], worker });
  await makeTree(second.api);
  return { first, second, env: { ...environmentOf(first.connection), ...target(second, otherKey) } };
}

function target({ connection }: TestService, key: Buffer): Record<string, string> {
  return asTarget(environmentOf(connection).DATABASE_URL, key);
}

function asTarget(url: string, key: Buffer): Record<string, string> {
  return { TARGET_DATABASE_URL: url, TARGET_ENCRYPTION_KEY: key.toString('base64') };
}

async function startAcme(first: TestService, account = 'Acme') {
  const acme = await first.client({ account });
  const { menu, item } = await makeTree(acme);
  return { acme, path: `/menus/${menu.menu_id}/items/${item.item_id}` };
}

async function itemsOf({ api }: TestService) {
  const { menu, category } = await makeTree(api);
  return [await makeItem(api, category), await makeItem(api, { ...category, menu_id: menu.menu_id })];
}

/** Connections that may hold a lock for as long as a test takes. */
function unlimited(t: Test, { connection }: TestService) {
  const database = openDatabase({ ...connection, idle_in_transaction_session_timeout: 0 }, { max: 1 });
  t.teardown(() => database.destroy());
  return database;
}

function move(t: Test, env: Record<string, string>): Program {
  const program = launch([process.execPath, 'scripts/admin.ts', 'move-account', '--account', 'Acme'], env);
  t.teardown(() => program.stop('SIGKILL'));
  return program;
}

async function killedAt(program: Program, line: string): Promise<void> {
  await eventually(`it says ${line}`, async () => program.printed.stderr.includes(line));
  await program.stop('SIGKILL');
}

async function statusOf(call: () => Promise<{ status: number }>): Promise<number> {
  try {
    return (await call()).status;
  } catch {
    return 401;
  }
}

/** How many rows each table has of an account, where it has any. */
async function rowsOf({ database }: TestService, accountId: number): Promise<Record<string, number>> {
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.columns
    join pg_class on pg_class.oid = table_name::regclass and relkind in ('r', 'p') and not relispartition
    where table_schema = current_schema() and column_name = 'account_id'`.execute(database);
  const counts: Record<string, number> = {};
  for (const { name } of rows) {
    const { rows: found } = await sql<{ count: number }>`
      select count(*) from ${sql.table(name)} where account_id = ${accountId}`.execute(database);
    if (found[0]?.count) counts[name] = found[0].count;
  }
  return counts;
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
