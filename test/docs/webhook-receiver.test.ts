import { spawn } from 'node:child_process';
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { demoItems } from '../support/items.ts';
import { freePort, root } from '../support/process.ts';
import { startTestService } from '../support/service.ts';
import { blocksRunBy } from './blocks.ts';

t.test('the receiver that docs/webhooks.md shows in TypeScript works as it stands', async (t) => {
  const { api } = await startTestService(t, { worker: {} });
  const port = await freePort();
  const { secret } = (await api.post('/webhooks', { url: `http://127.0.0.1:${port}/` })).body.data;
  const receiver = spawn(process.execPath, ['--input-type=module-typescript', '--eval', shownReceiver()], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PORT: String(port), WEBHOOK_SECRET: secret },
  });
  t.teardown(() => receiver.kill());
  let printed = '';
  receiver.stdout.setEncoding('utf8').on('data', (text) => {
    printed += text;
  });
  const post = () =>
    fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' }).catch(() => undefined);
  const unsigned = await eventually('it listens', post);
  t.equal(unsigned.status, 401);

  const [item] = await demoItems(api);
  await api.post(`${item.path}/toggle`);
  await eventually('it prints the event', async () => /^evt_[0-9a-f]{32} item\.toggled$/m.test(printed));
});

function shownReceiver(): string {
  const [code] = blocksRunBy(import.meta.url).filter(({ kind }) => kind === 'ts');
  if (!code) throw new Error('docs/webhooks.md shows no receiver');
  return code.text;
}
