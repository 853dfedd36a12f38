/** Servers of PostgreSQL as operators have them: made, started and stopped by its own programs. */
import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { Test } from 'tap';
import type { Block } from '../docs/blocks.ts';
import { commandsOf, openTerminal } from '../docs/terminal.ts';
import { eventually } from '../support/eventually.ts';
import { type PostgresTools, postgresTools } from '../support/postgres-tools.ts';
import { freePort, running } from '../support/process.ts';

/** A directory for servers and what documents call /var/backups; gone, servers and all, when the test ends. */
export interface Site {
  directory: string;
  tools: PostgresTools;
  /** A server with the empty database `menus`; it runs. */
  createServer(name: string): Promise<DatabaseServer>;
  /** A place for a server that is still to be made there. */
  prepareServer(name: string): Promise<DatabaseServer>;
}

export interface DatabaseServer {
  /** The directory of its data. */
  data: string;
  /** The socket of the server, for a client. */
  connection: { host: string; port: number; user: string; database: string };
  /** Types a block of a document into a shell on this server. `adapt` puts real names in place of those shown. */
  type(
    block: Block | undefined,
    env?: Record<string, string>,
    adapt?: (text: string) => string,
  ): Promise<void>;
  /** Runs one of PostgreSQL's programs. @returns what it printed. @throws what it complained of */
  run(program: string, ...args: string[]): string;
  query<Row>(text: string): Promise<Row[]>;
  /** Ends it as a crash does: nothing is written down or sent any more. */
  crash(): Promise<void>;
}

const socketDirectory = '/tmp';

export async function openSite(t: Test): Promise<Site> {
  const tools = await postgresTools();
  const directory = mkdtempSync(join(tmpdir(), 'servers-'));
  own(directory);
  mkdirSync(join(directory, 'backups'));
  own(join(directory, 'backups'));
  t.teardown(async () => {
    for (const name of readdirSync(directory)) await crash(join(directory, name));
    rmSync(directory, { recursive: true, force: true, maxRetries: 9 });
  });
  return {
    directory,
    tools,
    prepareServer: async (name) => serverAt(name, await freePort()),
    async createServer(name) {
      const server = serverAt(name, await freePort());
      const settings = { fsync: 'off', max_connections: '60', log_statement: 'none' };
      server.run(
        'initdb',
        ...['--pgdata', server.data, '--username', 'postgres', '--no-sync', '--encoding', 'UTF8'],
        ...['--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'],
        ...Object.entries(settings).flatMap(([name, value]) => ['--set', `${name}=${value}`]),
      );
      server.run('pg_ctl', 'start', '--log', `${server.data}.log`);
      server.run('createdb', 'menus');
      return server;
    },
  };

  function own(path: string) {
    const { uid, gid } = tools.account;
    if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
  }

  function serverAt(name: string, port: number): DatabaseServer {
    const data = join(directory, name);
    const connection = { host: socketDirectory, port, user: 'postgres', database: 'menus' };
    const shell = {
      PATH: `${tools.bin}:${process.env['PATH']}`,
      HOME: directory,
      LC_ALL: 'C',
      PGDATA: data,
      PGPORT: String(port),
      PGHOST: socketDirectory,
      PGUSER: connection.user,
    };
    return {
      data,
      connection,
      async type(block, env = {}, adapt = (text) => text) {
        if (!block) throw new Error('the document has no such block');
        const terminal = openTerminal(t, {
          directory,
          account: tools.account,
          env: { ...shell, ...env },
          adapt: (text) =>
            adapt(text)
              .replaceAll('/var/backups', join(directory, 'backups'))
              .replaceAll(/\/usr\/lib\/postgresql\/\d+\/bin/g, tools.bin),
        });
        for (const command of commandsOf(block)) await terminal.type(command);
      },
      run(program, ...args) {
        const { status, stdout, stderr } = spawnSync(join(tools.bin, program), args, {
          ...tools.account,
          cwd: directory,
          encoding: 'utf8',
          env: shell,
        });
        if (status !== 0) throw new Error(`${program}: ${stderr || stdout}`);
        return stdout;
      },
      async query<Row>(text: string) {
        const client = new pg.Client({ ...connection, ssl: false } as pg.ClientConfig);
        await client.connect();
        const { rows } = await client.query(text).finally(() => client.end());
        return rows as Row[];
      },
      crash: () => crash(data),
    };
  }
}

/** Ends a server, which writes nothing down any more, and waits until it is gone. */
async function crash(data: string): Promise<void> {
  const file = join(data, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, 'utf8').split('\n', 1)[0]);
  process.kill(pid, 'SIGQUIT');
  await eventually('the server is gone', async () => running([pid]).length === 0);
}
