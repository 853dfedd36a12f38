import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { eventually } from '../support/eventually.ts';
import { databaseEnvironment, dataDirectory, freePort, runToEnd } from '../support/process.ts';

t.setTimeout(120_000);

t.test('--help says what it does and where its settings are described, and starts nothing', async (t) => {
  const DATA_DIR = dataDirectory(t);
  const { stdout, stderr, ended } = await runMain(t, { DATA_DIR }, '--help');
  t.match({ stderr, ended }, { stderr: '', ended: 0 });
  for (const word of ['ROLE', 'api', 'worker', 'all', 'DATABASE_URL', 'docs/operations.md'])
    t.match(stdout, word);
  t.same(fs.readdirSync(DATA_DIR), []);
});

t.test('an argument is refused by name', async (t) => {
  for (const argument of ['--port=80', 'worker']) {
    const { stdout, stderr, ended } = await runMain(t, { DATA_DIR: '/nonexistent' }, argument);
    t.match({ stdout, ended }, { stdout: '', ended: 2 });
    t.match(stderr, /^menu-management-service: [^\n]+; see --help\n$/);
    t.match(stderr, argument.split('=')[0]);
  }
});

t.test('a bad variable is refused by name', async (t) => {
  t.match(await refusal(t, { PORT: 'http' }), ': PORT must be a whole number');
});

t.test('a DATA_DIR that is not a directory is refused by name', async (t) => {
  const DATA_DIR = join(dataDirectory(t), 'file');
  fs.writeFileSync(DATA_DIR, '');
  t.match(await refusal(t, { DATA_DIR }), `DATA_DIR ${DATA_DIR} cannot be used`);
});

t.test('a damaged encryption.key is refused by name', async (t) => {
  const { DATABASE_URL } = await databaseEnvironment(t);
  const DATA_DIR = dataDirectory(t);
  fs.writeFileSync(join(DATA_DIR, 'encryption.key'), '');
  t.match(await refusal(t, { DATABASE_URL, DATA_DIR }), `${DATA_DIR}/encryption.key does not hold 32 bytes`);
});

t.test('a database that cannot be reached or entered is refused', async (t) => {
  const { DATABASE_URL } = await databaseEnvironment(t);
  const mute = await listener(t);
  const [nobody, silence, unknownHost, noDatabase] = await Promise.all([
    refusal(t, { DATABASE_URL: 'postgres://localhost:1/menus' }),
    refusal(t, { DATABASE_URL: `postgres://127.0.0.1:${mute}/menus` }),
    refusal(t, { DATABASE_URL: 'postgres://nowhere.invalid/menus' }),
    refusal(t, { DATABASE_URL: DATABASE_URL.replace(/test_\w+/, 'missing') }),
  ]);
  t.match(nobody, /DATABASE_URL points to no usable database: connect ECONNREFUSED/);
  t.match(silence, /DATABASE_URL points to no usable database: .*timeout/);
  t.match(unknownHost, /DATABASE_URL points to no usable database: getaddrinfo \w+ nowhere.invalid/);
  t.match(noDatabase, /DATABASE_URL points to no usable database: database "missing" does not exist/);
});

t.test('a database that was set up with another ENCRYPTION_KEY is refused', async (t) => {
  const env = await databaseEnvironment(t);
  const ENCRYPTION_KEY = Buffer.alloc(32, 'other').toString('base64');
  t.match(await refusal(t, { ...env, ENCRYPTION_KEY }), /: ENCRYPTION_KEY is not the key that this database/);
});

t.test('a port in use is refused, by one process and by several', async (t) => {
  const env = await databaseEnvironment(t);
  const PORT = String(await listener(t));
  const lines = await Promise.all([refusal(t, { ...env, PORT }), refusal(t, { ...env, PORT, WORKERS: '3' })]);
  for (const line of lines) t.match(line, `PORT ${PORT} is in use on 127.0.0.1`);
});

t.test('a HOST that this machine does not have is refused', async (t) => {
  const env = await databaseEnvironment(t);
  const lines = await Promise.all(
    ['203.0.113.7', 'nowhere.invalid'].map((HOST) => refusal(t, { ...env, HOST })),
  );
  for (const line of lines) t.match(line, /: HOST \S+ is not an address of this machine/);
});

const older = olderPostgres();

t.test('PostgreSQL before 18 is refused', { skip: older ? false : 'none is installed' }, async (t) => {
  const port = await startOlder(t, older as string);
  const DATABASE_URL = `postgres://postgres@127.0.0.1:${port}/postgres`;
  t.match(
    await refusal(t, { DATABASE_URL }),
    /: PostgreSQL 18 or newer is required; DATABASE_URL points to version 1\d\n/,
  );
});

function runMain(t: Test, env: Record<string, string>, ...args: string[]) {
  return runToEnd(t, env, [process.execPath, 'src/main.ts', ...args]);
}

/** What the service prints when it must not start: one line that names the variable to change. */
async function refusal(t: Test, env: Record<string, string>): Promise<string> {
  const outcome = await runToEnd(t, { PORT: '0', DATA_DIR: '/nonexistent', ...env });
  t.equal(outcome.ended, 1);
  t.equal(outcome.stdout, '');
  t.match(outcome.stderr, /^menu-management-service: [^\n]+\n$/);
  return outcome.stderr;
}

/** Port of a server that accepts and never answers. */
async function listener(t: Test): Promise<number> {
  const server = createServer((socket) => t.teardown(() => socket.destroy())).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** The programs of a PostgreSQL before 18, where Debian and its kin put them. */
function olderPostgres(): string | undefined {
  return fs
    .globSync('/usr/lib/postgresql/*/bin')
    .find(
      (bin) => Number.parseInt(bin.split('/').at(-2) ?? '', 10) < 18 && fs.existsSync(join(bin, 'initdb')),
    );
}

async function startOlder(t: Test, bin: string): Promise<number> {
  const directory = fs.mkdtempSync(join(tmpdir(), 'older-postgres-'));
  const account = postgresAccount();
  if (account) fs.chownSync(directory, account.uid, account.gid);
  const options = { ...account, cwd: '/' };
  spawnSync(join(bin, 'initdb'), ['-D', directory, '-U', 'postgres', '-A', 'trust', '-N'], options);
  const port = await freePort();
  const args = ['-D', directory, '-p', String(port), '-k', '', '-h', '127.0.0.1'];
  const server = spawn(join(bin, 'postgres'), args, { ...options, stdio: 'ignore' });
  t.teardown(async () => {
    server.kill('SIGQUIT');
    await once(server, 'exit');
    fs.rmSync(directory, { recursive: true });
  });
  const pidFile = join(directory, 'postmaster.pid');
  await eventually(
    'it is ready',
    async () => fs.existsSync(pidFile) && /ready/.test(fs.readFileSync(pidFile, 'utf8')),
  );
  return port;
}

// Postgres refuses to run as root.
function postgresAccount(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout);
  return { uid: id('-u'), gid: id('-g') };
}
