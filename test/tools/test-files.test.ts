import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { type FileResult, runFiles } from '../../scripts/test/pool.ts';

/** A test file and what must come of it: how many assertions pass and fail, and what its report says. */
interface Expected {
  text: string;
  passed: number;
  failed: number;
  says: RegExp;
}

const files: Record<string, Expected> = {
  passes: {
    text: `t.pass(); t.test('within', async (t) => { t.pass(); t.equal(1, 1); });`,
    passed: 3,
    failed: 0,
    says: /ok 1 - \S*passes/,
  },
  passesToo: { text: `t.test('within', async (t) => t.pass());`, passed: 1, failed: 0, says: /passesToo/ },
  fails: {
    text: `t.pass(); t.equal(1, 2, 'one is two');`,
    passed: 1,
    failed: 1,
    says: /not ok 2 - one is two/,
  },
  throws: { text: `throw new Error('at import');`, passed: 0, failed: 1, says: /at import/ },
  isBroken: { text: `t.pass(;`, passed: 0, failed: 1, says: /SyntaxError/ },
  hangs: {
    text: `t.setTimeout(200); t.test('for ever', () => new Promise(() => setInterval(() => {}, 1000)));`,
    passed: 0,
    failed: 2,
    says: /not ok 1 - timeout!/,
  },
  leaves: {
    text: `import { createServer } from 'node:net'; t.pass(); createServer().listen(0, '127.0.0.1');`,
    passed: 1,
    failed: 1,
    says: /not ok 1 - nothing is left running[\s\S]*TCPServerWrap/,
  },
  shifts: {
    text: `t.pass(); globalThis.Date = class extends Date {};`,
    passed: 1,
    failed: 1,
    says: /not ok 1 - nothing is left running[\s\S]*another clock/,
  },
  isEmpty: { text: '', passed: 0, failed: 1, says: /asserts nothing$/ },
  skips: {
    text: `t.test('this', { skip: 'today' }, async () => {});`,
    passed: 0,
    failed: 0,
    says: /SKIP today/,
  },
  exits: {
    text: `t.pass(); t.test('ends', async () => process.exit(0));`,
    passed: 0,
    failed: 1,
    says: /test unfinished[\s\S]*its process ended with 1$/,
  },
  blocks: { text: `t.pass(); for (;;);`, passed: 0, failed: 1, says: /ended with SIGKILL$/ },
};

t.test('what a test file does wrong is told of that file, and the others run', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'test-test-'));
  t.teardown(() => rm(directory, { recursive: true }));
  const pathOf = (name: string) => join(directory, `${name}.test.ts`);
  await writeFile(join(directory, 'package.json'), '{ "type": "module" }');
  for (const [name, { text }] of Object.entries(files))
    await writeFile(pathOf(name), `import t from 'tap';\n${text}\n`);

  const results: FileResult[] = [];
  const { signal } = new AbortController();
  const options = { processes: 2, env: process.env, patienceSeconds: 20, signal };
  await runFiles(Object.keys(files).map(pathOf), options, (result) => results.push(result));
  t.equal(results.length, Object.keys(files).length);
  for (const [name, { passed, failed, says }] of Object.entries(files)) {
    const result = results.find(({ file }) => file === pathOf(name));
    t.match(result, { passed, failed, report: says }, name);
  }
});
