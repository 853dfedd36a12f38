import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Test } from 'tap';
import { freePort } from './process.ts';

/** Why the tests with Redis are skipped; in CI they never are. */
export const noRedis =
  spawnSync('redis-server', ['--version']).error && !process.env['CI']
    ? 'redis-server is not installed here'
    : false;

/** A Redis on loopback, at an address that stays the same however often it is started. */
export interface RunningRedis {
  url: string;
  server: ChildProcess;
  /** Starts it again, empty, after it has been killed. */
  restart(): Promise<void>;
}

/** Stopped when `t` ends. */
export async function startRedis(t: Pick<Test, 'teardown'>): Promise<RunningRedis> {
  const port = await freePort();
  const redis: RunningRedis = {
    url: `redis://127.0.0.1:${port}`,
    server: await serve(port),
    async restart() {
      redis.server = await serve(port);
    },
  };
  t.teardown(async () => {
    const { server } = redis;
    if (server.exitCode !== null || server.signalCode !== null) return;
    server.kill('SIGKILL');
    await once(server, 'exit');
  });
  return redis;
}

async function serve(port: number): Promise<ChildProcess> {
  const server = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', ''], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface(server.stdout)) if (line.includes('Ready to accept')) break;
  return server;
}
