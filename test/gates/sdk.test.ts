import t, { type Test } from 'tap';
import type { Outcome } from '../support/process.ts';
import { clientsIn, runClients } from './sdk/run.ts';

/** What each client changes of the one in test/tools/sdk, and the fault that is then found. */
const clients: Record<string, { changes: string; fault?: string }> = {
  good: { changes: '' },
  old: { changes: `edition: '3.0'` },
  warns: { changes: 'explained: []', fault: 'an unexplained warning: this generator is deprecated' },
  stumbles: {
    changes: `build: [[process.execPath, '-e', 'console.log("[ERROR] no default")']]`,
    fault: 'an unexplained warning: [ERROR] no default',
  },
  loose: {
    changes: `generate: [[process.execPath, 'generator.js', 'price: any']]`,
    fault: 'generated.ts:2 should not be generated: export type Item = { price: any };',
  },
  unchecked: {
    changes: 'loose: { files: /other/, pattern: /any/ }',
    fault: 'no generated file matches /other/',
  },
  lenient: {
    changes: `loose: { ...good.loose, allowed: [{ line: /any/, reason: 'of old' }] }`,
    fault: 'no line needs the exception /any/',
  },
  uncompiled: {
    changes: `build: [[process.execPath, '-e', 'process.exit(3)']]`,
    fault: '-e process.exit(3) ended with status 3',
  },
  unbuildable: { changes: `build: [['no-such-tool']]`, fault: 'no-such-tool spawn no-such-tool ENOENT' },
  silent: { changes: `run: [process.execPath, '-e', '']`, fault: 'the transcript should be' },
  pretending: {
    changes: `run: [process.execPath, 'scenario.js', 'pretend']`,
    fault: `the events and what they changed should be \n  ${[
      'item.updated price',
      'item.toggled is_available',
      'item.updated photo_url',
      'item.updated price',
      'item.toggled is_available,unavailable_until',
      'item.updated modifier_groups',
      'item.updated hours',
    ].join('\n  ')}\n, not []`,
  },
  sweeping: {
    changes: `run: [process.execPath, 'scenario.js', 'sweep']`,
    fault: '\n  item.toggled is_available\n  item.updated photo_url,external_id\n',
  },
};

t.test('each thing that can be wrong with a client fails it, and it alone', async (t) => {
  const { stdout, ended } = await run(t);
  const reports = new Map(
    stdout.split(/\n\n(?=\w+ failed\n)/).map((report) => [report.split(' failed\n')[0], report]),
  );
  for (const [name, { fault }] of Object.entries(clients)) {
    t.match(stdout, new RegExp(`${name} +${fault ? 'FAILED' : 'passed'} after \\d+ s`), name);
    if (fault) t.ok(reports.get(name)?.includes(fault), `${name}: ${fault}`);
  }
  t.match(reports.get('pretending'), 'the item should be {', 'what the scenario did not do is told, too');
  t.match(reports.get('pretending'), 'the new item should be {');
  t.match(reports.get('pretending'), 'the hours of the menu should be {');
  t.match(reports.get('pretending'), 'the modifiers should be [');
  t.match(reports.get('pretending'), 'the webhooks should be [');
  t.notMatch(reports.get('pretending'), 'the transcript should be');
  t.match(stdout, /\n2 passed, 10 failed\n$/);
  t.equal(ended, 1);
});

t.test('chosen clients run alone, and what their tools print is shown on demand', async (t) => {
  const { stdout, ended } = await run(t, 'old', '--verbose');
  t.match(stdout, /old {2}\| this generator is deprecated\n/);
  t.match(stdout, /old {2}\| toggled item \d+ available (true|false) version 3 replayed same\n/);
  t.match(stdout, /\n1 passed, 0 failed\n$/);
  t.equal(ended, 0);
});

t.test('what is missing on the machine is told in one line, before anything is started', async (t) => {
  clients['needy'] = { changes: `needs: { 'no-such-tool --version': 'the tool (apt-get install tool)' }` };
  t.match(await run(t, 'needy', 'good'), {
    stdout: '',
    stderr: /^sdk: install the tool \(apt-get install tool\); or run: make sdk CLIENTS="good"\n$/,
    ended: 1,
  });
  t.match(await run(t, 'needy'), { stderr: /^sdk: install the tool \(apt-get install tool\)\n$/, ended: 1 });
});

t.test(
  'when no client is chosen, those whose tools are missing are skipped and named, but not in CI',
  async (t) => {
    clients['needy'] = { changes: `needs: { 'no-such-tool --version': 'the tool (apt-get install tool)' }` };
    for (const name of Object.keys(clients)) if (!['good', 'needy'].includes(name)) delete clients[name];
    const { stdout, ended } = await run(t);
    t.match(stdout, /\nskipped needy: install the tool \(apt-get install tool\)\n\n1 passed, 0 failed\n$/);
    t.equal(ended, 0);
    t.match(await run(t, '--ci'), { stdout: '', stderr: /^sdk: install the tool/, ended: 1 });
  },
);

t.test('a wrong command line is answered in one line', async (t) => {
  const refused = (await run(t, 'pearl')).stderr;
  t.match(refused, /^sdk: there is no client pearl; there are good, .*\n$/);
  t.match((await run(t, '--fast')).stderr, /^sdk: Unknown option '--fast'; see --help\n$/);
  t.match(await run(t, '--help'), { stdout: /^usage: make sdk/, ended: 0 });
});

/** Runs scripts/sdk/main.ts with the clients above, in a directory of its own. */
async function run(t: Test, ...args: string[]): Promise<Outcome> {
  const changes = Object.entries(clients).map(([name, { changes }]) => [name, changes]);
  return runClients(t, await clientsIn(t, Object.fromEntries(changes)), ...args);
}
