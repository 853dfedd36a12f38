/*
 * Does what the README tells a newcomer to do, on the embedded server: start, walk through, start again with webhooks
 * allowed, listen. The ports are free ones and the secrets are this run's; everything else is typed as it is shown.
 */
import t from 'tap';
import { dataDirectory, freePort, postgresOf, root } from '../support/process.ts';
import { blocksRunBy } from './blocks.ts';
import { commandsOf, noTerminal, openTerminal, startProgram, withSecretsOf } from './terminal.ts';

t.setTimeout(120_000);

t.test('the README works as it is pasted', { skip: noTerminal }, async (t) => {
  const [start, walk, again, register, listen] = blocksRunBy(import.meta.url).map(commandsOf);
  const [makeStart, makeTest, ...more] = start ?? [];
  const [getToken, readMenu, toggle] = walk ?? [];
  if (!makeStart || !getToken || !readMenu || !toggle || !again?.[0] || !register?.[0] || !listen?.[0])
    throw new Error('the README lacks a command');
  t.match(makeTest?.line, /^make test\b/, 'what runs this test');
  t.same(more, [], 'two commands');

  const [port, receiver] = [await freePort(), await freePort()];
  const DATA_DIR = dataDirectory(t);
  let printed = '';
  const place = {
    directory: root,
    env: { PORT: String(port), DATA_DIR, LOG_LEVEL: 'warn' },
    adapt: (text: string) =>
      withSecretsOf(printed, text).replaceAll(':3000', `:${port}`).replaceAll('4000', String(receiver)),
  };
  const terminal = openTerminal(t, place);

  const service = startProgram(t, makeStart, place);
  await service.prints(`…${toggle.line}`);
  printed = service.printed();
  for (const command of [getToken, readMenu, toggle]) {
    t.ok(printed.includes(`${place.adapt(command.line)}\n`), `make start prints ${command.line}`);
    await terminal.type(command);
  }
  await service.stop();
  t.same(postgresOf(DATA_DIR), []);

  const permissive = startProgram(t, again[0], place);
  await permissive.prints(`…${toggle.line}`);
  printed = await terminal.type(register[0]);
  const [greeting = ''] = listen[0].shown.split('\n');
  const listener = startProgram(t, listen[0], place);
  await listener.prints(greeting);
  await terminal.type({ ...toggle, shown: '{"data":{"item_id":1,…"version":3}}' });
  await listener.prints(listen[0].shown);
  await listener.stop();
  await permissive.stop();
  t.same(postgresOf(DATA_DIR), []);
});
