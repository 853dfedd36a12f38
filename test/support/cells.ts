import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { blocksOf } from '../docs/blocks.ts';
import type { Api } from './api.ts';
import { askSocket } from './haproxy.ts';
import { type RunningProxy, startProxy } from './proxies.ts';

/** One address for two cells. */
export interface Cells {
  proxy: RunningProxy;
  /** Tells the running proxy, by its admin socket. @param command that names cells.map as the document does */
  tell(command: string): Promise<void>;
}

/** HAProxy as docs/operations.md configures it for two cells of one server each; only clients of the second are listed. */
export async function startCells(t: Test, [first, second]: [string, string], inSecond: Api): Promise<Cells> {
  const directory = mkdtempSync(join(tmpdir(), 'cells-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const [map, socket] = [join(directory, 'cells.map'), join(directory, 'admin.sock')];
  writeFileSync(map, `${inSecond.credentials.client_id} two\n`);
  const [configuration, lines] = blocksOf('docs/operations.md').filter(({ kind }) => kind === 'haproxy');
  const text = `${configuration?.text}\n`
    .replace(/^global$/m, `global\n  stats socket ${socket} level admin`)
    .replace('  default_backend menus\n', `${lines?.text}\n`)
    .replace('/etc/haproxy/cells.map', map);
  const proxy = await startProxy(t, 'haproxy', text, [first, first, second, second]);
  return {
    proxy,
    async tell(command) {
      await askSocket(socket, command.replace('/etc/haproxy/cells.map', map));
    },
  };
}
