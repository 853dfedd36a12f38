/**
 * The process edge: configuration, then database, then service; at a signal the same in reverse. With WORKERS the
 * first process owns the database, and the others serve.
 */
import cluster from 'node:cluster';
import type pg from 'pg';
import { openDatabase, requireServer } from './db/database.ts';
import { migrate, requireMigrated } from './db/migrate.ts';
import { type EmbeddedPostgres, runningEmbedded, startEmbedded } from './embedded/server.ts';
import { report, startProcesses } from './process/cluster.ts';
import { readCommandLine, UsageError } from './process/command-line.ts';
import { type Config, readConfig } from './process/config.ts';
import { type DemoClient, loadDemo } from './process/demo.ts';
import { greet } from './process/greeting.ts';
import type { Service } from './process/serve.ts';

const stopSeconds = 25;

try {
  const help = readCommandLine(process.argv.slice(2));
  if (help) {
    console.log(help);
    process.exit(0);
  }
  const config = readConfig(process.env);
  const stopping = stopSignal(config);
  await (cluster.isPrimary ? runFirst(config, stopping) : runServing(config, stopping));
  process.exit(0);
} catch (error) {
  const { message } = error as Error;
  if (cluster.isWorker) await report({ failed: message });
  else say(message);
  process.exit(error instanceof UsageError ? 2 : 1);
}

/** Resolves at the first signal. A later one, or a stop that hangs, ends the process at once. */
function stopSignal({ drainSeconds }: Config): Promise<void> {
  return new Promise((resolve) => {
    let first = Number.POSITIVE_INFINITY;
    const stop = () => {
      // One Ctrl-C arrives twice below npm: from the terminal and from npm.
      if (cluster.isPrimary && performance.now() > first + 1_000) process.exit(1);
      first = Math.min(first, performance.now());
      setTimeout(() => process.exit(1), (drainSeconds + stopSeconds) * 1_000).unref();
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
  });
}

async function runFirst(config: Config, stopping: Promise<void>): Promise<void> {
  const embedded = config.databaseUrl ? undefined : await startOwnDatabase(config);
  try {
    const connection = embedded?.connection ?? external(config);
    const demo = await prepare(connection, config);
    const service =
      config.workers > 1 ? await startProcesses(config.workers) : await serve(config, connection);
    greet(config, service.address, demo);
    try {
      await Promise.race([stopping, ...(embedded ? [embedded.lost] : [])]);
    } finally {
      await service.stop();
    }
  } finally {
    await embedded?.stop();
  }
}

function startOwnDatabase({ dataDir, workers, databasePool }: Config): Promise<EmbeddedPostgres> {
  // Those of the processes, and some for the start, the admin command and whoever looks.
  const connections = Math.max(100, workers * databasePool + 20);
  return startEmbedded(dataDir, {
    settings: { max_connections: String(connections) },
    report: say,
  });
}

async function prepare(connection: pg.PoolConfig, config: Config): Promise<DemoClient | undefined> {
  const database = openDatabase(connection, { max: 2 });
  try {
    await requireServer(database);
    await (config.migrate === 'on' ? migrate : requireMigrated)(connection, { say });
    // A database that somebody else runs is theirs to fill: `admin load-demo` is for those who ask.
    return config.databaseUrl
      ? undefined
      : await loadDemo(database, { ifEmpty: true, keepIn: config.dataDir });
  } finally {
    await database.destroy();
  }
}

async function runServing(config: Config, stopping: Promise<void>): Promise<void> {
  const embedded = config.databaseUrl ? undefined : await runningEmbedded(config.dataDir);
  const service = await serve(config, embedded ?? external(config));
  await report({ address: service.address });
  await stopping;
  await service.stop();
}

// The API is loaded by the processes that serve it, and only once there is something to serve.
async function serve(config: Config, connection: pg.PoolConfig): Promise<Service> {
  const serving = await import('./process/serve.ts');
  return serving.serve(config, connection);
}

function external({ databaseUrl }: Config): pg.PoolConfig {
  if (!databaseUrl) throw new Error('the embedded database has stopped');
  return { connectionString: databaseUrl };
}

function say(line: string): void {
  console.error(`menu-management-service: ${line}`);
}
