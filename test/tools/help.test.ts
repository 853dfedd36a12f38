import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { root, runToEnd } from '../support/process.ts';

/** The programs behind `make` and `npm run`. */
const programs = new Set([
  ...['Makefile', 'package.json'].flatMap((file) =>
    [
      ...readFileSync(join(root, file), 'utf8').matchAll(/(?:"node|\$\(node\)(?: --watch)?) ([\w./-]+\.ts)/g),
    ].map(([, program = '']) => program),
  ),
  'test/chaos/main.ts',
  'test/chaos/soak/main.ts',
]);

t.test(
  'every command tells with --help how to use it, and refuses an unknown option in one line',
  async (t) => {
    t.ok(programs.size >= 14, [...programs].join(' '));
    for (const program of programs) {
      const run = (option: string) => runToEnd(t, {}, [process.execPath, program, option]);
      const [helped, refused] = await Promise.all([run('--help'), run('--nonsense')]);
      t.match(helped, { ended: 0, stderr: '', stdout: /^usage: \S.*\n\n\S/s }, `${program} --help`);
      t.match(refused.stderr, /^[\w:-]+: [^\n]*--nonsense[^\n]*\n$/, `${program} --nonsense`);
      t.ok(refused.ended === 1 || refused.ended === 2, `${program} ends with ${refused.ended}`);
    }
  },
);
