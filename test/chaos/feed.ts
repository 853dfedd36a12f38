import { setTimeout as pause } from 'node:timers/promises';
import { type Journal, notOfContract } from './journal.ts';
import type { ToldEvent } from './model.ts';
import type { Random } from './random.ts';
import { isOfNetwork, type Session } from './session.ts';

/** The whole feed of the account, from its first event on. @throws unless every page is given */
export async function readFeed(session: Session): Promise<ToldEvent[]> {
  const events: ToldEvent[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: { data: ToldEvent[]; next_cursor: string | null } = await session.bodyOf(
      'GET',
      `/events?limit=200${cursor && `&cursor=${cursor}`}`,
    );
    events.push(...page.data);
    cursor = page.next_cursor;
  }
  return events;
}

/** Follows the feed throughout, like an integrator who uses no webhooks. */
export class Follower {
  /** By id, in the order of first reading. */
  readonly events = new Map<string, ToldEvent>();
  readonly #ending = new AbortController();
  readonly #running: Promise<void>;
  #position = '';

  constructor(sessions: readonly Session[], random: Random, journal: Journal) {
    this.#running = this.#follow(sessions, random, journal);
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#running;
  }

  async #follow(sessions: readonly Session[], random: Random, { mishaps }: Journal): Promise<void> {
    while (!this.#ending.signal.aborted) {
      try {
        if (await this.#readPage(random.pick(sessions))) continue;
      } catch (error) {
        // That process is down; another may respond.
        if (!isOfNetwork(error as Error))
          mishaps.push(notOfContract(`the feed: ${(error as Error).message}`));
      }
      await pause(random.between(50, 200));
    }
  }

  /** @returns whether there is another page already */
  async #readPage(session: Session): Promise<boolean> {
    const { status, body } = await session.call('GET', `/events?limit=50${this.#position}`);
    if (status !== 200) return false;
    for (const event of body.data) if (!this.events.has(event.id)) this.events.set(event.id, event);
    const cursor = body.next_cursor ?? body.resume_cursor;
    const last = body.data.at(-1);
    if (cursor) this.#position = `&cursor=${cursor}`;
    else if (last) this.#position = `&after_event_id=${last.id}`;
    return body.next_cursor !== null;
  }
}
