/*
 * The upgrade to the present release, and the way back: the build of the previous one serves a schema that is migrated
 * beneath it, is restarted on it, and works beside the present build. Both are called without a pause, and every
 * response is held against the contract of its own build. As the present release may have no migration that the
 * previous one lacks, the next release is played as well: a column more in every table, a table, an index.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { operations } from '../../generated/operations.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { createApi } from '../support/api.ts';
import { settled } from '../support/eventually.ts';
import {
  type Build,
  callEveryOperation,
  requireSame,
  revokeOwnToken,
  type Written,
} from '../support/every-operation.ts';
import { migrationsWith } from '../support/migrations.ts';
import { environmentOf, type RunningService, root, runToEnd, startProcess } from '../support/process.ts';
import { type Receiver, startReceiver, verify } from '../support/receiver.ts';
import { makeTree } from '../support/records.ts';
import { emptyDatabase } from '../support/service.ts';
import { checkOutPreviousRelease, whyMissing } from './previous-release.ts';

t.setTimeout(240_000);

t.test('a directory without the previous release is reported in one line that names the fix', async (t) => {
  const clone = mkdtempSync(join(tmpdir(), 'no-history-'));
  t.teardown(() => rmSync(clone, { recursive: true, force: true }));
  t.equal(spawnSync('git', ['init', '--quiet', clone]).status, 0);
  t.equal(
    whyMissing(clone),
    `the history of ${clone} does not have the previous release: take a git clone of the project`,
  );
});

// CI must have it, and fails without.
const skip = process.env['CI'] ? false : (whyMissing() ?? false);

t.test('the previous build and this one share a schema that is newer than both', { skip }, async (t) => {
  const directory = checkOutPreviousRelease(t);
  const connection = await emptyDatabase(t);
  const database = openDatabase(connection, { max: 2 });
  t.teardown(() => database.destroy());
  const env = {
    ...environmentOf(connection),
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    RATE_LIMIT_PER_MINUTE: '1000000',
  };
  const admin = async (...args: string[]) => {
    const outcome = await runToEnd(t, env, [process.execPath, 'scripts/admin.ts', ...args], directory);
    t.match(outcome, { ended: 0, stderr: '' });
    return JSON.parse(outcome.stdout);
  };
  await admin('migrate');
  const credentials = await admin('create-client', '--account', 'Acme');
  const { createApi: createPreviousApi } = await import(join(directory, 'test/support/api.ts'));
  const { operations: previousOperations } = await import(join(directory, 'generated/operations.ts'));
  const previousBuild = ({ url }: RunningService): Build => ({
    api: createPreviousApi(url, credentials),
    createApi: createPreviousApi,
    operations: previousOperations,
    called: new Set(),
  });
  const services: RunningService[] = [];
  const start = async (place: string) => {
    const service = await startProcess(t, env, place);
    services.push(service);
    return service;
  };

  const written: Written[] = [];
  const endpoint = await startReceiver(t);
  const round = async (build: Build, other: Build) =>
    written.push(await callEveryOperation(build, other, endpoint.url));

  const first = await start(directory);
  const alone = previousBuild(first);
  const receiver = await startReceiver(t);
  const { secret } = (await alone.api.post('/webhooks', { url: receiver.url })).body.data;
  const tree = await makeTree(alone.api);
  const rounds = startRounds(2, () => round(alone, alone));
  await rounds.until(2);
  const next = migrationsWith(t, await nextRelease(database));
  const { applied } = await migrate(connection, { directory: next, say: (line) => t.comment(line) });
  t.ok(applied.includes('9001_item') && applied.includes('9003_index'));
  await rounds.until(2);
  await rounds.stop();
  t.equal((await first.stop('SIGTERM')).stderr, '');
  t.comment(`${written.length} rounds while the schema was migrated`);

  const [previous, present] = await Promise.all([
    start(directory).then(previousBuild),
    start(root).then(
      ({ url }): Build => ({
        api: createApi(url, credentials),
        createApi,
        operations,
        called: new Set(),
      }),
    ),
  ]);
  const toggle = `/menus/${tree.menu.menu_id}/items/${tree.item.item_id}/toggle`;
  const perBuild = 4;
  await Promise.all(
    [
      [previous, present],
      [present, previous],
    ].flatMap(([build, other]) => {
      if (!build || !other) throw new Error('a build is missing');
      return Array.from({ length: 2 }, async () => {
        for (let n = 0; n < perBuild / 2; n += 1) {
          await round(build, other);
          for (let m = 0; m < 10; m += 1) t.equal((await build.api.post(toggle)).status, 200);
        }
      });
    }),
  );
  for (const { api, called, operations } of [previous, present]) {
    await revokeOwnToken(api);
    t.same([...called, 'issueToken', 'revokeToken'].sort(), Object.keys(operations).sort());
  }

  await settled(database);
  const toggled = { record: `item:${tree.item.item_id}`, version: 1 + 2 * perBuild * 10 };
  for (const { api } of [previous, present]) {
    for (const { kept, gone } of written) {
      for (const [path, data] of kept) requireSame((await api.get(path)).body.data, data, path);
      for (const path of gone) t.equal((await api.get(path)).status, 404, path);
    }
    t.equal((await api.get(toggle.replace('/toggle', ''))).body.data.version, toggled.version);
  }
  const events = await allEvents(database);
  const versions = new Map(written.flatMap((one) => [...one.versions]));
  for (const kind of ['location', 'menu', 'category'] as const)
    versions.set(`${kind}:${tree[kind][`${kind}_id`]}`, 1);
  versions.set(toggled.record, toggled.version);
  everyWriteHasItsEvent(t, events, versions);
  everyEventArrived(t, events, receiver, secret);
  t.comment(`${events.length} events, ${receiver.deliveries.length} deliveries`);
  t.ok(events.length > 300);
  const [, ...later] = services;
  for (const service of later) {
    const { ended, stdout, stderr } = await service.stop('SIGTERM');
    t.equal(ended, 0);
    t.match(stderr, /^menu-management-service: the database schema is newer than this version, [^\n]*\n$/);
    t.notMatch(stdout, '"level":50', 'no round of a job failed');
  }
});

/** Further migrations, as CONTRIBUTING.md has them: one table each, additions only, an index concurrently. */
async function nextRelease(database: Database): Promise<Record<string, string>> {
  const { rows } = await sql<{ table: string }>`
    select relname as table from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
      and relname not like 'kysely%'`.execute(database);
  return {
    ...Object.fromEntries(
      rows.map(({ table }) => [
        `9001_${table}`,
        `alter table ${table} add column next_note text, add column next_rank integer not null default 7;`,
      ]),
    ),
    '9002_table': 'create table next_things (id bigint generated always as identity primary key);',
    '9003_index': `-- no transaction
create index concurrently item_next on item (account_id, next_rank);

create index concurrently delivery_next on delivery (account_id, next_rank, created_at);
`,
  };
}

interface Rounds {
  /** Waits for so many more rounds. @throws when one failed */
  until(count: number): Promise<void>;
  /** Waits for those under way. */
  stop(): Promise<void>;
}

/** Makes rounds, several at once and one after the other. */
function startRounds(atOnce: number, round: () => Promise<unknown>): Rounds {
  let stopping = false;
  let ended = () => {};
  const run = async () => {
    while (!stopping) {
      await round();
      ended();
    }
  };
  const running = Promise.all(Array.from({ length: atOnce }, run));
  running.catch(() => {});
  return {
    async until(count) {
      for (let n = 0; n < count; n += 1)
        await Promise.race([
          new Promise<void>((resolve) => {
            ended = resolve;
          }),
          running,
        ]);
    },
    async stop() {
      stopping = true;
      await running;
    },
  };
}

interface EventRow {
  id: string;
  type: string;
  record: string;
  version: number;
}

async function allEvents(database: Database): Promise<EventRow[]> {
  const { rows } = await sql<EventRow>`
    select event_id_text(event_id) as id, type, record, (payload -> 'data' ->> 'version')::int as version
    from event order by event_id`.execute(database);
  return rows;
}

/** Exactly one event for each version that a record has had. */
function everyWriteHasItsEvent(t: Test, events: EventRow[], versions: Map<string, number>): void {
  const byRecord = Map.groupBy(events, ({ record }) => record);
  for (const [record, own] of byRecord) {
    const changes = own.filter(({ type }) => !type.endsWith('.deleted'));
    const last = versions.get(record) ?? changes.length;
    t.same(
      changes.map(({ version }) => version),
      Array.from({ length: last }, (_, n) => n + 1),
      `${record} has an event for each version`,
    );
    if (versions.has(record)) t.equal(changes.length, own.length, `${record} is not deleted`);
    else t.equal(own.length, changes.length + 1, `${record} is deleted once`);
  }
  for (const record of versions.keys()) t.ok(byRecord.has(record), record);
}

/** Each event at least once, with a valid signature, those of a record in their order. */
function everyEventArrived(t: Test, events: EventRow[], { deliveries }: Receiver, secret: string): void {
  for (const delivery of deliveries) verify(delivery, secret);
  const arrived = [...new Set(deliveries.map(({ id }) => id))];
  t.same(new Set(arrived), new Set(events.map(({ id }) => id)));
  const recordOf = new Map(events.map(({ id, record }) => [id, record]));
  const arrivedOf = Map.groupBy(arrived, (id) => recordOf.get(id));
  for (const [record, own] of Map.groupBy(events, ({ record }) => record))
    t.same(
      arrivedOf.get(record),
      own.map(({ id }) => id),
      `${record} in order`,
    );
}
