import t from 'tap';
import { root, runToEnd } from '../support/process.ts';
import { blocksOf } from './blocks.ts';
import { commandsOf } from './terminal.ts';

t.test('the commands of docs/benchmarks.md and docs/scaling.md are those of the bench', async (t) => {
  const { stdout, ended } = await runToEnd(
    t,
    {},
    [process.execPath, 'scripts/bench/main.ts', '--help'],
    root,
  );
  t.equal(ended, 0);
  const known = [...stdout.matchAll(/^ {2}(\S+)/gm)].map(([, word = '']) => word);
  const commands = ['docs/benchmarks.md', 'docs/scaling.md'].flatMap(blocksOf).flatMap(commandsOf);
  t.equal(commands.length, 13);
  for (const { line } of commands) {
    t.match(line, /^npm run bench( -- |$)/);
    const names = line
      .split(' ')
      .slice(4)
      .filter((word) => !/^[\d.,]*$/.test(word));
    for (const name of names)
      t.ok(
        known.some((one) => one.startsWith(name)),
        `${line}: ${name}`,
      );
  }
});
