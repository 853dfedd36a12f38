import t from 'tap';
import { blocksRunBy } from '../docs/blocks.ts';
import { noTerminal } from '../docs/terminal.ts';
import { environmentFor, startClients } from './clients.ts';
import { openSite } from './server.ts';

t.setTimeout(280_000);

const [prepare, copy, carryOver, ...others] = blocksRunBy(import.meta.url);
t.same(others, []);

t.test(
  'the database moves by logical replication while clients write; none is misled',
  { skip: noTerminal },
  async (t) => {
    const site = await openSite(t);
    const server = await site.createServer('server');
    const other = await site.createServer('other');
    const urls = {
      OLD: environmentFor(server.connection)['DATABASE_URL'] ?? '',
      NEW: environmentFor(other.connection)['DATABASE_URL'] ?? '',
    };
    await server.type(prepare, urls);
    const clients = await startClients(t, server.connection);
    let writing = true;
    const writes = (async () => {
      while (writing) await clients.write();
    })();
    await server.type(copy, urls);
    writing = false;
    await writes;
    await clients.write();
    await clients.look();
    await clients.stop();
    await server.type(carryOver, urls);

    await clients.serve(other.connection);
    await clients.verifyNothingLost();
    await clients.verify();
    const sequences =
      'select sequencename, coalesce(last_value, 0)::int as last from pg_sequences order by 1';
    const [before, now] = [await server.query<Sequence>(sequences), await other.query<Sequence>(sequences)];
    for (const [index, { sequencename, last }] of before.entries()) {
      t.equal(now[index]?.sequencename, sequencename);
      t.ok(Number(now[index]?.last) >= last, `${sequencename} goes on`);
    }
    await clients.stop();
  },
);

interface Sequence {
  sequencename: string;
  last: number;
}
