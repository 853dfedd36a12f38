import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedPostgres, startEmbedded } from '../../src/embedded/server.ts';

export interface ScratchPostgres extends Omit<EmbeddedPostgres, 'isNew' | 'lost'> {
  /** Stops the server, which cuts every connection, and starts it again on the same data and address. */
  restart(): Promise<void>;
}

/** A real Postgres in a temporary directory, which `stop` removes. As nothing has to survive, nothing is synced. */
export async function startScratchPostgres(settings: Record<string, string> = {}): Promise<ScratchPostgres> {
  const directory = join(tmpdir(), `menus-${randomUUID()}`);
  const start = () =>
    startEmbedded(directory, {
      settings: {
        fsync: 'off',
        synchronous_commit: 'off',
        full_page_writes: 'off',
        max_wal_size: '256MB',
        max_connections: '300',
        ...settings,
      },
    });
  let server = await start();
  return {
    connection: server.connection,
    async restart() {
      await server.stop();
      server = await start();
    },
    async stop() {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
