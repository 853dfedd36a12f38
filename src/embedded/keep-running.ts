import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataDirectoryInUse, DataDirectoryLost, isRunning, type Running, stopServer } from './postmaster.ts';

export interface KeepOptions {
  report: (line: string) => void;
  /** How long a server that has ended is tried to start again, in ms. */
  patienceMs: number;
}

export interface Kept {
  /** Rejects when the server has ended and could not be started again in time. */
  lost: Promise<never>;
  /** Stops the server, or its start. */
  stop(): Promise<void>;
}

// A server that ran so long had nothing wrong with it.
const wellMs = 60_000;
const longestWaitMs = 5_000;

/** Starts a server again each time it has ended: at once after a time without trouble, else after ever longer waits. */
export function keepRunning(
  first: Running,
  start: (signal: AbortSignal) => Promise<Running>,
  { report, patienceMs }: KeepOptions,
): Kept {
  const stopping = new AbortController();
  const { signal } = stopping;
  let waitMs = 0;

  async function keep(): Promise<void> {
    for (let server = first; ; server = await startAgain()) {
      const startedAt = performance.now();
      await endOf(server, signal);
      if (signal.aborted) return stopServer(server);
      if (performance.now() - startedAt > wellMs) waitMs = 0;
      const { signalCode, exitCode } = server.child;
      report(`the embedded database ended with ${signalCode ?? `status ${exitCode}`}; starting it again`);
    }
  }

  async function startAgain(): Promise<Running> {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      await sleep(waitMs, undefined, { signal });
      waitMs = Math.min(Math.max(100, 2 * waitMs), longestWaitMs);
      try {
        return await start(signal);
      } catch (error) {
        const final = error instanceof DataDirectoryLost || error instanceof DataDirectoryInUse;
        if (final || signal.aborted || performance.now() > deadline) throw error;
      }
    }
  }

  const kept = keep().catch((error) => {
    if (!signal.aborted) throw error;
  });
  const lost = kept.then(() => new Promise<never>(() => {}));
  // Whoever does not wait for it learns of the end by its connections.
  lost.catch(() => {});
  return {
    lost,
    async stop() {
      stopping.abort();
      await kept.catch(() => {});
    },
  };
}

async function endOf({ child }: Running, signal: AbortSignal): Promise<void> {
  if (isRunning({ child })) await once(child, 'exit', { signal }).catch(() => {});
}
