import { setTimeout as pause } from 'node:timers/promises';
import { killAll } from '../../support/process.ts';
import type { EmbeddedDeployment } from '../deployment/embedded.ts';
import type { Fault } from './fault.ts';

type EmbeddedFault = Fault<EmbeddedDeployment>;

const patienceMs = 10_000;

export const killService: EmbeddedFault = {
  name: 'kill-service',
  about: 'kill -9 of the service together with its Postgres',
  async strike({ deployment: { service, postgres }, restart }) {
    killAll([service.pid, ...postgres()]);
    await service.stop('SIGKILL');
    await restart(service);
  },
};

export const orphanPostgres: EmbeddedFault = {
  name: 'kill-node-alone',
  about: 'kill -9 of Node, its embedded Postgres stays',
  async strike({ deployment: { service }, random, restart }) {
    await service.stop('SIGKILL');
    await pause(random.between(0, 1_000));
    await restart(service);
  },
};

export const killOwnPostmaster: EmbeddedFault = {
  name: 'kill-embedded-postmaster',
  about: 'kill -9 of the postmaster of the embedded Postgres',
  async strike({ deployment: { service, postgres }, restart, mishap }) {
    const [postmaster] = postgres();
    if (postmaster) process.kill(postmaster, 'SIGKILL');
    const deadline = performance.now() + patienceMs;
    while (!(await service.ends(100))) {
      const [successor = postmaster] = postgres();
      if (successor !== postmaster && (await service.isReady())) return;
      if (performance.now() < deadline) continue;
      mishap('an embedded Postgres that was killed is started again', `not in ${patienceMs / 1000} s`);
      break;
    }
    // A service that ends with its Postgres is restarted by whoever runs it.
    await service.stop('SIGKILL');
    await restart(service);
  },
};

export const stopEmbedded: EmbeddedFault = {
  name: 'stop-service',
  about: 'SIGTERM in full flow, the embedded Postgres stops with it',
  async strike({ deployment: { service }, restart, mishap }) {
    const { ended, stdout } = await service.stop('SIGTERM');
    if (ended !== 0) mishap('a stop in full flow ends well', `it ended with ${ended}: ${stdout.slice(-500)}`);
    await restart(service);
  },
};
