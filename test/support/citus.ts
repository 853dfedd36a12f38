import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import type { Test } from 'tap';
import { freePort, root } from './process.ts';

/** A script that starts a Citus cluster: `start DIR WORKERS PORT`, then `stop DIR`. */
const cluster = process.env['CITUS_CLUSTER'];

/** Why the tests on Citus are skipped. */
export const noCitus = cluster ? false : 'CITUS_CLUSTER names no script that starts a Citus cluster';

/** A coordinator without workers, with an empty database that has the extension. Stopped when `t` ends. */
export async function startCitus(t: Test): Promise<pg.PoolConfig> {
  const directory = mkdtempSync(join(tmpdir(), 'citus-'));
  t.teardown(() => {
    run('stop', directory);
    rmSync(directory, { recursive: true, force: true });
  });
  const port = await freePort();
  run('start', directory, '0', String(port));
  return { host: '127.0.0.1', port, user: 'postgres', database: 'menus' };
}

function run(...args: string[]): void {
  const { status, stderr } = spawnSync(cluster as string, args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${cluster} ${args.join(' ')}: ${stderr}`);
}
