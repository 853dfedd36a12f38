import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import pg from 'pg';
import type { Test } from 'tap';
import { createClient } from '../../src/accounts/client.ts';
import { type AppOptions, buildApp } from '../../src/app.ts';
import { type Database, openDatabase, type PoolOptions, poolUse } from '../../src/db/database.ts';
import { createSeal } from '../../src/db/seal.ts';
import { allScopes, type Scope } from '../../src/http/scopes.ts';
import { keepLatest } from '../../src/metrics/latest.ts';
import { createMetrics, type Metrics } from '../../src/metrics/metrics.ts';
import { userAgent } from '../../src/process/version.ts';
import { readBacklog } from '../../src/webhooks/delivery/backlog.ts';
import { createSender } from '../../src/webhooks/delivery/deliver.ts';
import { createDestination, type Destination } from '../../src/webhooks/delivery/destination.ts';
import type { Lookup } from '../../src/webhooks/delivery/names.ts';
import { startWorker, type Worker, type WorkerOptions } from '../../src/worker.ts';
import { type Api, createApi } from './api.ts';
import './contract-read-once.ts';

export const encryptionKey = Buffer.alloc(32, 'test');

/** The database server of the run, made by scripts/test.ts; `template` is migrated and holds the demo account. */
function testServer(): { connection: pg.PoolConfig; template: string } {
  const text = process.env['TEST_SERVER'];
  if (!text) throw new Error('run tests with: npm test -- test/FILE.test.ts');
  return JSON.parse(text);
}

export interface TestService {
  url: string;
  database: Database;
  connection: pg.PoolConfig;
  app: FastifyInstance;
  /** An HTTP client of the demo account with all scopes, which checks each response against the contract. */
  api: Api;
  /** Another client of the demo account, or of another one. */
  client(options?: { account?: string; scopes?: Scope[]; locations?: number[] }): Promise<Api>;
  worker: Worker | undefined;
}

export interface TestServiceOptions {
  rateLimitPerMinute?: number;
  webhooksPerAccount?: number;
  /** A migrated database to use as it is, in place of a clone. */
  connection?: pg.PoolConfig;
  /** Connects the service to its database in another way, such as through a proxy. */
  connect?: (connection: pg.PoolConfig) => Promise<pg.PoolConfig>;
  pool?: PoolOptions;
  /** How long a reading of the backlog is reused; by default every scrape reads it anew. */
  keepBacklogMs?: number;
  redisUrl?: string;
  trustedProxies?: string[];
  corsOrigins?: string[];
  keptResponses?: { keys: number; megabytes: number };
  readingTime?: { stallMs: number; wholeMs: number };
  encryptionKeys?: [Buffer, ...Buffer[]];
  /** Non-public networks that webhooks may lead to; loopback by default. */
  allowedNetworks?: string[];
  /** Replaces name resolution for webhooks. */
  lookup?: Lookup;
  /** Start the worker role as well. */
  worker?: Partial<WorkerOptions>;
}

/** Builds the service's server on a database, as the process edge does it. */
export function buildTestApp(
  database: Database,
  destination: Destination,
  options: Partial<AppOptions> & {
    encryptionKeys?: [Buffer, ...Buffer[]];
    afterWrite?: () => void;
    metrics?: Metrics;
  } = {},
): Promise<FastifyInstance> {
  const { encryptionKeys = [encryptionKey], afterWrite = () => {}, metrics, ...rest } = options;
  return buildApp(
    { rateLimitPerMinute: 1_000_000, logLevel: 'silent', ...rest },
    {
      database,
      destination,
      seal: createSeal(...encryptionKeys),
      send: createSender({ destination, userAgent }),
      afterWrite,
      ...(metrics && { metrics }),
    },
  );
}

/** Runs the service on a database of its own, cloned from the template; both are gone when the test ends. */
export async function startTestService(t: Test, options: TestServiceOptions = {}): Promise<TestService> {
  const connection = options.connection ?? (await cloneDatabase(t));
  const way = options.connect ? await options.connect(connection) : connection;
  const database = openDatabase(way, options.pool);
  const destination = createDestination({
    allowedNetworks: options.allowedNetworks ?? ['127.0.0.0/8'],
    ...(options.lookup && { lookup: options.lookup }),
  });
  const metrics = createMetrics({
    poolUse: () => poolUse(database),
    latestBacklog: keepLatest(() => readBacklog(database), { keepMs: options.keepBacklogMs ?? 0 }),
  });
  let worker: Worker | undefined;
  const app = await buildTestApp(database, destination, {
    ...(options.rateLimitPerMinute && { rateLimitPerMinute: options.rateLimitPerMinute }),
    ...(options.webhooksPerAccount && { webhooksPerAccount: options.webhooksPerAccount }),
    ...(options.redisUrl && { redisUrl: options.redisUrl }),
    ...(options.trustedProxies && { trustedProxies: options.trustedProxies }),
    ...(options.corsOrigins && { corsOrigins: options.corsOrigins }),
    ...(options.keptResponses && { keptResponses: options.keptResponses }),
    ...(options.readingTime && { readingTime: options.readingTime }),
    ...(options.encryptionKeys && { encryptionKeys: options.encryptionKeys }),
    logLevel: process.env['TEST_LOG'] ?? 'silent',
    metrics,
    afterWrite: () => worker?.nudge(),
  });
  if (options.worker) {
    worker = startWorker({
      database,
      send: createSender({ destination, userAgent }),
      seal: createSeal(...(options.encryptionKeys ?? [encryptionKey])),
      log: app.log,
      observe: metrics.attempted,
      idleMs: 20,
      retentionDays: 30,
      ...options.worker,
    });
  }
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  t.teardown(async () => {
    await app.close();
    await worker?.stop();
    await destination.close();
    await database.destroy();
  });

  const client: TestService['client'] = async ({
    account = 'Demo',
    scopes = [...allScopes],
    locations,
  } = {}) => {
    const made = await createClient(database, { account, scopes, locationIds: locations ?? null });
    return createApi(url, made);
  };
  return { url, database, connection, app, api: await client(), client, worker };
}

/** A fresh copy of the template, or of another database that nobody uses; dropped when the test ends. */
export function cloneDatabase(
  t: Test,
  { template }: { template: string } = testServer(),
): Promise<pg.PoolConfig> {
  return createDatabase(t, `template ${template} strategy file_copy`);
}

/** A database without tables; dropped when the test ends. */
export function emptyDatabase(t: Pick<Test, 'teardown'>): Promise<pg.PoolConfig> {
  return createDatabase(t, 'template template0');
}

async function createDatabase(t: Pick<Test, 'teardown'>, made: string): Promise<pg.PoolConfig> {
  const { connection } = testServer();
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await onServer(connection, `create database ${name} ${made}`);
  t.teardown(() => onServer(connection, `drop database if exists ${name} with (force)`));
  return { ...connection, database: name };
}

async function onServer(connection: pg.PoolConfig, text: string): Promise<void> {
  const client = new pg.Client({ ...connection, database: 'postgres', ssl: false } as pg.ClientConfig);
  await client.connect();
  await client.query(text).finally(() => client.end());
}
