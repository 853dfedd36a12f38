/** What was read last, and how old it is. */
export interface Latest<T> {
  value: T;
  ageSeconds: number;
}

export interface LatestOptions {
  /** How long a reading serves, in ms. */
  keepMs: number;
  /** How long to wait for a reading under way before the one before it must do, in ms. */
  patienceMs?: number;
  /** How old a reading may become while none succeeds, in ms. */
  longestMs?: number;
}

/**
 * Gives what was read last of something that is not free to read. However many ask and however often, one reading is
 * under way at a time, and the next begins no sooner than `keepMs` after it began.
 * @returns undefined while there is none, or the last is too old.
 */
export function keepLatest<T>(
  read: () => Promise<T>,
  { keepMs, patienceMs = 2_000, longestMs = 60_000 }: LatestOptions,
): () => Promise<Latest<T> | undefined> {
  let latest: { value: T; readAt: number } | undefined;
  let reading: Promise<void> | undefined;
  let begunAt = Number.NEGATIVE_INFINITY;

  const begin = async (readAt: number) => {
    begunAt = readAt;
    try {
      latest = { value: await read(), readAt };
    } catch {
      // The one before it grows older.
    } finally {
      reading = undefined;
    }
  };

  return async () => {
    const now = performance.now();
    if (!reading && now - begunAt >= keepMs) reading = begin(now);
    if (reading) await within(reading, patienceMs);
    if (!latest) return undefined;
    const age = performance.now() - latest.readAt;
    return age > longestMs ? undefined : { value: latest.value, ageSeconds: age / 1_000 };
  };
}

async function within(work: Promise<void>, ms: number): Promise<void> {
  const { promise: tooLong, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work, tooLong]);
  clearTimeout(timer);
}
