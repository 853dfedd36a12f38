import cluster from 'node:cluster';
import { once } from 'node:events';
import type pg from 'pg';
import { type DemoClient, loadDemo } from '../scripts/demo/load.ts';
import { type Config, readConfig } from './config.ts';
import { openDatabase, requireServerVersion } from './db/database.ts';
import { type EmbeddedPostgres, startEmbedded } from './db/embedded.ts';
import { migrate } from './db/migrate.ts';
import { greet } from './greeting.ts';
import { serve } from './serve.ts';

/*
 * The process edge: configuration, then database, then service; at a signal the same in reverse. With WORKERS the
 * first process owns the database and the others serve.
 */

const stopSeconds = 25;
const connectionVariable = 'MENU_SERVICE_CONNECTION';

const stopping = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      // A second signal, or a stop that hangs, ends the process at once.
      process.once(signal, () => process.exit(1));
      setTimeout(() => process.exit(1), stopSeconds * 1000).unref();
      resolve();
    });
  }
});

try {
  const config = readConfig(process.env);
  if (cluster.isPrimary) await runFirst(config);
  else await runWorker(config, JSON.parse(process.env[connectionVariable] ?? '{}'));
  process.exit(0);
} catch (error) {
  console.error(`menu-management-service: ${(error as Error).message}`);
  process.exit(1);
}

async function runFirst(config: Config): Promise<void> {
  let embedded: EmbeddedPostgres | undefined;
  try {
    if (!config.databaseUrl) embedded = await startEmbedded(config.dataDir);
    const connection: pg.PoolConfig = embedded?.connection ?? {
      connectionString: config.databaseUrl as string,
    };
    const demo = await prepare(connection, config);
    if (config.workers > 1) await runCluster(config, connection, demo);
    else await run(config, connection, demo);
  } finally {
    await embedded?.stop();
  }
}

async function prepare(connection: pg.PoolConfig, config: Config): Promise<DemoClient | undefined> {
  const database = openDatabase(connection, { max: 2 });
  try {
    await requireServerVersion(database);
    await migrate(database);
    return await loadDemo(database, {
      ifEmpty: true,
      ...(!config.databaseUrl && { keepIn: config.dataDir }),
    });
  } finally {
    await database.destroy();
  }
}

async function run(config: Config, connection: pg.PoolConfig, demo?: DemoClient): Promise<void> {
  const service = await serve(config, connection);
  greet(config, service.address, demo);
  await stopping;
  await service.stop();
}

async function runCluster(config: Config, connection: pg.PoolConfig, demo?: DemoClient): Promise<void> {
  const workers = Array.from({ length: config.workers }, () =>
    cluster.fork({ [connectionVariable]: JSON.stringify(connection) }),
  );
  await Promise.race([stopping, ...workers.map((worker) => once(worker, 'message'))]);
  greet(config, config.role === 'worker' ? undefined : `http://${config.host}:${config.port}`, demo);
  // A process that dies takes its leases with it and nothing else; the others go on, and it is replaced.
  let ending = false;
  cluster.on('exit', () => {
    if (!ending) cluster.fork({ [connectionVariable]: JSON.stringify(connection) });
  });
  await stopping;
  ending = true;
  const alive = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
  await Promise.all(
    alive.map(async (worker) => {
      worker.process.kill('SIGTERM');
      await once(worker, 'exit');
    }),
  );
}

async function runWorker(config: Config, connection: pg.PoolConfig): Promise<void> {
  const service = await serve(config, connection);
  process.send?.('ready');
  await stopping;
  await service.stop();
}
