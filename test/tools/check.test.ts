import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { root, runToEnd } from '../support/process.ts';

// With these targets in place of the project's.
const targets = [
  'current',
  'lint',
  'breaking',
  'audit',
  'portable',
  'test',
  'tools',
  'conformance',
  'chaos',
  'sdk',
];

t.test(
  'every target runs, those of a stage after those of the one before, and its time is told',
  async (t) => {
    const { stdout, ended } = await check(t, {});
    t.equal(ended, 0);
    for (const target of targets) {
      t.equal(stdout.split(`${target} says so\n`).length, 2, `${target} runs once`);
      t.match(stdout, new RegExp(`^ +\\d+ s {2}${target}$`, 'm'), target);
    }
    const place = (target: string) => stdout.indexOf(`${target} says so`);
    for (const earlier of ['current', 'lint', 'breaking', 'audit', 'portable'])
      t.ok(place(earlier) < place('test'), earlier);
    t.ok(place('test') < place('tools'));
    for (const later of ['conformance', 'chaos', 'sdk']) t.ok(place('tools') < place(later), later);
    t.match(stdout, /^=== make lint\nlint says so\n/m, 'the output of a target stands by itself');
  },
);

t.test('targets of different lanes run at the same time', async (t) => {
  // Each waits for the other.
  const meet = (mine: string, other: string) => `touch ${mine}; until test -e ${other}; do sleep 0.01; done`;
  const { ended } = await check(t, {
    chaos: meet('here', 'there'),
    sdk: meet('there', 'here'),
  });
  t.equal(ended, 0);
});

t.test('a target that fails ends its lane and what comes after, but not its neighbours', async (t) => {
  const { stdout, ended } = await check(t, { current: 'exit 3' });
  t.equal(ended, 1);
  t.match(stdout, /^ +\d+ s {2}current FAILED$/m);
  t.match(stdout, /portable says so/);
  for (const target of ['lint', 'test', 'tools', 'conformance', 'sdk'])
    t.notMatch(stdout, new RegExp(`${target} says so`), target);
});

t.test('the project has all of these targets', async (t) => {
  const makefile = readFileSync(join(root, 'Makefile'), 'utf8');
  for (const target of targets) t.match(makefile, new RegExp(`^${target}:`, 'm'), target);
});

/** Runs scripts/check.ts where each target prints that it runs, after the command given for it. */
async function check(t: Test, commands: Record<string, string>) {
  const directory = t.testdir();
  const rules = targets.map(
    (target) => `${target}:\n\t@${commands[target] ?? 'true'}\n\t@echo ${target} says so\n`,
  );
  writeFileSync(join(directory, 'Makefile'), `.PHONY: ${targets.join(' ')}\n${rules.join('')}`);
  return runToEnd(t, {}, [process.execPath, join(root, 'scripts/check.ts')], directory);
}
