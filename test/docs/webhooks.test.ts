import t from 'tap';
import { startExampleWorld } from '../contract/example-world.ts';
import { listAllEvents } from '../support/events.ts';
import { freePort, root } from '../support/process.ts';
import { blocksRunBy } from './blocks.ts';
import { commandsOf, noTerminal, openTerminal, startProgram, withSecretsOf } from './terminal.ts';

t.test('the commands of docs/webhooks.md work as they are pasted', { skip: noTerminal }, async (t) => {
  const { url, api, database } = (await startExampleWorld(t)).service;
  const port = await freePort();
  let printed = '';
  const place = {
    directory: root,
    env: { CLIENT_ID: api.credentials.client_id, CLIENT_SECRET: api.credentials.client_secret },
    adapt: (text: string) =>
      withSecretsOf(printed, text).replaceAll('http://localhost:3000', url).replaceAll('4000', String(port)),
  };
  const terminal = openTerminal(t, place);
  const responses: unknown[] = [];
  for (const command of blocksRunBy(import.meta.url).flatMap(commandsOf)) {
    if (command.line.startsWith('npm run ')) {
      await startProgram(t, command, place).prints(command.shown);
    } else {
      if (command.line.includes('/events')) await listAllEvents(database);
      printed = (await terminal.type(command)) || printed;
      if (command.line.startsWith('curl ')) responses.push(JSON.parse(printed));
    }
  }
  t.match(responses, [
    { data: { event_types: ['item.*', 'menu.toggled'], secret: /^whsec_/ } },
    { data: [] },
    { data: { delivery_id: 9001, webhook_id: 5, attempts: [{ status: null }, { status: 500 }] } },
    { data: { delivery_id: 9001, state: 'pending' } },
    { data: { webhook_id: 5, queued: 0 } },
    { data: [{ type: /^item\./ }] },
    { data: { url: `http://127.0.0.1:${port}/`, secret: /^whsec_/ } },
    { data: { delivered: true, status: 204 } },
  ]);
  t.equal(responses.length, 8);
});
