import t, { type Test } from 'tap';
import { readConfig } from '../../src/process/config.ts';
import { greet } from '../../src/process/greeting.ts';

const config = readConfig({ DATA_DIR: '/data' });
const demo = { client_id: 'client_1', client_secret: 'mss_1', menu_id: 1, item_id: 2 };

t.test('a person at a terminal is greeted in words only', (t) => {
  const [words, ...more] = greeted(t, { isTTY: true }, demo);
  t.match(words, 'Menu Management Service is ready at http://localhost:3000\n');
  t.match(words, 'mss_1');
  t.same(more, []);
  t.end();
});

t.test('elsewhere the last line is JSON, like those of the log', (t) => {
  const [words, line = '', ...more] = greeted(t, { isTTY: false }, demo);
  t.match(words, 'Menu Management Service is ready at http://localhost:3000\n');
  t.same(more, []);
  const { time, ...ready } = JSON.parse(line);
  t.ok(Math.abs(Date.now() - time) < 60_000);
  t.same(ready, {
    level: 30,
    service: 'menu-management-service',
    msg: 'ready',
    role: 'all',
    address: 'http://localhost:3000',
    pid: process.pid,
    demo_client: '/data/demo-client.json',
  });
  const [, withoutDemo = ''] = greeted(t, { isTTY: false }, undefined);
  t.equal(JSON.parse(withoutDemo).demo_client, undefined);
  t.end();
});

/** What is printed, call by call. */
function greeted(t: Test, stdout: { isTTY: boolean }, client: typeof demo | undefined): string[] {
  const { isTTY } = process.stdout;
  const printed = t.capture(console, 'log');
  process.stdout.isTTY = stdout.isTTY;
  try {
    greet(config, 'http://[::]:3000', client);
  } finally {
    process.stdout.isTTY = isTTY;
    printed.restore();
  }
  return printed().map(({ args }) => args.join(' '));
}
