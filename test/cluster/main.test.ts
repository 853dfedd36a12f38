import t from 'tap';

import { fetchToken, launch } from '../../scripts/launch.ts';
import { eventually } from '../support/eventually.ts';
import { running, runToEnd } from '../support/process.ts';
import { notInstalled } from '../support/proxies.ts';
import { noRedis } from '../support/redis.ts';

t.setTimeout(240_000);

const command = [process.execPath, 'test/cluster/main.ts'];

t.test(
  'make cluster serves through haproxy, replaces what dies and ends whole',
  {
    skip: notInstalled('haproxy') || noRedis,
  },
  async (t) => {
    const cluster = launch(command, {});
    t.teardown(() => cluster.stop('SIGTERM'));
    const printed = await eventually('it is ready', async () => {
      const { stdout, stderr } = cluster.printed;
      if (stderr) throw new Error(stderr);
      return stdout.includes('Ctrl-C') && stdout;
    });
    const pids = [...printed.matchAll(/pid (\d+)$/gm)].map(([, pid]) => Number(pid));
    t.equal(pids.length, 7, 'haproxy, Redis, three that serve, two that send');
    const address = /^haproxy +(\S+)/m.exec(printed)?.[1] ?? '';
    const [, client_id = '', client_secret = ''] = /-u ([\w-]+):([\w-]+)/.exec(printed) ?? [];
    const authorization = `Bearer ${await fetchToken(address, { client_id, client_secret })}`;
    const [toggle = ''] = /http\S+\/toggle$/m.exec(printed) ?? [];
    t.equal((await fetch(toggle, { method: 'POST', headers: { authorization } })).status, 200);

    process.kill(Number(/^api-1 .* pid (\d+)$/m.exec(printed)?.[1]), 'SIGKILL');
    const again = await eventually(
      'it is started again',
      async () => /^api-1 has ended\napi-1 .* pid (\d+)$/m.exec(cluster.printed.stdout)?.[1],
    );
    const { ended, stderr } = await cluster.stop('SIGINT', 'group');
    t.equal(ended, 0);
    t.equal(stderr, '');
    t.same(running([...pids, Number(again)]), [], 'nothing is left');
  },
);

t.test('make cluster says in one line what is missing, and lists its options', async (t) => {
  const { stderr, ended } = await runToEnd(t, { PATH: '/nowhere' }, command);
  t.equal(stderr, 'cluster: haproxy and redis-server missing: apt install haproxy redis-server\n');
  t.equal(ended, 1);
  t.match((await runToEnd(t, {}, [...command, '--help'])).stdout, /^usage: make cluster/);
});
