import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { startTestService } from '../support/service.ts';
import { blocksRunBy } from './blocks.ts';
import { commandsOf, noTerminal, openTerminal } from './terminal.ts';

t.test(
  'a day in a restaurant, and the way from menu to basket, go as docs/clients.md shows them',
  { skip: noTerminal },
  async (t) => {
    const { url, api } = await startTestService(t, { worker: {} });
    const directory = mkdtempSync(join(tmpdir(), 'clients-'));
    t.teardown(() => rmSync(directory, { recursive: true }));
    const terminal = openTerminal(t, {
      directory,
      env: { CLIENT_ID: api.credentials.client_id, CLIENT_SECRET: api.credentials.client_secret },
      adapt: (text) => text.replaceAll('http://127.0.0.1:3000', url),
    });
    const commands = blocksRunBy(import.meta.url).flatMap(commandsOf);
    t.equal(commands.length, 33);
    for (const command of commands) await terminal.type(command);
  },
);
