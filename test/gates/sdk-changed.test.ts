import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { digestOf, readRecord } from '../../scripts/sdk/rig/record.ts';
import { root } from '../support/process.ts';
import { client } from './sdk/client.ts';
import { clientsIn, runClients } from './sdk/run.ts';

t.test('the record names none but the clients that there are', async (t) => {
  const clients = join(root, 'scripts/sdk');
  for (const [name, digest] of Object.entries(readRecord(clients))) {
    t.ok(existsSync(join(clients, name, 'client.ts')), name);
    t.match(digest, /^[0-9a-f]{64}$/, name);
  }
});

t.test('what has passed as it is can be left out, until its document or its folder changes', async (t) => {
  const folder = await clientsIn(t, {
    quick: 'quick: true',
    slow: `edition: '3.0'`,
    broken: `run: [process.execPath, '-e', '']`,
  });
  t.match((await runClients(t, folder)).stdout, /\n2 passed, 1 failed\n$/, 'at first all run');
  const record = readRecord(folder.clients);
  t.strictSame(Object.keys(record), ['quick', 'slow'], 'what fails is not recorded');

  const again = (await runClients(t, folder, '--changed')).stdout;
  t.match(again, /\nunchanged since they passed: slow\n/);
  t.match(again, /quick +passed/, 'a quick one runs each time');
  t.match(again, /\n1 passed, 1 failed\n$/, 'and one that failed');

  const documents = join(folder.directory, 'documents');
  await mkdir(documents);
  for (const edition of ['openapi.json', 'openapi-3.0.json']) {
    const text = await readFile(join(root, 'generated', edition), 'utf8');
    await writeFile(join(documents, edition), text.replace('"maxLength"', '"minLength"'));
  }
  const changed = await runClients(t, folder, '--changed', '--documents', documents);
  t.match(changed.stdout, /\n2 passed, 1 failed\n$/, 'all run on a changed document');
  t.strictSame(readRecord(folder.clients), record, 'of which nothing is recorded');

  const slow = { ...client, name: 'slow', edition: '3.0' as const };
  const digest = () => digestOf(slow, folder.clients, join(root, 'generated'));
  t.equal(digest(), record['slow']);
  await appendFile(join(folder.clients, 'slow/scenario.js'), '\n');
  t.not(digest(), record['slow'], 'a change of its folder is seen');
});
