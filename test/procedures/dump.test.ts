import t from 'tap';
import { blocksRunBy } from '../docs/blocks.ts';
import { noTerminal } from '../docs/terminal.ts';
import { startClients } from './clients.ts';
import { openSite } from './server.ts';

t.setTimeout(280_000);

const [dump, restoreElsewhere, restoreOver, ...others] = blocksRunBy(import.meta.url);
t.same(others, []);

t.test(
  'a dump goes into a younger server, another database or its own; no client is misled',
  { skip: noTerminal },
  async (t) => {
    const site = await openSite(t);
    const server = await site.createServer('server');
    const clients = await startClients(t, server.connection);
    const { DATABASE_URL = '' } = clients.env;
    await server.type(dump, { DATABASE_URL });
    await clients.writeWhatIsLost();
    // Transaction ids of the old server mean nothing on the new one.
    await server.query(
      'do $$ begin for n in 1..5000 loop perform pg_current_xact_id(); commit; end loop; end $$',
    );
    await clients.stop();

    const younger = await site.createServer('younger');
    await younger.type(restoreElsewhere);
    const xid = async ({ query }: typeof server) => {
      const [row] = await query<{ xid: string }>('select pg_current_xact_id()::text as xid');
      return Number(row?.xid);
    };
    t.ok((await xid(younger)) < (await xid(server)));
    await clients.serve({ ...younger.connection, database: 'restored' });
    await clients.verify();
    await clients.stop();

    await server.type(restoreElsewhere);
    await clients.serve({ ...server.connection, database: 'restored' });
    await clients.verify();
    await clients.stop();

    await server.type(restoreOver, { DATABASE_URL });
    await clients.serve(server.connection);
    await clients.verify();
    await clients.stop();
  },
);
