/** The most recent reading, and its age. */
export interface Latest<T> {
  value: T;
  ageSeconds: number;
}

export interface LatestOptions {
  /** How long a reading serves, in ms. */
  keepMs: number;
  /** How long to wait for a running reading before using the previous one, in ms. */
  patienceMs?: number;
  /** How old a reading may become while none succeeds, in ms. */
  longestMs?: number;
}

/**
 * Returns the latest reading of something that is expensive to read. However many callers ask, only one reading is
 * running at a time, and the next begins no sooner than `keepMs` after it began.
 * @returns undefined when there is none, or when the last one is too old.
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
