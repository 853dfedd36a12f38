import type { Deployment, Surroundings, Undoing } from './deployment/deployment.ts';
import { deployEmbedded } from './deployment/embedded.ts';
import { deployExternal } from './deployment/external.ts';
import type { Fault } from './faults/fault.ts';
import { faults } from './faults.ts';
import { Random } from './random.ts';
import { explanation, inOneLine } from './report.ts';
import { playRound, type Round } from './round.ts';
import { setScene } from './scene.ts';

export interface RunOptions {
  minutes: number;
  seed: number;
  /** Names of faults; all when empty. */
  only: readonly string[];
  /** Added to the environment of the service. */
  env: Record<string, string>;
  /** Whether to go on after a violation, with another deployment. */
  keepGoing: boolean;
  /** A directory for what the processes print. */
  logs: string;
  /** What to undo if the run is interrupted. */
  undoing: Undoing;
  say(line: string): void;
}

/** The result of a run. */
export interface RunResult {
  rounds: Round[];
  /** Faults that cannot be produced here. */
  skipped: Set<string>;
}

/** Rounds after which a deployment is replaced by a fresh one, so that its history stays small. */
const roundsOfDeployment = 10;

/**
 * Sets up one deployment after another, each with a few faults, until the time is over. The n-th uses the seed plus n, so
 * a run with that seed begins with it.
 */
export async function run(options: RunOptions): Promise<RunResult> {
  const { minutes, seed } = options;
  const plays = selected(options.only);
  const result: RunResult = { rounds: [], skipped: new Set() };
  const deadline = performance.now() + minutes * 60_000;
  const isOver = () => {
    const hasBegun = result.rounds.length + result.skipped.size > 0;
    return (hasBegun && performance.now() > deadline) || (!options.keepGoing && isBroken(result));
  };
  for (let index = seed; !isOver(); index += 1)
    await plays[index % plays.length]?.({ ...options, seed: index }, isOver, result);
  return result;
}

export function isBroken({ rounds }: RunResult): boolean {
  return rounds.some(({ violations }) => violations.length > 0);
}

type Play = (options: RunOptions, isOver: () => boolean, result: RunResult) => Promise<void>;

/** Each kind of deployment that a selected fault befalls. */
function selected(only: readonly string[]): Play[] {
  const chosen = <D extends Deployment>(all: readonly Fault<D>[]) =>
    all.filter(({ name }) => only.length === 0 || only.includes(name));
  const [embedded, external] = [chosen(faults.embedded), chosen(faults.external)];
  return [
    ...(embedded.length > 0 ? [playOf(deployEmbedded, embedded)] : []),
    ...(external.length > 0 ? [playOf(deployExternal, external)] : []),
  ];
}

function playOf<D extends Deployment>(
  deploy: (surroundings: Surroundings) => Promise<D>,
  faults: readonly Fault<D>[],
): Play {
  return async (options, isOver, result) => {
    const { seed, say, undoing } = options;
    try {
      const scene = await setScene(deploy, { ...options, seed: String(seed) });
      const random = new Random(`${seed} faults`);
      for (const fault of random.shuffle(faults).slice(0, roundsOfDeployment)) {
        if (isOver()) break;
        const lack = fault.lacks?.(scene.deployment);
        if (lack && !result.skipped.has(fault.name)) say(`${fault.name} is skipped: ${lack}`);
        if (lack) result.skipped.add(fault.name);
        if (lack) continue;
        const round = await playRound(scene, fault, new Random(`${seed} ${fault.name}`));
        result.rounds.push(round);
        say(inOneLine(round, seed));
        // A broken rule stays broken, and would be reported for every later fault.
        if (round.violations.length === 0) continue;
        for (const line of explanation(round, seed)) say(line);
        break;
      }
    } finally {
      await undoing.run();
    }
  };
}
