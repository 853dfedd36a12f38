import { setTimeout as pause } from 'node:timers/promises';
import type { Violation } from './checks/evidence.ts';
import { historyOf, violationsIn } from './checks.ts';
import type { Deployment } from './deployment/deployment.ts';
import type { Fault, Stage } from './faults/fault.ts';
import type { Follower } from './feed.ts';
import type { Journal } from './journal.ts';
import type { Load } from './load.ts';
import type { Random } from './random.ts';
import type { Receivers } from './receivers.ts';
import { collectEvidence, comeToRest } from './rest.ts';
import type { Session } from './session.ts';

/** A deployment with its clients and receivers. */
export interface Scene<D extends Deployment> {
  deployment: D;
  journal: Journal;
  load: Load;
  receivers: Receivers;
  follower: Follower;
  session: Session;
}

/** The result of a round. */
export interface Round {
  fault: string;
  /** Requests that were acknowledged, and requests whose outcome is unknown. */
  acknowledged: number;
  unknown: number;
  events: number;
  /** The longest time from the end of the fault, or from a start, until the service was ready. */
  slowestSeconds: number;
  violations: Violation[];
  /** The histories of the records that broke rules, in lines for people. */
  histories: Map<string, string[]>;
}

/** The time within which the service must be ready again. */
const readySeconds = 5;
const patienceSeconds = 60;

/** Runs load with a fault in the middle, lets everything come to rest, and checks it all. */
export async function playRound<D extends Deployment>(
  scene: Scene<D>,
  fault: Fault<D>,
  random: Random,
): Promise<Round> {
  const { journal } = scene;
  const [callsBefore, before] = [journal.calls.length, journal.requests.size];
  const round: Round = { ...nothing, fault: fault.name, violations: [], histories: new Map() };
  try {
    await strike(scene, fault, random, round);
    await comeToRest(scene.deployment);
    const evidence = await collectEvidence(scene);
    round.violations.push(...violationsIn(evidence));
    for (const { record } of round.violations)
      if (record) round.histories.set(record, historyOf(evidence, record));
    round.events = evidence.feed.filter(
      ({ request_id }) => (journal.requests.get(request_id ?? '')?.call.number ?? 0) > callsBefore,
    ).length;
  } catch (error) {
    const mishap = { rule: 'everything comes to rest', detail: (error as Error).message };
    for (const one of [mishap, ...journal.mishaps]) round.violations.push({ kind: 'wrong', ...one });
  }
  const own = [...journal.requests.values()].slice(before).map(({ request }) => request);
  const count = (outcome: string) => own.filter((one) => one.outcome === outcome).length;
  return { ...round, acknowledged: count('acknowledged'), unknown: count('unknown') };
}

const nothing = { acknowledged: 0, unknown: 0, events: 0, slowestSeconds: 0 };

async function strike<D extends Deployment>(
  scene: Scene<D>,
  fault: Fault<D>,
  random: Random,
  round: Round,
): Promise<void> {
  const { deployment, journal, load, receivers } = scene;
  const mishap = (rule: string, detail: string) => journal.mishaps.push({ rule, detail });
  const judge = (what: string, seconds: number) => {
    round.slowestSeconds = Math.max(round.slowestSeconds, seconds);
    if (seconds > readySeconds)
      mishap('ready again within five seconds', `${what} took ${seconds.toFixed(1)} s`);
  };
  const stage: Stage<D> = {
    deployment,
    random,
    restart: async (service, env) => judge(`the start of ${service.name}`, await service.start(env)),
    mishap,
  };
  receivers.calm = false;
  load.start();
  try {
    await pause(random.between(800, 2_000));
    await fault.strike(stage);
    judge('the recovery', await secondsUntilServed(scene));
    await pause(random.between(500, 1_500));
  } finally {
    receivers.calm = true;
    await load.stop();
  }
}

/** Waits until every process reports that it is ready, and a write has been acknowledged. */
async function secondsUntilServed({ deployment: { services }, load }: Scene<Deployment>): Promise<number> {
  const since = performance.now();
  const { written } = load;
  for (;;) {
    const ready = await Promise.all(services.map((service) => service.isReady()));
    const seconds = (performance.now() - since) / 1000;
    if ((ready.every(Boolean) && load.written > written) || seconds > patienceSeconds) return seconds;
    await pause(20);
  }
}
