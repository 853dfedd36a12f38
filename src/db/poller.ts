import type { FastifyBaseLogger } from 'fastify';

export interface Poller {
  /** There may be work now: do not wait for the next poll. */
  nudge(): void;
  /** Resolves when the current round has ended and no other will begin. */
  stop(): Promise<void>;
}

/**
 * Runs `work` without pause while it reports more to do, otherwise every `idleMs` or when nudged. A round that fails is
 * logged and tried again after a second, regardless of nudges.
 */
export function startPoller(
  name: string,
  work: () => Promise<boolean>,
  { idleMs, log }: { idleMs: number; log: FastifyBaseLogger },
): Poller {
  let stopping = false;
  let nudged = false;
  let failed = false;
  let wake: () => void = () => {};

  const rest = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        if (failed && !stopping) return;
        clearTimeout(timer);
        resolve();
      };
      if (stopping || nudged) wake();
    });

  const run = async () => {
    while (!stopping) {
      nudged = false;
      failed = false;
      try {
        if (!(await work())) await rest(idleMs);
      } catch (error) {
        log.error({ err: error, poller: name }, 'round failed');
        failed = true;
        await rest(1_000);
      }
    }
  };
  const done = run();

  return {
    nudge() {
      nudged = true;
      wake();
    },
    async stop() {
      stopping = true;
      wake();
      await done;
    },
  };
}
