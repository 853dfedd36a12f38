import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { compare } from '../../scripts/breaking/compare.ts';
import { ownRules } from '../../scripts/breaking/rules.ts';
import { root, runToEnd } from '../support/process.ts';
import { breaking, type Change, type Contract, harmless } from './contract-changes.ts';

const released = join(root, 'openapi/released.json');
const contract: Contract = JSON.parse(await readFile(released, 'utf8'));
const scratch = await mkdtemp(join(tmpdir(), 'breaking-test-'));
t.teardown(() => rm(scratch, { recursive: true, force: true }));

/** The released contract with edits, as a file. */
async function edited(...edits: Change['edit'][]): Promise<string> {
  const revision = structuredClone(contract);
  for (const edit of edits) edit(revision);
  const file = join(scratch, `${crypto.randomUUID()}.json`);
  await writeFile(file, JSON.stringify(revision));
  return file;
}

const compareAll = async (changes: Change[]) =>
  compare(released, await edited(...changes.map(({ edit }) => edit)));

/** Does the work for each, as many at a time as there are processors. */
async function forEach<T>(all: T[], work: (one: T) => Promise<void>): Promise<void> {
  const queue = all.values();
  const worker = async () => {
    for (const one of queue) await work(one);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
}

t.test('each change that breaks a client is found and named', async (t) => {
  const found = async (changes: Change[]) =>
    (await compareAll(changes)).findings.map(({ rule, where }) => `${rule}: ${where}`);
  // Several at once, as each comparison takes a second. Neighbours touch the same things and are kept apart; a
  // change that others of its group hide is tried alone.
  const groups = Array.from({ length: 10 }, (_, group) =>
    breaking.filter((_, index) => index % 10 === group),
  );
  await forEach(groups, async (group) => {
    const together = await found(group).catch((): string[] => []);
    for (const change of group) {
      const isHidden = change.findings.some((one) => !together.includes(one));
      const lines = isHidden ? await found([change]) : together;
      for (const finding of change.findings)
        t.ok(lines.includes(finding), `${change.title}: ${finding}`, { lines });
    }
  });
});

t.test('each rule of our own is broken by one of these changes', async (t) => {
  const named = breaking.flatMap(({ findings }) => findings.map((finding) => finding.split(': ')[0]));
  t.strictSame(
    Object.keys(ownRules).filter((rule) => !named.includes(rule)),
    [],
  );
});

t.test('a change that breaks nobody passes, and asks for the version that says what it is', (t) =>
  forEach(harmless, async (change) => {
    const { findings, bump } = await compareAll([change]);
    t.strictSame(findings, [], change.title);
    t.equal(bump, change.bump, change.title);
  }),
);

/** Runs the command as `make breaking` does. */
async function run(t: Test, ...args: string[]) {
  const { stdout, stderr, ended } = await runToEnd(t, {}, [process.execPath, 'scripts/breaking.ts', ...args]);
  return { lines: stdout.trim().split('\n'), stderr, ended };
}

const removed = breaking.find(({ title }) => title === 'an operation is removed') as Change;
const added = harmless.find(({ title }) => title === 'a new operation') as Change;
const version = (version: string) => (revision: Contract) => (revision.info.version = version);
const [major] = contract.info.version.split('.').map(Number);
const next = `${major + 1}.0.0`;

t.test(
  'the command fails on a breaking change while the major version stays, and says what to do',
  async (t) => {
    const since = `since release ${contract.info.version}`;
    const finding = /^operation-removed: DELETE \/menus\/{menu_id}\/items\/{item_id} \(deleteItem\): /;
    for (const is of [contract.info.version, `${major}.999.0`]) {
      const { lines, ended } = await run(t, await edited(removed.edit, version(is)));
      t.match(lines, [finding, `1 breaking change ${since}; info.version is ${is}: raise it to ${next}, or`]);
      t.equal(lines.length, 2);
      t.equal(ended, 1);
    }
    const announced = await run(t, await edited(removed.edit, version(next)));
    t.match(announced.lines, [finding, `1 breaking change ${since}; info.version is ${next}, which says so`]);
    t.equal(announced.ended, 0);
  },
);

t.test('the command passes what breaks nobody, and says what version it needs', async (t) => {
  const { lines, ended } = await run(t, await edited(added.edit));
  t.match(lines, [
    /^additions, nothing breaking since release .*: raise it to \d+\.\d+\.0 before the release$/,
  ]);
  t.equal(ended, 0);
  t.match(await run(t, released), { lines: [/^nothing has changed since release/], ended: 0 });
});

t.test(
  'the contract in openapi/ breaks no client of the released one, or its major version says so',
  async (t) => {
    t.match(await run(t), { stderr: '', ended: 0 });
  },
);

t.test('what cannot be compared fails in words, never silently', async (t) => {
  const broken = await edited((c) => (c.paths['/menus'] = { $ref: '#/nowhere' }));
  const unversioned = await edited(version('next'));
  for (const [args, words] of [
    [['nowhere.yaml'], /^breaking: there is no file nowhere\.yaml\n$/],
    [['one.yaml', 'two.yaml'], /^breaking: one file, or --release; see --help\n$/],
    [['--loud'], /^breaking: Unknown option '--loud'.*; see --help\n$/],
    [[broken], /Can't resolve \$ref/],
    [[unversioned], /^breaking: info\.version must be three numbers such as 1\.2\.0, not next\n$/],
  ] as const) {
    t.match(await run(t, ...args), { stderr: words, ended: 2 }, args.join(' '));
  }
  t.match(await run(t, '--help'), { lines: [/^usage: make breaking/], ended: 0 });
});
