import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import t, { type Test } from 'tap';
import {
  DataDirectoryInUse,
  defaultDataDir,
  runningEmbedded,
  startEmbedded,
} from '../../src/embedded/server.ts';
import { eventually } from '../support/eventually.ts';

const root = process.getuid?.() === 0;
const nobody = { uid: 65534, gid: 65534 };
const moduleUrl = new URL('../../src/embedded/server.ts', import.meta.url).href;
// Most tests use it one after the other, since each new directory costs an initdb.
const shared = join(temporary(t), 'data');

t.setTimeout(120_000);

t.test('the first start creates a database that responds', async (t) => {
  const server = await startEmbedded(shared);
  t.same(await query(server, "select current_database() as name, current_setting('fsync') as fsync"), [
    { name: 'menus', fsync: 'on' },
  ]);
  await query(server, 'create table dishes as select 86 as id');
  await server.stop();
});

t.test('a later start takes well under a second and finds the data', async (t) => {
  const before = performance.now();
  const server = await startEmbedded(shared);
  t.ok(performance.now() - before < 1000);
  t.same(await query(server, 'select id from dishes'), [{ id: 86 }]);
  await server.stop();
});

t.test('only the Unix socket leads to the server, and only its own user to the socket', async (t) => {
  const server = await startEmbedded(shared);
  t.same(await query(server, "select current_setting('listen_addresses') as tcp"), [{ tcp: '' }]);
  t.equal(fs.statSync(server.connection.host).mode & 0o777, 0o700);
  await server.stop();
});

t.test('letter case works in every script, in comparisons and in searches', async (t) => {
  const server = await startEmbedded(shared);
  const text = `select lower('ΟΔΟΣ ÉCLAIR Щи') as lower, 'STRASSE' = upper('straße') as equal,
    to_tsvector('simple', 'ÉCLAIR – Щи…')::text as words`;
  t.same(await query(server, text), [{ lower: 'οδος éclair щи', equal: true, words: "'éclair':1 'щи':2" }]);
  await server.stop();
});

t.test('settings reach the server', async (t) => {
  const server = await startEmbedded(shared, { settings: { max_connections: '17' } });
  t.same(await query(server, 'show max_connections'), [{ max_connections: '17' }]);
  await server.stop();
});

t.test('a server that cannot start says why in one line, and leaves the directory free', async (t) => {
  const message = await failure(startEmbedded(shared, { settings: { max_connections: 'many' } }));
  t.match(message, /^Postgres did not start: .*invalid value for parameter "max_connections": "many"/);
  t.notMatch(message, '\n');
  await (await startEmbedded(shared)).stop();
});

t.test('a second service on the directory is refused in one line', async (t) => {
  const server = await startEmbedded(shared);
  const error = await startEmbedded(shared).catch((error: unknown) => error);
  t.ok(error instanceof DataDirectoryInUse);
  t.equal(
    (error as Error).message,
    `DATA_DIR ${fs.realpathSync(shared)} is in use by another running service; ` +
      'stop it or set DATA_DIR to another directory',
  );
  t.same(await query(server, 'select 1 as alive'), [{ alive: 1 }]);
  await server.stop();
});

t.test('of services that start together on a new directory, one runs', async (t) => {
  const directory = join(temporary(t), 'data');
  const starts = await Promise.allSettled([1, 2, 3].map(() => startEmbedded(directory)));
  const servers = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  t.equal(servers.length, 1);
  for (const server of servers) await server.stop();
});

t.test('the admin command finds the server of a running service, and only that', async (t) => {
  t.equal(await runningEmbedded(join(shared, 'missing')), undefined);
  t.equal(await runningEmbedded(shared), undefined);
  const server = await startEmbedded(shared);
  t.same(await runningEmbedded(shared), server.connection);
  await server.stop();
  t.equal(await runningEmbedded(shared), undefined);
});

t.test(
  'after kill -9 of the service, the next start replaces its orphaned server and finds the data',
  async (t) => {
    const service = await startService(t, shared, `await query('create table kept as select 7 as id')`);
    const orphan = postmaster();
    service.kill('SIGKILL');
    await once(service, 'exit');
    t.ok(isRunning(orphan));
    t.equal(await runningEmbedded(shared), undefined, 'an orphan is nobody’s server');
    const server = await startEmbedded(shared);
    t.notOk(isRunning(orphan));
    t.same(await query(server, 'select id from kept'), [{ id: 7 }]);
    await server.stop();
  },
);

t.test('after kill -9 of service and server together, the next start recovers the data', async (t) => {
  const service = await startService(t, shared, `await query('create table recovered as select 8 as id')`);
  process.kill(postmaster(), 'SIGKILL');
  service.kill('SIGKILL');
  await once(service, 'exit');
  const server = await startEmbedded(shared);
  t.same(await query(server, 'select id from recovered'), [{ id: 8 }]);
  await server.stop();
});

t.test('a server that is busy when its postmaster is killed is waited for', async (t) => {
  const first = await startEmbedded(shared);
  const client = new pg.Client(first.connection);
  client.on('error', () => {});
  await client.connect();
  const busy = client.query('select count(*) from generate_series(1, 5000000)').catch(() => undefined);
  process.kill(postmaster(), 'SIGKILL');
  await first.stop();
  const server = await startEmbedded(shared);
  t.same(await query(server, 'select id from dishes'), [{ id: 86 }]);
  await server.stop();
  await busy;
});

t.test('a server that is killed is started again on the same data, however often', async (t) => {
  const lines: string[] = [];
  const server = await startEmbedded(shared, { report: (line) => lines.push(line) });
  await query(server, 'create table written (n integer)');
  for (let n = 1; n <= 3; n += 1) {
    const killed = postmaster();
    await query(server, `insert into written values (${n})`);
    process.kill(n === 2 ? -killed : killed, 'SIGKILL');
    const rows = await eventually('it responds again', () =>
      query(server, 'select n from written').catch(() => null),
    );
    t.equal(rows.length, n);
    t.not(postmaster(), killed);
  }
  t.equal(lines.length, 3);
  t.match(lines[0], /^the embedded database ended with SIGKILL; starting it again$/);
  await server.stop();
  t.notOk(fs.existsSync(join(shared, 'postgres', 'postmaster.pid')));
  await pause(200);
  t.equal(lines.length, 3, 'one that is stopped is not started again');
});

t.test('no server is started beside what is left of a killed one', async (t) => {
  const server = await startEmbedded(shared);
  const { backend, ended } = await busyBackend(server);
  process.kill(postmaster(), 'SIGKILL');
  t.ok(isRunning(backend));
  await eventually('another responds', () => query(server, 'select 1').catch(() => null));
  t.notOk(isRunning(backend));
  t.match(
    fs.readFileSync(join(shared, 'postgres.log'), 'utf8'),
    'pre-existing shared memory block',
    'Postgres itself refused meanwhile',
  );
  await ended;
  await server.stop();
});

t.test('a socket that briefly outlives a killed server does not keep the next from starting', async (t) => {
  const server = await startEmbedded(shared);
  const socket = join(shared, 'postgres', '.s.PGSQL.5432');
  fs.unlinkSync(socket);
  const left = createServer((caller) => caller.destroy()).listen(socket);
  await once(left, 'listening');
  const asked = once(left, 'connection');
  process.kill(postmaster(), 'SIGKILL');
  await asked;
  left.close();
  t.same(await eventually('another responds', () => query(server, 'select 1 as alive').catch(() => null)), [
    { alive: 1 },
  ]);
  await server.stop();
});

t.test('a stop while it is being started again leaves nothing behind', async (t) => {
  const server = await startEmbedded(shared);
  const { ended } = await busyBackend(server);
  const killed = postmaster();
  process.kill(killed, 'SIGKILL');
  await eventually('another is tried', async () => postmaster() !== killed || !isRunning(killed));
  await server.stop();
  await ended;
  t.equal(await runningEmbedded(shared), undefined);
  const next = await startEmbedded(shared);
  t.same(await query(next, 'select 1 as alive'), [{ alive: 1 }]);
  await next.stop();
});

t.test('a server that cannot be started again is given up, in one line', async (t) => {
  const server = await startEmbedded(shared, { patienceMs: 500 });
  const control = join(shared, 'postgres', 'global', 'pg_control');
  fs.renameSync(control, `${control}.away`);
  process.kill(postmaster(), 'SIGKILL');
  const message = await failure(server.lost);
  t.match(message, /^Postgres did not start: .*pg_control/);
  t.notMatch(message, '\n');
  await server.stop();
  fs.renameSync(`${control}.away`, control);
  await (await startEmbedded(shared)).stop();
});

t.test('a database that is gone is reported at once, and none is created in its place', async (t) => {
  const server = await startEmbedded(shared);
  const cluster = join(shared, 'postgres');
  const killed = postmaster();
  fs.renameSync(cluster, `${cluster}.away`);
  process.kill(killed, 'SIGKILL');
  t.match(await failure(server.lost), /^DATA_DIR .* no longer contains its database; restore it, [^\n]*$/);
  t.notOk(fs.existsSync(cluster));
  await server.stop();
  fs.renameSync(`${cluster}.away`, cluster);
  await (await startEmbedded(shared)).stop();
});

t.test('a service that exits without stopping its server takes it down', async (t) => {
  const service = await startService(t, shared, `setTimeout(() => process.exit(0), 100)`);
  const orphan = postmaster();
  await once(service, 'exit');
  for (let tries = 0; isRunning(orphan) && tries < 500; tries++) await pause(10);
  t.notOk(isRunning(orphan));
});

t.test('a stale postmaster.pid whose process id belongs to another process is no obstacle', async (t) => {
  const stranger = spawn('sleep', ['60'], root ? { uid: fs.statSync(join(shared, 'postgres')).uid } : {});
  t.teardown(() => stranger.kill());
  const cluster = join(fs.realpathSync(shared), 'postgres');
  const lines = [
    stranger.pid,
    cluster,
    1_700_000_000,
    5432,
    cluster,
    '',
    '  5432001     32769',
    'ready   ',
    '',
  ];
  fs.writeFileSync(join(cluster, 'postmaster.pid'), lines.join('\n'));
  fs.writeFileSync(join(cluster, '.s.PGSQL.5432.lock'), lines.slice(0, 6).join('\n'));
  const server = await startEmbedded(shared);
  t.same(await query(server, 'select id from dishes'), [{ id: 86 }]);
  t.ok(isRunning(stranger.pid), 'the other process is left alone');
  await server.stop();
});

t.test('stop leaves no process of the directory, and may be called again', async (t) => {
  const server = await startEmbedded(shared);
  const rows = (await query(server, 'select pid from pg_stat_activity')) as { pid: number }[];
  const processes = [postmaster(), ...rows.map(({ pid }) => pid)];
  t.ok(processes.length > 3);
  await Promise.all([server.stop(), server.stop()]);
  await server.stop();
  t.same(processes.filter(isRunning), []);
});

t.test('stop waits for no client', async (t) => {
  const server = await startEmbedded(shared);
  const client = new pg.Client(server.connection);
  client.on('error', () => {});
  await client.connect();
  const sleeping = client.query('select pg_sleep(60)').catch((error: Error) => error.message);
  await server.stop();
  t.match(await sleeping, /terminating connection|Connection terminated/);
});

t.test('the leftovers of an interrupted initialisation are replaced', async (t) => {
  const leftover = join(shared, 'postgres.new-abc');
  fs.mkdirSync(leftover);
  fs.writeFileSync(join(leftover, 'PG_VERSION'), '18');
  await (await startEmbedded(shared)).stop();
  t.notOk(fs.existsSync(leftover));
});

t.test('an initialisation that is killed halfway does not spoil the directory', async (t) => {
  const directory = join(temporary(t), 'data');
  const code = `import(${JSON.stringify(moduleUrl)}).then((m) => m.startEmbedded(${JSON.stringify(directory)}))`;
  const service = spawn(process.execPath, running(code), { stdio: 'ignore' });
  for (let tries = 0; !unfinished(directory) && tries < 2000; tries++) await pause(5);
  service.kill('SIGKILL');
  await once(service, 'exit');
  t.notOk(fs.existsSync(join(directory, 'postgres')));
  const server = await startEmbedded(directory);
  t.same(await query(server, 'select 1 as alive'), [{ alive: 1 }]);
  t.notOk(unfinished(directory));
  await server.stop();
});

t.test('a path too long for a socket gets one in a short private directory', async (t) => {
  const directory = join(temporary(t), 'long'.repeat(40), 'data');
  fs.mkdirSync(directory, { recursive: true });
  const server = await startEmbedded(directory);
  const { host } = server.connection;
  t.teardown(() => fs.rmSync(host, { recursive: true }));
  t.ok(host.length < 90);
  t.equal(fs.statSync(host).mode & 0o777, 0o700);
  t.same(await query(server, 'select 1 as alive'), [{ alive: 1 }]);
  await server.stop();
});

t.test('a directory of another major version is refused in one line', async (t) => {
  const file = join(shared, 'postgres', 'PG_VERSION');
  fs.writeFileSync(file, '17\n');
  t.teardown(() => fs.writeFileSync(file, '18\n'));
  t.match(await failure(startEmbedded(shared)), /^DATA_DIR .* PostgreSQL 17, but this service runs 18: .*$/);
});

t.test('a path that is not a directory is refused in one line', async (t) => {
  const file = join(temporary(t), 'file');
  fs.writeFileSync(file, '');
  t.match(await failure(startEmbedded(file)), /^DATA_DIR .* cannot be used \(EEXIST\): .*$/);
});

t.test('by default an ordinary user keeps the data in the project, root below /var/lib', async (t) => {
  t.match(defaultDataDir(), root ? /^\/var\/lib\/menu-management-service\/data-[0-9a-f]{16}$/ : /\/\.data$/);
});

t.test(
  'root is told when DATA_DIR is where Postgres cannot go',
  { skip: root ? false : 'needs root' },
  async (t) => {
    const home = temporary(t);
    fs.chmodSync(home, 0o700);
    const message = await failure(startEmbedded(join(home, 'project', 'data')));
    t.match(message, /^DATA_DIR .*\/project\/data cannot be reached .*: set DATA_DIR to .*$/);
  },
);

t.test('root may use a private directory of its own', { skip: root ? false : 'needs root' }, async (t) => {
  const directory = join(temporary(t), 'data');
  fs.mkdirSync(directory, { mode: 0o700 });
  fs.writeFileSync(join(directory, 'encryption.key'), '');
  const server = await startEmbedded(directory);
  t.same(await query(server, 'select 1 as alive'), [{ alive: 1 }]);
  await server.stop();
});

t.test('an ordinary user starts it as well', { skip: noOrdinaryUser() }, async (t) => {
  const parent = temporary(t);
  fs.chownSync(parent, nobody.uid, nobody.gid);
  const code = `process.stdin.on('end', server.stop).resume()`;
  const service = await startService(t, join(parent, 'data'), code, nobody);
  t.equal(fs.statSync(join(parent, 'data', 'postgres')).uid, nobody.uid);
  service.stdin?.end();
  t.same(await once(service, 'exit'), [0, null]);
});

/** A backend that takes a second or more before it looks whether its postmaster is still there. */
async function busyBackend(server: {
  connection: pg.ClientConfig;
}): Promise<{ backend: number; ended: Promise<unknown> }> {
  const client = new pg.Client(server.connection);
  client.on('error', () => {});
  await client.connect();
  const { rows } = await client.query('select pg_backend_pid() as backend');
  const started = once(client, 'notice');
  const ended = client
    .query(`do $$ begin raise notice 'counting'; perform count(*) from generate_series(1, 10000000); end $$`)
    .catch(() => undefined);
  await started;
  return { backend: rows[0].backend, ended };
}

/** Why the test as another user cannot run. */
function noOrdinaryUser(): string | false {
  if (!root) return 'all these tests ran as an ordinary user';
  const { status } = spawnSync(process.execPath, running(`await import(${JSON.stringify(moduleUrl)})`), {
    ...nobody,
    cwd: '/',
  });
  return status === 0 ? false : 'this checkout is closed to other users';
}

function temporary(t: Test): string {
  const directory = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'embedded-test-'));
  fs.chmodSync(directory, 0o755);
  t.teardown(() => fs.rmSync(directory, { recursive: true, force: true }));
  return directory;
}

async function query(server: { connection: pg.ClientConfig }, text: string): Promise<unknown[]> {
  const client = new pg.Client(server.connection);
  await client.connect();
  const { rows } = await client.query(text).finally(() => client.end());
  return rows;
}

async function failure(start: Promise<unknown>): Promise<string> {
  return start.then(
    () => 'it started',
    (error: Error) => error.message,
  );
}

/** Another process that starts the server of `directory`, then runs `code`. */
async function startService(t: Test, directory: string, code: string, account = {}): Promise<ChildProcess> {
  const script = `
    import pg from ${JSON.stringify(import.meta.resolve('pg'))};
    import { startEmbedded } from ${JSON.stringify(moduleUrl)};
    const server = await startEmbedded(${JSON.stringify(directory)});
    async function query(text) {
      const client = new pg.Client(server.connection);
      await client.connect();
      await client.query(text);
      await client.end();
    }
    ${code};
    console.log('ready');`;
  const service = spawn(process.execPath, running(script), {
    ...account,
    cwd: '/',
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.teardown(() => service.kill());
  await once(service.stdout, 'data');
  return service;
}

/** Arguments for a Node that runs `code`. */
function running(code: string): string[] {
  return ['--input-type=module', '-e', code];
}

function postmaster(): number {
  return Number.parseInt(fs.readFileSync(join(shared, 'postgres', 'postmaster.pid'), 'utf8'), 10);
}

function isRunning(pid: number | undefined): boolean {
  try {
    // A zombie, which some containers never reap, has no command line.
    if (process.platform === 'linux') return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '';
    return process.kill(pid ?? 0, 0);
  } catch {
    return false;
  }
}

function unfinished(directory: string): boolean {
  return (
    fs.existsSync(directory) && fs.readdirSync(directory).some((name) => name.startsWith('postgres.new-'))
  );
}
