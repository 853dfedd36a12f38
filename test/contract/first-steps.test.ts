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
      const pasted = command.replaceAll('http://localhost:3000', service.url).replace('curl', 'curl -sS');
      const { stdout } = await promisify(execFile)('bash', ['-c', pasted], { env });
      responses.push(JSON.parse(stdout));
    }
  }
  t.match(responses, [
    { token_type: 'Bearer' },
    { data: [{ menu_id: 6 }, { menu_id: 7 }] },
    { data: { menu_id: 7 } },
    { data: { item_id: 42, is_available: false } },
    { data: { event_types: ['item.*'], secret: /^whsec_/ } },
  ]);
  t.equal(responses.length, 5);
});
