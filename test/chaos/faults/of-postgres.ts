import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { Cluster } from '../deployment/cluster.ts';
import type { ExternalDeployment } from '../deployment/external.ts';
import type { Fault } from './fault.ts';

type ExternalFault = Fault<ExternalDeployment>;

export const killPostmaster: ExternalFault = {
  name: 'kill-postmaster',
  about: 'kill -9 of the postmaster, or of all of Postgres at once; started again within a second',
  async strike({ deployment: { primary }, random }) {
    await (random.chance(0.5) ? primary.killPostmaster() : primary.kill());
    await pause(random.between(0, 1_000));
    await primary.start();
  },
};

export const killBackend: ExternalFault = {
  name: 'kill-backend',
  about: 'kill -9 of a backend of the service, after which Postgres starts anew by itself',
  async strike({ deployment: { primary }, random }) {
    const { rows } = await primary.query(
      "select pid from pg_stat_activity where application_name = 'menu-management-service' order by pid",
    );
    process.kill(random.pick(rows).pid, 'SIGKILL');
    await primary.start();
  },
};

export const pausePostgres: ExternalFault = {
  name: 'pause-postgres',
  about: 'SIGSTOP of all of Postgres for 1 to 8 s, then SIGCONT',
  async strike({ deployment: { primary }, random }) {
    primary.signalAll('SIGSTOP');
    await pause(random.between(1_000, 8_000));
    primary.signalAll('SIGCONT');
  },
};

export const readOnly: ExternalFault = {
  name: 'read-only',
  about: 'default_transaction_read_only for 1 to 4 s',
  async strike({ deployment: { primary }, random }) {
    await primary.setReadOnly(true);
    await pause(random.between(1_000, 4_000));
    await primary.setReadOnly(false);
  },
};

export const noConnections: ExternalFault = {
  name: 'no-connections',
  about: 'all connections of Postgres taken by others for 1 to 4 s, and those of the service reset',
  async strike({ deployment: { primary, databaseProxy }, random }) {
    const taken: pg.Client[] = [];
    const until = performance.now() + random.between(1_000, 4_000);
    databaseProxy.reset();
    while (performance.now() < until) {
      const client = await connected(primary);
      if (client) taken.push(client);
      else databaseProxy.reset();
      await pause(client ? 0 : 100);
    }
    await Promise.all(taken.map((client) => client.end()));
  },
};

/** Undefined when no connection is available. */
async function connected(server: Cluster): Promise<pg.Client | undefined> {
  const client = new pg.Client({ ...server.connection(), ssl: false });
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch {
    return undefined;
  }
}

export const diskFull: ExternalFault = {
  name: 'disk-full',
  about: 'no space on the disk of Postgres for 2 to 5 s; what has ended by then is started again',
  lacks: ({ disk }) => (disk ? undefined : 'no small disk can be mounted here'),
  async strike({ deployment: { primary, disk }, random }) {
    disk?.fill();
    await pause(random.between(2_000, 5_000));
    disk?.empty();
    await primary.start();
  },
};

export const promotion: ExternalFault = {
  name: 'promote-replica',
  about: 'the primary is killed or cut off, and its synchronous replica promoted in its place',
  async strike({ deployment, random }) {
    const { primary } = deployment;
    const standby = await primary.addStandby(deployment.nextDirectory());
    await pause(random.between(500, 2_000));
    if (random.chance(0.5)) await primary.kill();
    else deployment.databaseProxy.stall();
    await standby.promote();
    await deployment.succeed(standby);
  },
};
