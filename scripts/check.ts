/**
 * Everything that CI runs: the targets of the Makefile, some beside others. `make check` calls it. With CI set, it leaves
 * out what nothing has changed since it passed, unless RELEASE is set.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { digestsNow, readPassed, writePassed } from './check/passed.ts';

/**
 * One stage after the other; within a stage the lanes run at the same time, the targets of a lane in turn. What takes
 * all processors has a stage of its own.
 */
const stages: string[][][] = [
  [
    ['current', 'lint', 'breaking'],
    ['audit', 'portable'],
  ],
  [['test']],
  [['tools']],
  // Conformance sends one request after the other, and so leaves a processor to its neighbours.
  [['conformance'], ['chaos', 'sdk', 'gates']],
];

const help = `usage: make check

Runs all that CI runs and prints how long each target took: ${stages.flat(2).join(', ')}.

  CI=true    leave out what nothing has changed since it passed
  RELEASE=1  leave nothing out`;

interface Outcome {
  target: string;
  seconds: number;
  passed: boolean;
}

const [argument] = process.argv.slice(2);
if (argument) {
  const isHelp = ['-h', '--help'].includes(argument);
  if (isHelp) console.log(help);
  else console.error(`check: Unknown argument '${argument}'; see --help`);
  process.exit(isHelp ? 0 : 2);
}
const { CI, RELEASE } = process.env;
const digests = digestsNow();
const passedBefore = CI && !RELEASE ? readPassed() : {};
const unchanged = Object.keys(digests).filter((target) => passedBefore[target] === digests[target]);
const outcomes: Outcome[] = [];
for (const stage of stages) {
  const lanes = stage.map((targets) => targets.filter((target) => !unchanged.includes(target)));
  await Promise.all(lanes.map((targets) => runInTurn(targets, lanes.length > 1)));
  if (outcomes.some(({ passed }) => !passed)) break;
}
writePassed(
  digests,
  outcomes.filter(({ passed }) => passed).map(({ target }) => target),
);
const seconds = Math.round(performance.now() / 1_000);
console.log(`\nmake check: ${seconds} s`);
for (const { target, seconds, passed } of outcomes)
  console.log(`${String(seconds).padStart(5)} s  ${target}${passed ? '' : ' FAILED'}`);
if (unchanged.length > 0) console.log(`unchanged since they passed: ${unchanged.join(', ')}`);
process.exitCode = outcomes.every(({ passed }) => passed) ? 0 : 1;

/** Until one fails. */
async function runInTurn(targets: string[], hasNeighbours: boolean): Promise<void> {
  for (const target of targets) {
    const outcome = await run(target, hasNeighbours);
    outcomes.push(outcome);
    if (!outcome.passed) break;
  }
}

/** @param collect whether to print its output at its end, for it not to mix with that of another */
async function run(target: string, collect: boolean): Promise<Outcome> {
  const started = performance.now();
  // Options of the make that has called this one are not meant for each target.
  const { MAKEFLAGS: _, ...env } = process.env;
  const output = collect ? 'pipe' : 'inherit';
  const make = spawn('make', ['--no-print-directory', target], { env, stdio: ['ignore', output, output] });
  const printed: Buffer[] = [];
  for (const stream of [make.stdout, make.stderr]) stream?.on('data', (some: Buffer) => printed.push(some));
  const [status] = await once(make, 'close');
  if (collect) process.stdout.write(`\n=== make ${target}\n${Buffer.concat(printed)}`);
  return { target, seconds: Math.round((performance.now() - started) / 1_000), passed: status === 0 };
}
