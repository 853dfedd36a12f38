import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ExternalDeployment } from '../deployment/external.ts';
import { type Fault, someOf } from './fault.ts';

type ExternalFault = Fault<ExternalDeployment>;

export const killNode: ExternalFault = {
  name: 'kill-node',
  about: 'kill -9 of Node, one process or both, the Postgres of others stays',
  async strike({ deployment: { services }, random, restart }) {
    for (const service of someOf(random, services)) {
      await service.stop('SIGKILL');
      await restart(service);
    }
  },
};

export const stopNode: ExternalFault = {
  name: 'stop-node',
  about: 'SIGTERM in full flow, one process or both',
  async strike({ deployment: { services }, random, restart, mishap }) {
    for (const service of someOf(random, services)) {
      const { ended, stdout } = await service.stop('SIGTERM');
      if (ended !== 0)
        mishap('a stop in full flow ends well', `it ended with ${ended}: ${stdout.slice(-500)}`);
      await restart(service);
    }
  },
};

export const pauseNode: ExternalFault = {
  name: 'pause-node',
  about: 'SIGSTOP of Node, one process or both, for 1 to 8 s, then SIGCONT',
  async strike({ deployment: { services }, random }) {
    const chosen = someOf(random, services);
    for (const service of chosen) service.signal('SIGSTOP');
    await pause(random.between(1_000, 8_000));
    for (const service of chosen) service.signal('SIGCONT');
  },
};

const hour = 3_600_000;
const clock = fileURLToPath(new URL('./clock.ts', import.meta.url));

export const shiftClock: ExternalFault = {
  name: 'shift-clock',
  about: 'the clock of one process an hour ahead or behind (Date is shifted by a preloaded module)',
  async strike({ deployment: { services }, random, restart }) {
    const service = random.pick(services);
    await service.stop();
    await restart(service, {
      NODE_OPTIONS: [service.env['NODE_OPTIONS'], `--import=${clock}`].filter(Boolean).join(' '),
      CLOCK_OFFSET_MS: String(random.pick([hour, -hour])),
    });
    await pause(random.between(2_000, 3_000));
    await service.stop();
    await restart(service);
  },
};
