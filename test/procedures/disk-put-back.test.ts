import { spawnSync } from 'node:child_process';
import { renameSync } from 'node:fs';
import t, { type Test } from 'tap';
import { blocksRunBy } from '../docs/blocks.ts';
import { commandsOf, noTerminal, openTerminal } from '../docs/terminal.ts';
import { root } from '../support/process.ts';
import { type Clients, startClients } from './clients.ts';
import { type DatabaseServer, openSite } from './server.ts';

t.setTimeout(280_000);

t.test(
  'a disk that was put back misleads nobody, though nothing tells of it',
  { skip: noTerminal },
  async (t) => {
    const { clients, putBack, server } = await setUp(t);
    const known = await historyOf(server);
    const epochs = await epochsOf(server);
    await putBack();
    await clients.verify();
    t.equal(await historyOf(server), known, 'the server looks the same');
    t.same(await epochsOf(server), epochs, 'and the epoch goes on');
    await clients.stop();
  },
);

t.test('a reader who returns after the report is not misled either', { skip: noTerminal }, async (t) => {
  const { clients, putBack, server } = await setUp(t);
  const epochs = await epochsOf(server);
  await putBack();
  // Told late: the same epoch has gone on meanwhile, past what the readers have seen of it.
  await clients.write();
  await clients.listed();
  const [block, ...others] = blocksRunBy(import.meta.url);
  t.same(others, []);
  const terminal = openTerminal(t, { directory: root, env: clients.env });
  for (const command of block ? commandsOf(block) : []) await terminal.type(command);
  t.equal((await epochsOf(server)).length, epochs.length + 1);
  await clients.verify({ writes: 2 });
  await clients.stop();
});

async function setUp(t: Test): Promise<{
  clients: Clients;
  server: DatabaseServer;
  /** Puts the disk back to before what is lost, with the service stopped meanwhile. */
  putBack(): Promise<void>;
}> {
  const site = await openSite(t);
  const server = await site.createServer('server');
  const clients = await startClients(t, server.connection);
  await clients.stop();
  server.run('pg_ctl', 'stop');
  const snapshot = `${server.data}.snapshot`;
  t.equal(spawnSync('cp', ['-a', server.data, snapshot]).status, 0);
  server.run('pg_ctl', 'start', '--log', `${server.data}.log`);
  await clients.serve(server.connection);
  await clients.writeWhatIsLost();
  await clients.stop();
  return {
    clients,
    server,
    async putBack() {
      await server.crash();
      renameSync(server.data, `${server.data}.lost`);
      renameSync(snapshot, server.data);
      server.run('pg_ctl', 'start', '--log', `${server.data}.log`);
      await clients.serve(server.connection);
    },
  };
}

async function historyOf(server: DatabaseServer): Promise<string | undefined> {
  const [row] = await server.query<{ history: string }>('select server_history() as history');
  return row?.history;
}

async function epochsOf(server: DatabaseServer): Promise<string[]> {
  const rows = await server.query<{ epoch: string }>('select epoch::text from epoch order by epoch');
  return rows.map(({ epoch }) => epoch);
}
