import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { components } from '../../../generated/api.ts';
import { type PlainApi, plainApi } from './plain-api.ts';

type Schemas = components['schemas'];

/** The service in a process of its own, as `make start` runs it, on a database of its own with the demo account. */
export interface Service {
  origin: string;
  /** A new account with the first two menus of the demo account, so that clients can work side by side. */
  newAccount(name: string): Promise<Account>;
  stop(): Promise<void>;
}

/** What a scenario works with, and another way to the same data. */
export interface Account {
  client_id: string;
  client_secret: string;
  api: PlainApi;
}

const project = resolve(import.meta.dirname, '../../..');

/** @throws what it printed, when it does not start */
export async function startService(): Promise<Service> {
  const directory = join(tmpdir(), `menus-sdk-${randomUUID()}`);
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], DATA_DIR: directory };
  const { origin, stop } = await launch(env);
  const demo = JSON.parse(await readFile(join(directory, 'demo-client.json'), 'utf8'));
  const menus = await exportMenus(await plainApi(`${origin}/api/v1`, demo));
  return {
    origin,
    stop,
    async newAccount(name) {
      const command = [join(project, 'scripts/admin.ts'), 'create-client', '--account', name];
      const { stdout } = await promisify(execFile)(process.execPath, command, { env });
      const { client_id, client_secret } = JSON.parse(stdout);
      const api = await plainApi(`${origin}/api/v1`, { client_id, client_secret });
      await importMenus(api, menus);
      return { client_id, client_secret, api };
    },
  };
}

async function launch(env: NodeJS.ProcessEnv & { DATA_DIR: string }) {
  const child = spawn(process.execPath, [join(project, 'src/main.ts')], {
    env: { ...env, PORT: '0', LOG_LEVEL: 'warn', WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ctrl-C is for the runner, which then stops the service.
    detached: true,
  });
  const onExit = () => child.kill('SIGTERM');
  process.once('exit', onExit);
  const ended = once(child, 'close').finally(() => process.off('exit', onExit));
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    await rm(env.DATA_DIR, { recursive: true, force: true });
  };
  let printed = '';
  const origin = await new Promise<string | undefined>((resolve) => {
    const read = (text: string) => {
      printed += text;
      const ready = /is ready at (\S+)\n/.exec(printed);
      if (ready) resolve(ready[1]);
    };
    child.stdout.setEncoding('utf8').on('data', read);
    child.stderr.setEncoding('utf8').on('data', read);
    ended.then(() => resolve(undefined));
  });
  if (origin !== undefined) return { origin, stop };
  await stop();
  throw new Error(`the service did not start: ${printed.trim()}`);
}

interface ExportedMenu {
  name: string;
  document: Schemas['MenuDocument'];
}

async function exportMenus(demo: PlainApi): Promise<ExportedMenu[]> {
  const { data: menus } = await demo.get<Schemas['MenuList']>('/menus?limit=2');
  return Promise.all(
    menus.map(async ({ menu_id, name }) => ({ name, document: await demo.get(`/menus/${menu_id}/content`) })),
  );
}

async function importMenus(api: PlainApi, menus: ExportedMenu[]): Promise<void> {
  const place = { name: 'Clients', timezone: 'Europe/Athens', currency: 'EUR' };
  const { data: location } = await api.send<Schemas['LocationResponse']>('POST', '/locations', place);
  for (const { name, document } of menus) {
    const fields = { location_id: location.location_id, name };
    const { data: menu } = await api.send<Schemas['MenuResponse']>('POST', '/menus', fields);
    await api.send('PUT', `/menus/${menu.menu_id}/content`, document);
  }
}
