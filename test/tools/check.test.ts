import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
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
  'gates',
];

// What decides the verdicts of `audit` and `gates`, one file for each pattern.
const deciding = [
  'openapi/openapi.yaml',
  'generated/openapi.json',
  'package-lock.json',
  'test/gates/breaking.test.ts',
  'scripts/breaking.ts',
  'scripts/breaking/rules.ts',
  'scripts/lint-contract/spectral.yaml',
  'scripts/portable/main.ts',
  'scripts/sdk/main.ts',
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
    for (const later of ['conformance', 'chaos', 'sdk', 'gates']) t.ok(place('tools') < place(later), later);
    t.match(stdout, /^=== make lint\nlint says so\n/m, 'the output of a target stands by itself');
  },
);

t.test('targets of different lanes run at the same time', async (t) => {
  // Each waits for the other.
  const meet = (mine: string, other: string) => `touch ${mine}; until test -e ${other}; do sleep 0.01; done`;
  const { ended } = await check(t, {
    conformance: meet('here', 'there'),
    chaos: meet('there', 'here'),
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

t.test('CI leaves out what has passed on the same files, except on a release', async (t) => {
  const directory = project(t);
  const left = async (env: Record<string, string>) => {
    const { stdout, ended } = await runCheck(t, directory, env);
    t.equal(ended, 0);
    const unchanged = /^unchanged since they passed: (.*)$/m.exec(stdout)?.[1] ?? '';
    const absent = targets.filter((target) => !stdout.includes(`${target} says so\n`));
    t.equal(absent.join(', '), unchanged, 'what does not run is named');
    return unchanged;
  };
  t.equal(await left({ CI: 'true' }), '', 'nothing has passed yet');
  t.equal(await left({ CI: 'true' }), 'audit, gates');
  t.equal(await left({ CI: 'true', RELEASE: '1' }), '');
  t.equal(await left({}), '', 'on a machine of our own all run');
  for (const [file, unchanged] of [
    ['openapi/openapi.yaml', 'audit'],
    ['scripts/sdk/passed.json', 'audit, gates'],
    ['scripts/lint-contract/spectral.yaml', ''],
    ['src/items/toggle-item.ts', 'audit, gates'],
  ] as const) {
    put(directory, file, 'changed');
    t.equal(await left({ CI: 'true' }), unchanged, file);
  }
});

t.test('what has failed runs again', async (t) => {
  const directory = project(t, { gates: 'exit 3' });
  t.equal((await runCheck(t, directory, { CI: 'true' })).ended, 1);
  const { stdout, ended } = await runCheck(t, directory, { CI: 'true' });
  t.match(stdout, /^unchanged since they passed: audit$/m);
  t.match(stdout, /^ +\d+ s {2}gates FAILED$/m);
  t.equal(ended, 1);
});

t.test('the project has all of these targets', async (t) => {
  const makefile = readFileSync(join(root, 'Makefile'), 'utf8');
  for (const target of targets) t.match(makefile, new RegExp(`^${target}:`, 'm'), target);
});

/** Runs scripts/check.ts where each target prints that it runs, after the command given for it. */
async function check(t: Test, commands: Record<string, string>) {
  return runCheck(t, project(t, commands), {});
}

/** A directory with such targets. */
function project(t: Test, commands: Record<string, string> = {}): string {
  const directory = t.testdir({ scripts: { check: {} } });
  const rules = targets.map(
    (target) => `${target}:\n\t@${commands[target] ?? 'true'}\n\t@echo ${target} says so\n`,
  );
  put(directory, 'Makefile', `.PHONY: ${targets.join(' ')}\n${rules.join('')}`);
  for (const file of deciding) put(directory, file, 'at first');
  return directory;
}

function runCheck(t: Test, directory: string, env: Record<string, string>) {
  return runToEnd(t, env, [process.execPath, join(root, 'scripts/check.ts')], directory);
}

function put(directory: string, file: string, text: string): void {
  mkdirSync(dirname(join(directory, file)), { recursive: true });
  writeFileSync(join(directory, file), text);
}
