import { setTimeout as pause } from 'node:timers/promises';
import { operations } from '../../generated/operations.ts';
import { createClient } from '../../scripts/launch.ts';
import type { ManyDeployment } from '../chaos/deployment/many.ts';
import { Session } from '../chaos/session.ts';

const quota = operations.testWebhook.rateLimit;
if (!quota) throw new Error('testWebhook has no limit of its own');
const { limit, windowSeconds } = quota;

/** The share of one window. */
export const share = limit;

/**
 * A client that calls testWebhook, which has a limit of its own in the contract, as often as it can. Its calls lack a
 * body, which is looked at after they were counted: 422 is a call that the limit allows.
 */
export class Greedy {
  allowed = 0;
  refused = 0;
  #stopping = false;
  readonly #running: Promise<void>;
  readonly #since = performance.now();

  private constructor(session: Session) {
    this.#running = this.#call(session);
  }

  static async start({ env, callees = [] }: ManyDeployment): Promise<Greedy> {
    const credentials = await createClient(env, 'Greedy');
    const [haproxy] = callees;
    if (!haproxy) throw new Error('there is no proxy');
    return new Greedy(new Session(haproxy, credentials));
  }

  /** @returns how many calls the limit allows in the time since its start; a window begins with the first call. */
  async stop(): Promise<number> {
    this.#stopping = true;
    await this.#running;
    const windows = Math.ceil((performance.now() - this.#since) / 1000 / windowSeconds);
    return windows * limit;
  }

  async #call(session: Session): Promise<void> {
    while (!this.#stopping) {
      // A process may die with the request.
      const { status } = await session.call('POST', '/webhooks/1/test').catch(() => ({ status: 503 }));
      if (status === 422) this.allowed += 1;
      else if (status === 429) this.refused += 1;
      else if (status !== 503) throw new Error(`a call without a body returned ${status}`);
      await pause(30);
    }
  }
}
