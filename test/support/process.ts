import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import type { Test } from 'tap';
import { createClient } from '../../src/accounts/client.ts';
import { allScopes } from '../../src/accounts/scopes.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { type Api, createApi } from './api.ts';
import { cloneDatabase, encryptionKey } from './service.ts';

export interface ServiceProcess {
  url: string;
  api: Api;
  database: Database;
  connection: pg.PoolConfig;
  /** All that was written so far, to standard output and standard error. */
  output: () => string;
  /** The log lines so far. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into log lines freely
  log: () => any[];
  kill(signal: NodeJS.Signals): void;
  exit: Promise<number | null>;
}

/** Runs src/main.ts on a database of its own, as `npm start` does; it has ended when the test ends. */
export async function startProcess(t: Test, env: Record<string, string> = {}): Promise<ServiceProcess> {
  const connection = await cloneDatabase(t);
  const database = openDatabase(connection, { max: 4 });
  const dataDir = await mkdtemp(join(tmpdir(), 'menus-process-'));
  const child = spawn(process.execPath, ['src/main.ts'], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      PORT: '0',
      DATA_DIR: dataDir,
      DATABASE_URL: `postgres://${connection.user}@localhost:${connection.port}/${connection.database}?host=${encodeURIComponent(String(connection.host))}`,
      ENCRYPTION_KEY: encryptionKey.toString('base64'),
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
      ...env,
    },
  });
  const exit = once(child, 'exit').then(([code]) => code as number | null);
  t.teardown(async () => {
    child.kill('SIGKILL');
    await exit;
    await database.destroy();
    await rm(dataDir, { recursive: true, force: true });
  });

  const lines: string[] = [];
  createInterface(child.stderr).on('line', (line) => lines.push(line));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      lines.push(line);
      const ready = /is ready at (\S+)/.exec(line)?.[1];
      if (ready) resolve(ready);
    });
    void exit.then(() => reject(new Error(`the service ended: ${lines.join('\n')}`)));
  });
  const client = await createClient(database, { account: 'Demo', scopes: [...allScopes], locationIds: null });
  return {
    url,
    api: createApi(url, client),
    database,
    connection,
    output: () => lines.join('\n'),
    log: () => lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line)),
    kill: (signal) => child.kill(signal),
    exit,
  };
}
