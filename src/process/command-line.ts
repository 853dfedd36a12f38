import { parseArgs } from 'node:util';

const help = `usage: npm start
       node src/main.ts

Runs the Menu Management Service until Ctrl-C or SIGTERM. It takes its settings from the environment:

  ROLE          api: serves the HTTP API; worker: sends webhooks and does the other background jobs; all: both (default)
  WORKERS       number of processes that share the port (1)
  HOST, PORT    where it listens (127.0.0.1, 3000)
  DATABASE_URL  the PostgreSQL to use; if unset, the service runs its own and loads a demo account
  DATA_DIR      where that PostgreSQL and its keys are kept

docs/operations.md, "Configuration", lists all of them. npm run admin -- --help shows the operator's commands.
Exit status: 0 stopped by a signal, 1 failed, 2 invalid command line.`;

/** A command line that makes no sense; its message is one line. */
export class UsageError extends Error {}

/**
 * Reads the arguments of the service, which has none but --help.
 * @param args without the program and its file
 * @returns help when it is asked for
 * @throws UsageError for any other argument
 */
export function readCommandLine(args: string[]): string | undefined {
  try {
    const { values } = parseArgs({ args, options: { help: { type: 'boolean', short: 'h' } } });
    return values.help ? help : undefined;
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split('. ', 1)[0]}; see --help`);
  }
}
