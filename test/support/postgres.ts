import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedPostgres, startEmbedded } from '../../src/db/embedded.ts';

/** A real Postgres of its own in a temporary directory, gone with `stop`. Nothing survives it, so nothing is synced. */
export async function startScratchPostgres(settings: Record<string, string> = {}): Promise<EmbeddedPostgres> {
  const directory = join(tmpdir(), `menus-${randomUUID()}`);
  const server = await startEmbedded(directory, {
    settings: {
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      max_connections: '300',
      ...settings,
    },
  });
  return {
    connection: server.connection,
    async stop() {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
