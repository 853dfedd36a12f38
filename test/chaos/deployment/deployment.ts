import type pg from 'pg';
import type { TcpProxy } from '../../support/proxy.ts';
import type { Callee } from '../session.ts';
import type { ServiceProcess } from './service-process.ts';

/** What is put to the test: processes of the service, their database, and the ways between. */
export interface Deployment {
  services: readonly ServiceProcess[];
  /** The address of a proxy in front of the processes, if clients do not call each of them. */
  callees?: readonly Callee[];
  /** Environment for scripts/admin.ts. */
  env: Record<string, string>;
  /** Before the receivers. */
  receiverProxy: TcpProxy;
  /** The harness's own way to the database. */
  connection(): pg.PoolConfig;
  /** Removes all of it, whatever its state. */
  stop(): Promise<void>;
}

/** What a deployment needs of the round that it is made for. */
export interface Surroundings {
  /** A directory that Postgres can reach; the caller removes it. */
  scratch: string;
  /** A directory for what the processes print. */
  logs: string;
  /** Where the receivers listen. */
  receiverPort: number;
  /** Added to the environment of every process of the service. */
  env: Record<string, string>;
}

/** What every process of the service is told. */
export const commonEnv = {
  LOG_LEVEL: 'warn',
  RATE_LIMIT_PER_MINUTE: '1000000000',
  WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
} as const;

/** Collects what to undo, last first. */
export class Undoing {
  readonly #steps: (() => unknown)[] = [];

  teardown(step: () => unknown): void {
    this.#steps.push(step);
  }

  /** Undoes all it can. @throws the first error afterwards */
  async run(): Promise<void> {
    const errors: unknown[] = [];
    for (let step = this.#steps.pop(); step; step = this.#steps.pop()) {
      try {
        await step();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}
