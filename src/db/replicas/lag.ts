import type { Lsn } from './lsn.ts';

/** How long the primary's positions are remembered; a replica further behind is behind by at least that. */
const rememberedMs = 120_000;

/**
 * Measures how far a replica is behind in time, by a single clock: that of this process, which records the positions of
 * the primary. PostgreSQL's own measure, the time of the last replayed commit, grows while nobody writes.
 */
export class Lag {
  #seen: { position: Lsn; at: number }[] = [];

  /** @param at when the primary was asked, in ms of performance.now(). */
  note(position: Lsn, at: number): void {
    if (this.#seen.at(-1)?.position === position) return;
    this.#seen.push({ position, at });
    const kept = this.#seen.findIndex((one) => one.at > at - rememberedMs);
    this.#seen.splice(0, kept);
  }

  /** For how long the primary has been past a position, in ms; 0 when it is not known to be. */
  behindMs(replayed: Lsn, now: number): number {
    const missing = this.#seen.find(({ position }) => position > replayed);
    return missing ? now - missing.at : 0;
  }
}
