/** `away`: even a new connection gets no response. `stuck`: a new connection does, but the pool does not. */
export type DatabaseState = 'reached' | 'away' | 'stuck';

export interface DiagnosisOptions {
  /**
   * How many milliseconds the database must be silent before the cause is determined; it is checked again after a third
   * of that time.
   */
  patienceMs: number;
  /** Tries a statement on a connection of the pool. */
  tryPool: () => Promise<void>;
  /** Tries it on a connection outside the pool. */
  tryAnew: () => Promise<void>;
}

/**
 * Distinguishes a process whose database is unavailable from one that fails to use an available database and needs a
 * restart.
 */
export class Diagnosis {
  state: DatabaseState = 'reached';
  readonly #options: DiagnosisOptions;
  #silentMs = 0;
  #suspicions = 0;
  #isAsking = false;

  constructor(options: DiagnosisOptions) {
    this.#options = options;
  }

  /** Takes note of the last moments: whether anything was heard, and whether anybody was waiting. */
  note({ heard, wanted, ms }: { heard: boolean; wanted: boolean; ms: number }): void {
    if (heard) {
      this.#silentMs = 0;
      this.#suspicions = 0;
      this.state = 'reached';
    } else if (wanted || this.#silentMs > 0) {
      this.#silentMs += ms;
      if (this.#silentMs > this.#options.patienceMs && !this.#isAsking) void this.#ask();
    }
  }

  async #ask(): Promise<void> {
    this.#isAsking = true;
    const reached = await this.#tryBoth();
    this.#isAsking = false;
    // The next `note` takes account of what the pool heard.
    if (reached === 'pool' || this.#silentMs === 0) return;
    this.#silentMs = (this.#options.patienceMs * 2) / 3;
    // Twice in a row, as the database may have come back between the two attempts.
    this.#suspicions = reached === 'anew' ? this.#suspicions + 1 : 0;
    this.state = this.#suspicions > 1 ? 'stuck' : 'away';
  }

  async #tryBoth(): Promise<'pool' | 'anew' | undefined> {
    try {
      await this.#options.tryPool();
      return 'pool';
    } catch {}
    try {
      await this.#options.tryAnew();
      return 'anew';
    } catch {
      return undefined;
    }
  }
}
