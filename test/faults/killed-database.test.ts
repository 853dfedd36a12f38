import { once } from 'node:events';
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import t, { type Test } from 'tap';
import { demoClient, fetchToken, launchService } from '../../scripts/launch.ts';
import { connectionAt } from '../../src/embedded/postmaster.ts';
import { eventually } from '../support/eventually.ts';
import { dataDirectory, killAll, postgresOf, running } from '../support/process.ts';

/*
 * The service's own PostgreSQL is killed under load. The process that owns it starts it again; what was acknowledged
 * is there, and meanwhile nobody gets anything but 503.
 */

t.setTimeout(240_000);

type Item = { item_id: number; version: number };
// biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
type Body = any;

async function startOnOwnDatabase(t: Test, env: Record<string, string> = {}) {
  const dataDir = dataDirectory(t);
  const service = launchService({ DATA_DIR: dataDir, LOG_LEVEL: 'silent', ...env });
  t.teardown(() => service.stop('SIGKILL', 'group'));
  const ready = await service.ready;
  const url = ready.address;
  const token = await fetchToken(url, demoClient(ready));
  const call = async (method: string, path: string) => {
    // A connection each, so that every process gets some.
    const headers = { authorization: `Bearer ${token}`, connection: 'close' };
    const response = await fetch(`${url}/api/v1${path}`, { method, headers });
    return { status: response.status, body: (await response.json()) as Body };
  };
  const { body } = await call('GET', '/menus/1/items?limit=4');
  return { service, url, dataDir, call, items: body.data as Item[] };
}

/** Says when it begins, then takes some seconds in which it looks at nothing else. */
const countSlowly = `do $$ begin
  raise notice 'counting';
  perform count(*) from generate_series(1, 20000000);
end $$`;

function killPostgres(dataDir: string): void {
  const [postmaster] = postgresOf(dataDir);
  if (postmaster === undefined) throw new Error('no Postgres runs');
  process.kill(postmaster, 'SIGKILL');
}

for (const workers of [1, 2]) {
  t.test(
    `its Postgres killed under load, ${workers} processes serve again with all that they acknowledged`,
    async (t) => {
      const { service, url, dataDir, call, items } = await startOnOwnDatabase(t, {
        WORKERS: String(workers),
      });
      const statuses = new Set<number>();
      const acknowledged = new Map<number, number>();
      let stopping = false;
      const writing = items.map(async ({ item_id }) => {
        while (!stopping) {
          const { status, body } = await call('POST', `/menus/1/items/${item_id}/toggle`);
          statuses.add(status);
          if (status === 200) acknowledged.set(item_id, body.data.version);
        }
      });
      for (let n = 0; n < 3; n += 1) {
        const before = new Map(acknowledged);
        await eventually('more is written', async () =>
          items.every(({ item_id }) => (acknowledged.get(item_id) ?? 0) > (before.get(item_id) ?? 0) + 5),
        );
        killPostgres(dataDir);
        const killed = performance.now();
        const [{ item_id } = { item_id: 0 }] = items;
        await eventually('it is refused', async () => statuses.has(503));
        await eventually('it is served again', async () => {
          const { status } = await call('GET', `/menus/1/items/${item_id}`);
          return status === 200 && postgresOf(dataDir).length > 0;
        });
        t.ok(performance.now() - killed < 5_000);
        t.equal((await fetch(`${url}/health/live`)).status, 200);
      }
      stopping = true;
      await Promise.all(writing);
      t.strictSame([...statuses].toSorted(), [200, 503]);
      for (const { item_id } of items) {
        // The other process may find its connections dead only now.
        const { body } = await eventually('every process serves it', async () => {
          const response = await call('GET', `/menus/1/items/${item_id}`);
          return response.status === 200 && response;
        });
        t.ok(body.data.version >= (acknowledged.get(item_id) ?? Number.POSITIVE_INFINITY));
      }
      const { ended, stderr } = await service.stop();
      t.equal(ended, 0);
      t.equal(
        stderr.match(/^menu-management-service: the embedded database ended with SIGKILL/gm)?.length,
        3,
      );
      t.strictSame(postgresOf(dataDir), []);
    },
  );
}

t.test('when its database is gone, the process ends with a line and status 1', async (t) => {
  const { service, dataDir } = await startOnOwnDatabase(t, { WORKERS: '2' });
  const processes = postgresOf(dataDir);
  renameSync(join(dataDir, 'postgres'), join(dataDir, 'elsewhere'));
  killAll(processes);
  const { ended, stderr } = await service.outcome;
  t.equal(ended, 1);
  t.match(
    stderr.trim().split('\n').at(-1),
    /^menu-management-service: DATA_DIR \S+ no longer contains its database/,
  );
  t.strictSame(running(processes), []);
  t.notOk(existsSync(join(dataDir, 'postgres')));
});

t.test('it can be stopped while its Postgres is started again', async (t) => {
  const { service, dataDir, call, items } = await startOnOwnDatabase(t);
  const [item] = items;
  const before = (await call('POST', `/menus/1/items/${item?.item_id}/toggle`)).body.data.version;
  // A backend at work notices only later that its postmaster is gone, and none is started beside it.
  const busy = new pg.Client(connectionAt(join(dataDir, 'postgres')));
  busy.on('error', () => {});
  await busy.connect();
  const started = once(busy, 'notice');
  const counting = busy.query(countSlowly).catch(() => undefined);
  await started;
  killPostgres(dataDir);
  await eventually('writes are refused', async () => {
    const { status } = await call('POST', `/menus/1/items/${item?.item_id}/toggle`);
    return status === 503;
  });
  t.equal((await service.stop('SIGTERM')).ended, 0);
  await counting;
  t.strictSame(postgresOf(dataDir), []);

  const again = launchService({ DATA_DIR: dataDir, LOG_LEVEL: 'silent' });
  t.teardown(() => again.stop('SIGKILL', 'group'));
  const ready = await again.ready;
  const authorization = `Bearer ${await fetchToken(ready.address, demoClient(ready))}`;
  const response = await fetch(`${ready.address}/api/v1/menus/1/items/${item?.item_id}`, {
    headers: { authorization },
  });
  t.ok(((await response.json()) as { data: Item }).data.version >= before);
  t.equal((await again.stop()).ended, 0);
});
