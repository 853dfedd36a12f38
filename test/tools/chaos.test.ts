import t from 'tap';
import { runToEnd } from '../support/process.ts';

/*
 * A harness that finds nothing proves nothing: the service gets a bug by a module that is preloaded, and the harness
 * has to find it.
 */

t.setTimeout(300_000);

const bugs = [
  { plant: 'early-response', fault: 'kill-node', rule: /lost: "every acknowledged write is there"/ },
  // Whether later versions of a record have one decides which of the two rules sees it.
  {
    plant: 'lost-event',
    fault: 'database-resets',
    rule: /lost: "(an event for each version|no write without its event)"/,
  },
  { plant: 'repeated-call', fault: 'database-resets', rule: /repeated: "no keyed call takes effect twice"/ },
];

for (const { plant, fault, rule } of bugs)
  t.test(`the bug "${plant}" is found by "${fault}"`, async (t) => {
    const { stdout, ended } = await chaos(
      '--plant',
      plant,
      '--only',
      fault,
      '--minutes',
      '0.5',
      '--seed',
      '1',
    );
    t.equal(ended, 1);
    t.match(stdout, rule, stdout.slice(0, 4_000));
    t.match(stdout, /^run it again with SEED=\d+$/m);
    t.match(stdout, /^ {4}call \d+.*: [A-Z]+ \//m, 'with the history of the record');
  });

t.test('code without a planted bug passes, and a table says so', async (t) => {
  const { stdout, ended } = await chaos('--only', 'database-resets', '--minutes', '0.05', '--seed', '1');
  t.equal(ended, 0, stdout.slice(0, 4_000));
  t.match(stdout, /^SEED=1 /);
  t.match(stdout, /^\| database-resets: .* \| 1 \| \d+ \| \d+ \| \d+ \| 0 \| 0 \| 0 \|/m);
});

t.test('it lists its options, and names unknown ones in one line', async (t) => {
  t.match((await chaos('--help')).stdout, /^usage: make chaos .*promote-replica/s);
  for (const [option, value] of [
    ['--only', 'rain'],
    ['--minutes', 'two'],
    ['--plant', 'tree'],
  ]) {
    const { stderr, ended } = await chaos(`${option}`, `${value}`);
    t.equal(ended, 2);
    t.match(stderr, /^chaos: [^\n]*\n$/);
  }
});

function chaos(...options: string[]) {
  return runToEnd(t, {}, [process.execPath, 'test/chaos/main.ts', ...options]);
}
