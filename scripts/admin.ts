/** The operator's commands. Each works on the database of the running service, and prints JSON. */
import { parseArgs } from 'node:util';
import { allScopes } from '../src/http/scopes.ts';
import { cellCommands, cellHelp } from './admin/cells.ts';
import { clientCommands, clientHelp } from './admin/clients.ts';
import { type Command, type Options, say, UsageError } from './admin/command.ts';
import { databaseCommands, databaseHelp } from './admin/database.ts';
import { keyCommands, keyHelp } from './admin/keys.ts';
import { webhookCommands, webhookHelp } from './admin/webhooks.ts';

const help = `usage: npm run --silent admin -- COMMAND

${clientHelp}
${webhookHelp}
${keyHelp}
${databaseHelp}
${cellHelp}

Scopes: ${allScopes.join(', ')} (default: all). Without --locations, a client can access every location.
DATABASE_URL, ENCRYPTION_KEY and DATA_DIR mean the same as for the service. Each command prints one line of JSON.
Exit status: 0 done, 1 refused or failed, 2 invalid command line.`;

const commands = {
  ...clientCommands,
  ...webhookCommands,
  ...keyCommands,
  ...databaseCommands,
  ...cellCommands,
};

try {
  await main();
} catch (error) {
  say((error as Error).message);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}

async function main(): Promise<void> {
  const { values, positionals } = readArguments();
  const { help: wantsHelp, ...options } = values;
  const [name, ...rest] = positionals;
  if (wantsHelp || name === 'help') {
    console.log(help);
    return;
  }
  const work = requireCommand(name, options, rest).prepare(options, rest[0] ?? '');
  // All that works on a database is imported late: help, and what is wrong with a command line, come at once.
  const { run } = await import('./admin/run.ts');
  console.log(JSON.stringify(await run(work, { migrates: name !== 'migrate' })));
}

function readArguments() {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  try {
    return parseArgs({
      options: {
        account: text,
        client: text,
        scopes: text,
        locations: text,
        overlap: text,
        revoke: flag,
        cell: text,
        back: flag,
        help: { ...flag, short: 'h' },
      },
      allowPositionals: true,
    });
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split('. ', 1)[0]}; see --help`);
  }
}

function requireCommand(name: string | undefined, options: Options, rest: string[]): Command {
  const command = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) {
    throw new UsageError(name ? `there is no command ${name}; see --help` : 'name a command; see --help');
  }
  const stray = Object.keys(options).find((option) => !command.options.includes(option as keyof Options));
  if (stray) throw new UsageError(`${name} takes no --${stray}; see --help`);
  if (command.argument && !rest[0])
    throw new UsageError(`${name} needs a ${command.argument}; see list-clients`);
  const extra = rest[command.argument ? 1 : 0];
  if (extra !== undefined) throw new UsageError(`${name} takes no argument "${extra}"; see --help`);
  return command;
}
