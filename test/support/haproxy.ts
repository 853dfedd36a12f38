import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { blocksOf } from '../docs/blocks.ts';
import { eventually } from './eventually.ts';
import { freePort } from './process.ts';

/** The proxy that docs/operations.md configures, on loopback and without TLS. */
export interface RunningHaproxy {
  address: string;
  pid: number;
  /** Whether it sends requests to this server. */
  isUp(server: string): Promise<boolean>;
  /** Drains the server, as an operator does by hand: no new requests, and waits for those in progress. */
  takeOut(server: string): Promise<void>;
  /** Sends it requests again as soon as it is ready. */
  putBack(server: string): Promise<void>;
}

export interface HaproxyOptions {
  /** Addresses by name. */
  servers: Record<string, string>;
  /** How often it checks for changes, in place of the documented interval. */
  checkEveryMs?: number;
  port?: number;
}

/** Stopped when `t` ends. @throws what it printed, when it ends before it serves */
export async function startHaproxy(
  t: Pick<Test, 'teardown'>,
  { servers, checkEveryMs, port }: HaproxyOptions,
): Promise<RunningHaproxy> {
  const directory = mkdtempSync(join(tmpdir(), 'haproxy-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  chmodSync(directory, 0o755);
  const listenPort = port ?? (await freePort());
  const socket = join(directory, 'admin.sock');
  const file = join(directory, 'haproxy.cfg');
  writeFileSync(file, adapt(documented(), { servers, socket, listenPort, checkEveryMs }));
  const program = spawn('haproxy', ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  let printed = '';
  program.stderr.setEncoding('utf8').on('data', (text) => (printed += text));
  t.teardown(() => end(program));
  const command = (text: string) => askSocket(socket, text);
  const columnOf = async (server: string, name: string) => {
    const [head = '', ...rows] = (await command('show stat')).replace(/^# /, '').split('\n');
    const row = rows.map((line) => line.split(',')).find(([px, sv]) => px === 'menus' && sv === server);
    return row?.[head.split(',').indexOf(name)] ?? '';
  };
  const isUp = async (server: string) => (await columnOf(server, 'status')).startsWith('UP');
  await eventually('haproxy leads to a process', async () => {
    if (program.exitCode !== null) throw new Error(printed);
    const ups = await Promise.all(Object.keys(servers).map(isUp)).catch(() => []);
    return ups.some(Boolean);
  });
  return {
    address: `http://127.0.0.1:${listenPort}`,
    pid: program.pid as number,
    isUp,
    async takeOut(server) {
      await command(`set server menus/${server} state drain`);
      await eventually(`${server} is idle`, async () => (await columnOf(server, 'scur')) === '0');
    },
    async putBack(server) {
      await command(`set server menus/${server} state ready`);
    },
  };
}

function documented(): string {
  const block = blocksOf('docs/operations.md').find(({ kind }) => kind === 'haproxy');
  if (!block) throw new Error('docs/operations.md shows no configuration of haproxy');
  return block.text;
}

function adapt(
  text: string,
  own: {
    servers: Record<string, string>;
    socket: string;
    listenPort: number;
    checkEveryMs: number | undefined;
  },
): string {
  const lines = Object.entries(own.servers).map(
    ([name, address]) => `  server ${name} ${new URL(address).host}`,
  );
  const adapted = text
    .replace(/^global$/m, `global\n  stats socket ${own.socket} level admin`)
    .replace(/bind :443 .*/, `bind 127.0.0.1:${own.listenPort}`)
    .replace(/( {2}server .*\n?)+/, `${lines.join('\n')}\n`);
  if (own.checkEveryMs === undefined) return adapted;
  return adapted.replace('inter 2s fastinter 500ms', `inter ${own.checkEveryMs}ms`);
}

/** What haproxy tells on its admin socket. */
export async function askSocket(path: string, command: string): Promise<string> {
  const connection = connect(path);
  connection.setEncoding('utf8').end(`${command}\n`);
  let told = '';
  for await (const text of connection) told += text;
  return told;
}

async function end(program: ChildProcess): Promise<void> {
  if (program.exitCode !== null || program.signalCode !== null) return;
  program.kill('SIGTERM');
  await once(program, 'exit');
}
