import type { Test } from 'tap';
import { createClient } from '../../src/accounts/client.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { allScopes } from '../../src/http/scopes.ts';
import { type Api, createApi } from './api.ts';
import { dataDirectory, environmentOf, type RunningService, startProcess } from './process.ts';
import { cloneDatabase } from './service.ts';

export interface DemoProcess {
  service: RunningService;
  url: string;
  /** A client of the demo account with all scopes. */
  api: Api;
  database: Database;
  /** The log lines so far. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into log lines freely
  log(): any[];
}

/** Runs src/main.ts on a database of its own with the demo account; both are gone when the test ends. */
export async function startDemoProcess(t: Test, env: Record<string, string> = {}): Promise<DemoProcess> {
  const connection = await cloneDatabase(t);
  const database = openDatabase(connection, { max: 4 });
  t.teardown(() => database.destroy());
  const service = await startProcess(t, {
    DATA_DIR: dataDirectory(t),
    ...environmentOf(connection),
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    LOG_LEVEL: 'info',
    ...env,
  });
  const client = await createClient(database, { account: 'Demo', scopes: [...allScopes], locationIds: null });
  const log = () =>
    service.printed.stdout
      .split('\n')
      .slice(0, -1)
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));
  return { service, url: service.url, api: createApi(service.url, client), database, log };
}
