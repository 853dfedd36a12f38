import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import type { Test } from 'tap';
import { launchService } from '../../scripts/launch.ts';
import { encryptionKey } from '../support/service.ts';

export interface WorkerSettings {
  connection: pg.PoolConfig;
  encryptionKey: string;
  leaseMs: number;
  /** Claims, says so with a message, and goes no further. */
  neverSend: boolean;
  /** How far the clock of the process is off. */
  clockOffsetMs: number;
}

const logLevel = process.env['TEST_LOG'] ?? 'silent';

/** A process that is gone when the test ends. */
export interface Process {
  child: ChildProcess;
  /** kill -9; resolves when the process is gone. */
  kill(): Promise<void>;
}

/** Starts the worker role as a process of its own; resolves when it works. */
export async function startWorkerProcess(
  t: Test,
  connection: pg.PoolConfig,
  settings: Partial<WorkerSettings> = {},
): Promise<Process> {
  const all: WorkerSettings = {
    connection,
    encryptionKey: encryptionKey.toString('base64'),
    leaseMs: 1_000,
    neverSend: false,
    clockOffsetMs: 0,
    ...settings,
  };
  const process = spawn(t, './worker.ts', { WORKER_SETTINGS: JSON.stringify(all) });
  await said(process.child, 'started');
  return process;
}

/** Starts the service as its users do. */
export function startServiceProcess(
  t: Test,
  { user, host, database }: pg.PoolConfig,
  env: Record<string, string>,
): Pick<Process, 'kill'> & { address(): Promise<string> } {
  const service = launchService({
    DATABASE_URL: `postgres://${user}@${encodeURIComponent(host ?? '')}/${database}`,
    ENCRYPTION_KEY: encryptionKey.toString('base64'),
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    LOG_LEVEL: logLevel,
    ...env,
  });
  const kill = async () => {
    await service.stop('SIGKILL');
  };
  t.teardown(kill);
  return { kill, address: async () => (await service.ready).address };
}

/** Waits for this message of a process. */
export async function said(child: ChildProcess, message: unknown): Promise<void> {
  for (;;) {
    const [received] = await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(([code]) => Promise.reject(new Error(`the process ended with ${code}`))),
    ]);
    if (received === message) return;
  }
}

function spawn(t: Test, file: string, env: Record<string, string>): Process {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  t.teardown(kill);
  return { child, kill };
}
