import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { launchService, type Outcome, type Service } from '../../../scripts/launch.ts';
import { freePort } from '../../support/process.ts';

/** One process of the service, at an address that stays the same however often it is started. */
export class ServiceProcess {
  readonly name: string;
  readonly address: string;
  readonly env: Record<string, string>;
  readonly #logs: string;
  #running: Service | undefined;
  #starts = 0;

  private constructor(name: string, port: number, env: Record<string, string>, logs: string) {
    this.name = name;
    this.address = `http://127.0.0.1:${port}`;
    this.env = { ...env, PORT: String(port) };
    this.#logs = logs;
  }

  /** @param logs a directory, in which each start writes its own file */
  static async create(name: string, env: Record<string, string>, logs: string): Promise<ServiceProcess> {
    return new ServiceProcess(name, await freePort(), env, logs);
  }

  get pid(): number {
    if (!this.#running) throw new Error(`${this.name} does not run`);
    return this.#running.pid;
  }

  /**
   * @param env settings that differ this time
   * @param place where another build of the service is
   * @returns seconds from the launch until it was ready, without the time in which it waited for a busy CPU
   * @throws what it printed, when it ends before
   */
  async start(env: Record<string, string> = {}, place: { directory?: string } = {}): Promise<number> {
    this.#starts += 1;
    const log = join(this.#logs, `${this.name}-${this.#starts}.log`);
    const launched = performance.now();
    this.#running = launchService({ ...this.env, ...env }, { ...place, log });
    await this.#running.ready;
    return (performance.now() - launched - waitedForProcessor(this.pid)) / 1000;
  }

  signal(signal: NodeJS.Signals): void {
    process.kill(this.pid, signal);
  }

  /** Ends it and waits for the end. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Outcome> {
    const running = this.#running;
    if (!running) throw new Error(`${this.name} does not run`);
    const outcome = await running.stop(signal);
    this.#running = undefined;
    return outcome;
  }

  /** Whether it ends on its own within this time. */
  async ends(withinMs: number): Promise<boolean> {
    const ended = this.#running?.outcome.then(() => true);
    const patience = new AbortController();
    const late = pause(withinMs, false, { signal: patience.signal }).catch(() => false);
    return Promise.race([ended ?? true, late]).finally(() => patience.abort());
  }

  /** Ends it whatever its state. */
  async clear(): Promise<void> {
    await this.#running?.stop('SIGKILL');
    this.#running = undefined;
  }

  /** Whether it says that it is ready. */
  async isReady(): Promise<boolean> {
    try {
      const response = await fetch(`${this.address}/health/ready`, { signal: AbortSignal.timeout(2_000) });
      await response.body?.cancel();
      return response.status === 200;
    } catch {
      return false;
    }
  }
}

/** Milliseconds in which the first thread of a process was ready to run but others ran; 0 where unknown. */
function waitedForProcessor(pid: number): number {
  try {
    const [, nanoseconds] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
    return Number(nanoseconds) / 1e6;
  } catch {
    return 0;
  }
}
