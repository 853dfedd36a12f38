import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';
import document from '../../generated/openapi.json' with { type: 'json' };
import { startExampleWorld } from './example-world.ts';

t.test('the commands of the first steps work as they are pasted', async (t) => {
  const { service } = await startExampleWorld(t);
  const { client_id, client_secret } = service.api.credentials;
  const env = {
    ...process.env,
    API: `${service.url}/api/v1`,
    CLIENT_ID: client_id,
    CLIENT_SECRET: client_secret,
    ACCESS_TOKEN: await service.api.token(),
  };
  const descriptions = Object.values<Record<string, { description: string }>>(document.paths)
    .flatMap((operations) => Object.values(operations))
    .map(({ description }) => description);
  const blocks = descriptions.flatMap((description) =>
    [...description.matchAll(/```sh\n(.*?)```/gs)].map(([, text = '']) => text),
  );
  const responses: Record<string, Record<string, unknown>>[] = [];
  for (const block of blocks) {
    for (const command of block.split(/\n(?= *curl)/)) {
      const pasted = command.replace('curl', 'curl -sS');
      const { stdout } = await promisify(execFile)('bash', ['-c', pasted], { env });
      responses.push(JSON.parse(stdout));
    }
  }
  t.match(responses, [
    { token_type: 'Bearer' },
    { data: [{ menu_id: 6 }, { menu_id: 7 }] },
    { data: { menu_id: 7 } },
    { data: { item_id: 42, is_available: false } },
    { data: { item_id: 42, total_price: 12, reasons: [{ code: 'item_off' }], problems: [] } },
    { data: { event_types: ['item.*'], secret: /^whsec_/ } },
  ]);
  t.equal(responses.length, 6);
});

t.test('the document names no host that the service might not run on', (t) => {
  t.notMatch(JSON.stringify(document), /localhost|127\.0\.0\.1/);
  t.strictSame(
    document.servers.map(({ url }) => url),
    ['/api/v1'],
  );
  t.end();
});
