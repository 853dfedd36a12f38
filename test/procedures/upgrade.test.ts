import t from 'tap';
import { blocksRunBy } from '../docs/blocks.ts';
import { noTerminal } from '../docs/terminal.ts';
import { startClients } from './clients.ts';
import { openSite } from './server.ts';

t.setTimeout(280_000);

const [upgrade, start, ...others] = blocksRunBy(import.meta.url);
t.same(others, []);

// From 18 to 18, the one version there is: pg_upgrade does the same, into a cluster of its own.
t.test(
  'pg_upgrade brings the database into a new cluster; no client is misled',
  { skip: noTerminal },
  async (t) => {
    const site = await openSite(t);
    const server = await site.createServer('server');
    const clients = await startClients(t, server.connection);
    await clients.write();
    await clients.look();
    const before = server.run('pg_controldata');
    await clients.stop();
    await server.type(upgrade);
    await server.type(start);
    t.not(identifierIn(server.run('pg_controldata')), identifierIn(before));
    await clients.serve(server.connection);
    await clients.verifyNothingLost();
    await clients.verify();
    await clients.stop();
  },
);

function identifierIn(controlData: string): string | undefined {
  return /^Database system identifier: +(\d+)$/m.exec(controlData)?.[1];
}
