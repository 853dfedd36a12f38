/**
 * Lets days pass for a Postgres, by libfaketime: what is kept for a time goes by its clock, so days of data come and go
 * within minutes, and nothing in the service knows of it.
 *
 * A handler of a signal that comes while Postgres waits is shown the real time (libfaketime takes its hands off for the
 * length of an epoll_wait). From the first day on its limits are therefore days away: `keepLimits` stands in for them.
 */
import { existsSync, globSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { removeEndedTokens } from '../../../src/accounts/revoke-token.ts';
import { type Database, openDatabase } from '../../../src/db/database.ts';
import { sessionLimits } from '../../../src/db/session.ts';
import { removeOldKeys } from '../../../src/http/idempotency.ts';
import { sweep } from '../../support/partitions.ts';
import type { Cluster } from '../deployment/cluster.ts';
import { persistently } from './persistently.ts';

/** Events, deliveries and attempts are kept that long. */
export const retentionDays = 2;

const rereadSeconds = 1;

export class Calendar {
  /** For Postgres. */
  readonly env: Record<string, string>;
  readonly #file: string;
  #days = 0;

  /** @throws where libfaketime is not installed */
  constructor(directory: string) {
    const [library] = [
      process.env['LIBFAKETIME'] ?? '',
      ...globSync('/usr/lib/*/faketime/libfaketime.so.1'),
    ].filter(existsSync);
    if (!library)
      throw new Error('the soak needs libfaketime: apt install libfaketime, or LIBFAKETIME=/path');
    this.#file = join(directory, 'calendar');
    this.#write();
    this.env = {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_CACHE_DURATION: String(rereadSeconds),
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DISABLE_SHM: '1',
    };
  }

  /** How many have passed. */
  get days(): number {
    return this.#days;
  }

  /** The next day begins; what is then past its time is removed, as the service does every ten minutes. */
  async passDay(cluster: Cluster): Promise<void> {
    this.#days += 1;
    this.#write();
    await pause(2_000 * rereadSeconds);
    await persistently('what is past its time is removed', async () => {
      const database = openDatabase(cluster.connection(), { max: 1 });
      try {
        await removeWhatIsOld(database);
      } finally {
        await database.destroy();
      }
    });
  }

  /** At once, as Postgres may read it at any time. */
  #write(): void {
    const next = `${this.#file}.next`;
    writeFileSync(next, `+${this.#days}d\n`, { mode: 0o644 });
    renameSync(next, this.#file);
  }
}

/** Ends what has waited for a lock longer than the service's sessions allow, until it is told to stop. */
export function keepLimits(cluster: Cluster): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const keeping = (async () => {
    while (!stopping.signal.aborted) {
      await cluster
        .query(`
          select pg_cancel_backend(pid) from pg_stat_activity
          where wait_event_type = 'Lock' and clock_timestamp() - query_start > '${sessionLimits.lock_timeout}ms'`)
        .catch(() => {});
      await pause(500, undefined, { signal: stopping.signal }).catch(() => {});
    }
  })();
  return {
    stop: () => {
      stopping.abort();
      return keeping;
    },
  };
}

/** The jobs of src/worker.ts that remove things, each until it has nothing left to do. */
async function removeWhatIsOld(database: Database): Promise<void> {
  await sweep(database, { days: retentionDays });
  while ((await removeOldKeys(database)) > 0);
  while ((await removeEndedTokens(database)) > 0);
}
