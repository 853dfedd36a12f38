import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { components } from '../../../generated/api.ts';
import { createClient, demoClient, launchService } from '../../launch.ts';
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

/** @throws what it printed, when it does not start */
export async function startService(): Promise<Service> {
  const env = {
    DATA_DIR: join(tmpdir(), `menus-sdk-${randomUUID()}`),
    LOG_LEVEL: 'warn',
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
  };
  const service = launchService(env);
  const stop = async () => {
    await service.stop();
    await rm(env.DATA_DIR, { recursive: true, force: true });
  };
  try {
    const ready = await service.ready;
    const { address: origin } = ready;
    const menus = await exportMenus(await plainApi(origin, demoClient(ready)));
    return {
      origin,
      stop,
      async newAccount(name) {
        const client = await createClient(env, name);
        const api = await plainApi(origin, client);
        await importMenus(api, menus);
        return { ...client, api };
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
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
  const place = { name: '𠮷野家 🍣', timezone: 'Europe/Athens', currency: 'EUR' };
  const { data: location } = await api.send<Schemas['LocationResponse']>('POST', '/locations', place);
  for (const { name, document } of menus) {
    const fields = { location_id: location.location_id, name };
    const { data: menu } = await api.send<Schemas['MenuResponse']>('POST', '/menus', fields);
    await api.send('PUT', `/menus/${menu.menu_id}/content`, document);
  }
}
