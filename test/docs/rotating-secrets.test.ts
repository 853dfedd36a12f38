import t from 'tap';
import { createClient } from '../../src/accounts/client.ts';
import { openDatabase } from '../../src/db/database.ts';
import { allScopes } from '../../src/http/scopes.ts';
import { createApi } from '../support/api.ts';
import { environmentOf, root, startProcess } from '../support/process.ts';
import { cloneDatabase } from '../support/service.ts';
import { blocksRunBy } from './blocks.ts';
import { commandsOf, noTerminal, openTerminal } from './terminal.ts';

t.setTimeout(120_000);

t.test('secrets rotate by the commands that are shown', { skip: noTerminal }, async (t) => {
  const connection = await cloneDatabase(t);
  const env = environmentOf(connection);
  const database = openDatabase(connection, { max: 1 });
  t.teardown(() => database.destroy());
  const client = await createClient(database, { account: 'Demo', scopes: [...allScopes], locationIds: null });
  const terminal = openTerminal(t, {
    directory: root,
    env,
    adapt: (text) => text.replaceAll('client_…', client.client_id),
  });
  const type = (line: string) => terminal.type({ line, shown: '' });
  const start = async () => {
    const ENCRYPTION_KEY = (await type('printenv ENCRYPTION_KEY')).trim();
    const service = await startProcess(t, { ...env, ENCRYPTION_KEY });
    return { service, api: createApi(service.url, client), keys: ENCRYPTION_KEY.split(',') };
  };

  const first = await start();
  const token = await first.api.token();
  const created = await first.api.post('/webhooks', { url: 'https://hooks.example.com/in' });
  t.equal(created.status, 201);
  const secret = async () =>
    (await database.selectFrom('webhook_secret').select('sealed_secret').executeTakeFirstOrThrow())
      .sealed_secret;
  const sealed = await secret();

  let latest = first;
  for (const command of blocksRunBy(import.meta.url).flatMap(commandsOf)) {
    await terminal.type(command);
    if (!command.line.includes('export ENCRYPTION_KEY')) continue;
    const next = await start();
    t.equal((await next.api.get('/menus', { token })).status, 200, command.line);
    await latest.service.stop('SIGTERM');
    latest = next;
  }
  t.equal(latest.keys.length, 1);
  t.notSame(latest.keys, first.keys, 'the key is another one');
  t.notSame(await secret(), sealed, 'and what it encrypts');
  t.equal((await latest.api.get('/webhooks')).status, 200, 'the old client secret is within its overlap');
});
