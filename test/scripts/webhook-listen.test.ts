import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { newSecret } from '../../src/webhooks/delivery/signature.ts';
import { eventually } from '../support/eventually.ts';
import { demoItems } from '../support/items.ts';
import { freePort, root, runToEnd } from '../support/process.ts';
import { startTestService } from '../support/service.ts';

t.test('a delivery is verified and printed for people, and a repeat is reported', async (t) => {
  const { api } = await startTestService(t, { worker: {} });
  const port = await freePort();
  const made = await api.post('/webhooks', { url: `http://127.0.0.1:${port}/` });
  const { secret, webhook_id } = made.body.data;
  const listener = await listen(t, ['--port', String(port), '--secret', newSecret(), '--secret', secret]);
  const [item] = await demoItems(api);
  await api.post(`${item.path}/toggle`);
  await listener.printed(
    `item.toggled  item ${item.item_id} ${JSON.stringify(item.name)}, version ${item.version + 1}`,
  );
  await listener.printed('is_available: true -> false');
  await listener.printed(`location ${item.location_id}, menu ${item.menu_id}, at 20`);
  await listener.printed(/evt_[0-9a-f]{32}, signature valid\n +returned 204/);

  const delivery = await eventually('it is delivered', async () => {
    const { data } = (await api.get(`/webhooks/${webhook_id}/deliveries?state=delivered`)).body;
    return data[0];
  });
  await api.post(`/webhooks/${webhook_id}/deliveries/${delivery.delivery_id}/retry`);
  await listener.printed(`${delivery.event_id}, signature valid, seen 2 times`);
  const tested = await api.post(`/webhooks/${webhook_id}/test`, { type: 'location.deleted' });
  t.match(tested.body.data, { delivered: true, status: 204 });
  await listener.printed(/location\.deleted {2}location \d+ ".*", version \d+ {2}\(a test\)/);
});

t.test('with --status it plays a receiver that fails', async (t) => {
  const { api } = await startTestService(t, { worker: {} });
  const port = await freePort();
  const made = await api.post('/webhooks', { url: `http://127.0.0.1:${port}/` });
  const { secret, webhook_id } = made.body.data;
  const listener = await listen(t, ['--port', String(port), '--secret', secret, '--status', '503']);
  const [item] = await demoItems(api);
  await api.post(`${item.path}/toggle`);
  await listener.printed('returned 503');
  const failing = await eventually('the attempt is recorded', async () => {
    const [delivery] = (await api.get(`/webhooks/${webhook_id}/deliveries`)).body.data;
    return delivery?.last_attempt ? delivery : undefined;
  });
  t.match(failing, { state: 'pending', last_attempt: { status: 503 } });
});

t.test('a request signed with another secret, or not at all, is shown and gets 401', async (t) => {
  const { api } = await startTestService(t);
  const port = await freePort();
  const { webhook_id } = (await api.post('/webhooks', { url: `http://127.0.0.1:${port}/` })).body.data;
  const listener = await listen(t, ['--port', String(port), '--secret', newSecret()]);
  const tested = await api.post(`/webhooks/${webhook_id}/test`, { type: 'item.toggled' });
  t.match(tested.body.data, { delivered: false, status: 401 });
  await listener.printed('REFUSED  No matching signature found');
  const unsigned = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' });
  t.equal(unsigned.status, 401);
  const old = await fetch(`http://127.0.0.1:${port}/`, {
    method: 'POST',
    body: '{}',
    headers: {
      'webhook-id': randomUUID(),
      'webhook-timestamp': String(Math.floor(Date.now() / 1000) - 3_600),
      'webhook-signature': 'v1,AAAA',
    },
  });
  t.equal(old.status, 401);
  await listener.printed('REFUSED  Message timestamp too old');
});

t.test('--help says how to use it, and an invalid command line is refused in one line', async (t) => {
  const run = (...args: string[]) =>
    runToEnd(t, {}, [process.execPath, 'scripts/webhook-listen.ts', ...args]);
  t.match(await run('--help'), { ended: 0, stdout: /usage: npm run webhook-listen.*--secret/s, stderr: '' });
  const port = await freePort();
  const secret = newSecret();
  await listen(t, ['--port', String(port), '--secret', secret]);
  for (const [args, fault] of [
    [[], /--secret is missing/],
    [['--secret', 'nonsense'], /--secret must be whsec_/],
    [['--secret', secret, '--port', '70000'], /--port must be/],
    [['--secret', secret, '--status', '99'], /--status must be/],
    [['--secret', secret, '--colour', 'red'], /--colour/],
    [['--secret', secret, '--port', String(port)], /EADDRINUSE/],
  ] as [string[], RegExp][]) {
    const { ended, stdout, stderr } = await run(...args);
    t.equal(ended, 1);
    t.equal(stdout, '');
    t.match(stderr, fault);
    t.equal(stderr.trimEnd().split('\n').length, 1);
    t.notMatch(stderr, secret);
  }
});

/** Runs the script until the test ends, once it listens. */
async function listen(t: Test, args: string[]) {
  const script = spawn(process.execPath, ['scripts/webhook-listen.ts', ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'] },
  });
  t.teardown(() => script.kill());
  let text = '';
  script.stdout.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  const printed = (wanted: string | RegExp) =>
    eventually(`it prints ${wanted}, beside ${text}`, async () =>
      typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text),
    );
  await printed('stop it with Ctrl-C');
  return { printed };
}
