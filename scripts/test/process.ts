/**
 * One of the processes that run the tests: imports the files that it reads from standard input, one after the other,
 * each within a test that bears its name, so that the service and its schemas are loaded once for many files. The
 * report goes to standard output, as TAP.
 */
import { registerHooks } from 'node:module';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import tap, { type Test } from 'tap';
import { fileEnd } from './protocol.ts';

/** The test of the file that is being imported. */
export let testOfFile: Test;

// A file's own `import t from 'tap'` gets the test of that file in place of that of the whole process.
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'tap' && context.parentURL?.endsWith('.test.ts')
      ? { url: `${import.meta.resolve('./tap-of-file.ts')}?${context.parentURL}`, shortCircuit: true }
      : next(specifier, context),
});

// Unless it sets another time itself.
const fileSeconds = 60 * Number(process.env['TEST_MINUTES'] ?? 2);
tap.setTimeout(0);
const atFirst = process.getActiveResourcesInfo();
const clock = globalThis.Date;
// Not awaited here: the files import this module.
createInterface(process.stdin).on('line', runFile);

async function runFile(file: string): Promise<void> {
  const before = { ...tap.assertTotals };
  await tap.test(file, { timeout: fileSeconds * 1_000 }, async (t) => {
    testOfFile = t as Test;
    await import(pathToFileURL(file).href);
  });
  const left = await leftRunning();
  if (left.length > 0)
    await tap.test(`${file} ends`, async (t) => t.same(left, [], 'nothing is left running'));
  globalThis.Date = clock;
  const { pass, fail, skip } = tap.assertTotals;
  // Also what ended all tests of this process, as a file or helper can that gets hold of its root.
  if (pass + fail + skip === before.pass + before.fail + before.skip)
    return console.log(`${file} asserts nothing\n${fileEnd({ passed: 0, failed: 1 })}`);
  console.log(fileEnd({ passed: pass - before.pass, failed: fail - before.fail }));
}

/**
 * Servers, timers and the like that would keep a process from ending which had run this file alone; and a clock that is
 * not that of the system any more.
 */
async function leftRunning(): Promise<string[]> {
  const now = () => {
    const known = [...atFirst];
    return process.getActiveResourcesInfo().filter((kind) => {
      const at = known.indexOf(kind);
      if (at >= 0) known.splice(at, 1);
      return at < 0;
    });
  };
  // At least once, as what was started a moment ago may not be there yet.
  for (let tries = 0; tries < 1_000; tries += 1) {
    await pause(tries > 0 ? 10 : 1);
    if (now().length === 0) break;
  }
  return globalThis.Date === clock ? now() : [...now(), 'another clock'];
}
