import t, { type Test } from 'tap';
import { blocksRunBy } from '../docs/blocks.ts';
import { noTerminal } from '../docs/terminal.ts';
import { startDatabaseProxy } from '../support/database-proxy.ts';
import { eventually } from '../support/eventually.ts';
import { makeCategory, makeItem } from '../support/records.ts';
import { startClients } from './clients.ts';
import { type DatabaseServer, openSite } from './server.ts';

t.setTimeout(280_000);

const [follow, promote, synchronous, rewind, ...others] = blocksRunBy(import.meta.url);
t.same(others, []);

t.test(
  'a replica that had not got the last writes takes over, and hands back; no client is misled',
  { skip: noTerminal },
  async (t) => {
    const { first, second, clients, proxy } = await setUp(t);
    second.run('pg_ctl', 'stop');
    await clients.writeWhatIsLost();
    const [lost] = await endOf(first);
    await first.crash();
    second.run('pg_ctl', 'start', '--log', `${second.data}.log`);
    await second.type(promote);
    proxy.leadTo(second.connection);
    await clients.follow(second.connection);
    await clients.verify();
    const [now] = await endOf(second);
    t.ok(Number(now?.position) >= Number(lost?.position), 'the positions of what was lost were given again');
    t.not(now?.epoch, lost?.epoch);

    // The first server, which has what nobody else has, follows the second, and takes over in turn.
    await first.type(rewind, {}, named('db2', second));
    await caughtUp(second, first);
    await clients.write();
    await clients.look();
    await caughtUp(second, first);
    await second.crash();
    await first.type(promote);
    proxy.leadTo(first.connection);
    await clients.follow(first.connection);
    await clients.verifyNothingLost();
    await clients.verify();
    await clients.stop();
  },
);

t.test('a synchronous replica has every write that was acknowledged', { skip: noTerminal }, async (t) => {
  const { first, second, clients, proxy } = await setUp(t);
  await first.type(synchronous);
  await eventually('the replica is synchronous', async () => {
    const rows = await first.query("select from pg_stat_replication where sync_state = 'sync'");
    return rows.length > 0;
  });
  const { api } = clients;
  const { menu_id, category_id } = await makeCategory(api, Number(clients.menuPath.split('/').at(-1)));
  const acknowledged: string[] = [];
  let isUp = true;
  const write = async () => {
    while (isUp) {
      const made = await makeItem(api, { menu_id, category_id }).catch(() => undefined);
      if (made) acknowledged.push(`/menus/${menu_id}/items/${made.item_id}`);
    }
  };
  const writers = [write(), write(), write(), write()];
  await eventually('writes are under way', async () => acknowledged.length > 100);
  await first.crash();
  isUp = false;
  await second.type(promote);
  proxy.leadTo(second.connection);
  await Promise.all(writers);
  await clients.follow(second.connection);
  for (const path of acknowledged) {
    const { status } = await api.get(path);
    if (status !== 200) t.fail(`${path} was acknowledged, and is lost`);
  }
  t.comment(`${acknowledged.length} writes were acknowledged`);
  await clients.verify();
  await clients.stop();
});

async function setUp(t: Test) {
  const site = await openSite(t);
  const first = await site.createServer('first');
  const second = await site.prepareServer('second');
  const proxy = await startDatabaseProxy(t, first.connection);
  const clients = await startClients(t, first.connection, proxy.connection);
  await second.type(follow, {}, named('db1', first));
  await caughtUp(first, second);
  return { first, second, clients, proxy };
}

/** Puts the socket and port of a server where a document has a host. */
function named(host: string, { connection }: DatabaseServer): (text: string) => string {
  return (text) => text.replaceAll(`host=${host}`, `host=${connection.host} port=${connection.port}`);
}

async function caughtUp(primary: DatabaseServer, replica: DatabaseServer): Promise<void> {
  const [row] = await primary.query<{ end: string }>('select pg_current_wal_lsn()::text as end');
  await eventually('the replica has everything', async () => {
    const [reached] = await replica.query<{ all: boolean }>(
      `select pg_last_wal_replay_lsn() >= '${row?.end}' as all`,
    );
    return reached?.all;
  });
}

/** Where the feed ends. */
function endOf(server: DatabaseServer): Promise<{ epoch: string; position: string }[]> {
  return server.query('select epoch::text, position::text from account_feed');
}
