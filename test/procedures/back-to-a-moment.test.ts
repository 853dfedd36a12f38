import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { blocksRunBy } from '../docs/blocks.ts';
import { noTerminal } from '../docs/terminal.ts';
import { eventually } from '../support/eventually.ts';
import { startClients } from './clients.ts';
import { type DatabaseServer, openSite } from './server.ts';

t.setTimeout(280_000);

const [archive, backUp, goBack, ...others] = blocksRunBy(import.meta.url);
t.same(others, []);

t.test(
  'the server goes back to a moment, and twice from one backup; no client is misled',
  { skip: noTerminal },
  async (t) => {
    const site = await openSite(t);
    const server = await site.createServer('server');
    await server.type(archive);
    const clients = await startClients(t, server.connection);
    await server.type(backUp);
    await clients.write();
    await clients.look();
    const moment = await now(server);
    await clients.writeWhatIsLost();
    await archived(server);
    await clients.stop();

    const restore = async () => {
      await server.type(goBack, {}, (text) => text.replace('2026-11-20 19:30:00+09', moment));
      await eventually('the server takes writes', async () => {
        const [row] = await server.query<{ standby: boolean }>('select pg_is_in_recovery() as standby');
        return row?.standby === false;
      });
      return timelineOf(server);
    };
    t.equal(await restore(), '00000002');
    await clients.serve(server.connection);
    await clients.verify();
    await clients.writeWhatIsLost();
    await clients.stop();

    // As when the log of the first attempt was never archived: the second gets the same timeline.
    await server.crash();
    const wal = join(site.directory, 'backups/wal');
    rmSync(join(wal, '00000002.history'), { force: true });
    renameSync(`${server.data}.before`, `${server.data}.original`);
    server.run('pg_ctl', 'start', '--log', `${server.data}.log`);
    t.equal(await restore(), '00000002', 'two histories by one name');
    await clients.serve(server.connection);
    // Those of the first verification are lost as well.
    await clients.verify({ writes: 6 });
    await clients.stop();
  },
);

async function now(server: DatabaseServer): Promise<string> {
  const [row] = await server.query<{ moment: string }>('select clock_timestamp()::text as moment');
  return String(row?.moment);
}

/** Waits until all that was written is in the archive. */
async function archived(server: DatabaseServer): Promise<void> {
  const [row] = await server.query<{ file: string }>('select pg_walfile_name(pg_switch_wal()) as file');
  await eventually(`${row?.file} is archived`, async () => {
    const [archiver] = await server.query<{ last: string }>(
      'select last_archived_wal as last from pg_stat_archiver',
    );
    return archiver && row && archiver.last >= row.file;
  });
}

async function timelineOf(server: DatabaseServer): Promise<string> {
  const [row] = await server.query<{ file: string }>('select pg_walfile_name(pg_current_wal_lsn()) as file');
  return String(row?.file).slice(0, 8);
}
