import { setTimeout as pause } from 'node:timers/promises';
import type { TcpProxy } from '../../support/proxy.ts';
import type { Deployment } from '../deployment/deployment.ts';
import type { ExternalDeployment } from '../deployment/external.ts';
import type { Random } from '../random.ts';
import type { Fault } from './fault.ts';

type Wire = Pick<TcpProxy, 'stall' | 'resume' | 'reset' | 'goDark' | 'cut' | 'silence' | 'restore' | 'delay'>;
type Trouble = (wire: Wire, random: Random) => Promise<void>;

const stall: Trouble = async (wire, random) => {
  wire.stall();
  await pause(random.between(1_000, 8_000));
  wire.resume();
};

const reset: Trouble = async (wire, random) => {
  for (let times = random.between(1, 6); times > 0; times -= 1) {
    wire.reset();
    await pause(random.between(50, 500));
  }
};

const goDark: Trouble = async (wire, random) => {
  wire.goDark();
  await pause(random.between(500, 2_000));
};

const vanish: Trouble = async (wire, random) => {
  if (random.chance(0.5)) wire.silence();
  else await wire.cut();
  await pause(random.between(1_000, 6_000));
  await wire.restore();
};

const delay: Trouble = async (wire, random) => {
  wire.delay(random.between(20, 200));
  await pause(random.between(2_000, 4_000));
  wire.delay(0);
};

const overDatabase = (name: string, about: string, trouble: Trouble): Fault<ExternalDeployment> => ({
  name,
  about,
  strike: ({ deployment, random }) => trouble(deployment.databaseProxy, random),
});

export const databaseStalls = overDatabase(
  'database-stalls',
  'the network to Postgres holds everything back for 1 to 8 s, then delivers it',
  stall,
);
export const databaseResets = overDatabase(
  'database-resets',
  'connections to Postgres are reset, up to six times',
  reset,
);
export const databaseDark = overDatabase(
  'database-dark',
  'connections to Postgres go dark without a sign; new ones work',
  goDark,
);
export const databaseAway = overDatabase(
  'database-away',
  'Postgres is refused or silent for 1 to 6 s',
  vanish,
);
export const databaseDelays = overDatabase(
  'database-delays',
  'the network to Postgres takes 20 to 200 ms each way',
  delay,
);

export const receiversAway: Fault<Deployment> = {
  name: 'receivers-away',
  about: 'the network to the receivers stalls, resets, goes dark, is slow or gone',
  strike: ({ deployment, random }) =>
    random.pick([stall, reset, goDark, vanish, delay])(deployment.receiverProxy, random),
};
