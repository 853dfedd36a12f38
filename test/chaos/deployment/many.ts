import { join } from 'node:path';
import { type RunningHaproxy, startHaproxy } from '../../support/haproxy.ts';
import { startProxy } from '../../support/proxy.ts';
import { type RunningRedis, startRedis } from '../../support/redis.ts';
import { encryptionKey } from '../../support/service.ts';
import { Cluster } from './cluster.ts';
import { commonEnv, type Deployment, type Surroundings, Undoing } from './deployment.ts';
import { ServiceProcess } from './service-process.ts';

/** Processes that share the work behind haproxy, with one Redis and one Postgres. */
export interface ManyDeployment extends Deployment {
  /** Those that serve the API; haproxy knows them by their names. */
  apis: readonly ServiceProcess[];
  workers: readonly ServiceProcess[];
  haproxy: RunningHaproxy;
  redis: RunningRedis;
}

export interface ManyOptions {
  /** The build that is started at first; this one unless given. */
  directory?: string;
}

/** Seconds for which a process keeps serving once it is told to stop. */
const drainSeconds = 3;
/** Short enough for haproxy to notice long before that, even on a busy machine. */
const checkEveryMs = 200;

/** For the harness of faults. */
export function deployMany(options: ManyOptions = {}) {
  return async ({ receiverPort, ...places }: Surroundings): Promise<ManyDeployment> => {
    const undoing = new Undoing();
    try {
      const receiverProxy = await startProxy(undoing, { host: '127.0.0.1', port: receiverPort });
      return { ...(await startMany(undoing, places, options)), receiverProxy, stop: () => undoing.run() };
    } catch (error) {
      await undoing.run();
      throw error;
    }
  };
}

/** Starts all of it; `undoing` stops it. The given environment overrides what is set here. */
export async function startMany(
  undoing: Undoing,
  { scratch, logs, env: given }: Omit<Surroundings, 'receiverPort'>,
  { directory }: ManyOptions = {},
): Promise<Many> {
  const postgres = await Cluster.create(join(scratch, 'cluster'));
  undoing.teardown(() => postgres.kill());
  await postgres.start();
  await postgres.query('create database menus', 'postgres');
  const redis = await startRedis(undoing);
  const { host, port, user, database } = postgres.connection();
  const env = {
    ...commonEnv,
    DATABASE_URL: `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`,
    DATABASE_POOL: '4',
    ENCRYPTION_KEY: encryptionKey.toString('base64'),
    REDIS_URL: redis.url,
    DRAIN_SECONDS: String(drainSeconds),
    TRUSTED_PROXIES: '127.0.0.1/32',
    ...given,
  };
  const create = (ROLE: string) => (number: number) =>
    ServiceProcess.create(`${ROLE}-${number}`, { ...env, ROLE }, logs);
  const [first, second, third] = await Promise.all([create('api')(1), create('api')(2), create('api')(3)]);
  const apis = [first, second, third];
  const workers = await Promise.all([create('worker')(1), create('worker')(2)]);
  for (const one of [...apis, ...workers]) undoing.teardown(() => one.clear());
  const place = directory === undefined ? {} : { directory };
  // It migrates the schema, for which the others would wait.
  await first.start({}, place);
  await Promise.all([second, third, ...workers].map((one) => one.start({}, place)));
  const servers = Object.fromEntries(apis.map(({ name, address }) => [name, address]));
  const haproxy = await startHaproxy(undoing, { servers, checkEveryMs });
  return {
    services: [...apis, ...workers],
    callees: [{ name: 'haproxy', address: haproxy.address }],
    apis,
    workers,
    haproxy,
    redis,
    env,
    connection: () => postgres.connection(),
  };
}

type Many = Omit<ManyDeployment, 'receiverProxy' | 'stop'>;
