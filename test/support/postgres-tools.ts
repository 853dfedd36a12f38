import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, globSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { postgresTools as installed } from '../../scripts/postgres-tools.ts';
import { type Account, findPrograms } from '../../src/embedded/programs.ts';

/** The programs of PostgreSQL 18: pg_dump, pg_restore, pg_basebackup, pg_rewind, pg_upgrade, psql and the rest. */
export interface PostgresTools {
  /** Their directory. */
  bin: string;
  /** The user to run them as, for spawn: PostgreSQL refuses root. */
  account: Account;
}

/** Those that scripts/test.ts has installed. @throws Error of one line that says what to install */
export async function postgresTools(): Promise<PostgresTools> {
  const { account } = await findPrograms();
  const bin = installed((line) => console.error(line));
  return { bin: canRun(bin, account) ? bin : copyForEveryone(bin), account };
}

function canRun(bin: string, account: Account): boolean {
  return spawnSync(join(bin, 'postgres'), ['--version'], { ...account, cwd: '/' }).status === 0;
}

/** The checkout may be in root's home, which the account of PostgreSQL cannot enter. */
function copyForEveryone(bin: string): string {
  const target = join(tmpdir(), 'postgres-tools');
  const packages = join(bin, '../../..');
  if (!existsSync(target)) {
    const fresh = mkdtempSync(`${target}-`);
    // The package, and beside it its libraries.
    for (const name of globSync('embedded_postgres{,.libs}', { cwd: packages }))
      cpSync(join(packages, name), join(fresh, name), { recursive: true, verbatimSymlinks: true });
    chmodSync(fresh, 0o755);
    try {
      renameSync(fresh, target);
    } catch (error) {
      rmSync(fresh, { recursive: true });
      // Another test copied it first.
      if (!existsSync(target)) throw error;
    }
  }
  return join(target, relative(packages, bin));
}
