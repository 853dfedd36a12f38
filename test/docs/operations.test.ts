import t from 'tap';
import { databaseEnvironment, freePort, root } from '../support/process.ts';
import { blocksRunBy } from './blocks.ts';
import { commandsOf, noTerminal, openTerminal, startProgram, withSecretsOf } from './terminal.ts';

t.setTimeout(120_000);

t.test('the commands of docs/operations.md work as they are pasted', { skip: noTerminal }, async (t) => {
  const [api, worker] = [await freePort(), await freePort()];
  let printed = '';
  const place = {
    directory: root,
    env: { ...(await databaseEnvironment(t)), LOG_LEVEL: 'warn' },
    adapt: (text: string) =>
      withSecretsOf(printed, text).replaceAll(/\b300[01]\b/g, (port) =>
        String(port === '3000' ? api : worker),
      ),
  };
  const terminal = openTerminal(t, place);
  const programs = [];
  for (const command of blocksRunBy(import.meta.url).flatMap(commandsOf)) {
    if (command.line.endsWith('npm start')) {
      const program = startProgram(t, command, place);
      await program.prints('… is ready');
      programs.push(program);
    } else {
      printed = await terminal.type(command);
      if (command.line.endsWith('migrate')) t.same(JSON.parse(printed), { applied: [] });
    }
  }
  t.equal((await fetch(`http://127.0.0.1:${worker}/health/ready`)).status, 200, 'the worker too');
  t.equal(programs.length, 2);
  for (const program of programs) await program.stop();
});
