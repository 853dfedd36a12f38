/** What one round of load came to; times in milliseconds. */
export interface Sample {
  perSecond: number;
  p50: number;
  p99: number;
}

export interface Round {
  connections: number;
  seconds: number;
}

/** What is left out of the count: connections that have just been opened, plans not made yet. */
export const warmUpMs = 250;

/**
 * Keeps every connection busy with one call at a time. Each has targets of its own, so that no two calls under way
 * are for the same record unless there are more connections than targets.
 * @param variants how many different calls there are for each target; each visit makes the next one.
 * @param call makes call `variant` for `target` over `connection`.
 */
export async function closedLoop(
  { connections, seconds }: Round,
  variants: readonly number[],
  call: (connection: number, target: number, variant: number) => Promise<void>,
): Promise<Sample> {
  const latencies: number[] = [];
  const begin = performance.now() + warmUpMs;
  const end = begin + seconds * 1000;

  async function run(connection: number): Promise<void> {
    const own = Array.from({ length: variants.length }, (_, target) => target).filter(
      (target) => target % connections === connection % variants.length,
    );
    for (let turn = 0; performance.now() < end; turn++) {
      for (const target of own) {
        const started = performance.now();
        if (started >= end) return;
        await call(connection, target, turn % (variants[target] as number));
        const ended = performance.now();
        if (started >= begin && ended <= end) latencies.push(ended - started);
      }
    }
  }

  await Promise.all(Array.from({ length: connections }, (_, connection) => run(connection)));
  return sampleOf(latencies, seconds);
}

/** @param latencies in milliseconds, of all calls in this time. */
export function sampleOf(latencies: number[], seconds: number): Sample {
  const sorted = latencies.toSorted((a, b) => a - b);
  return {
    perSecond: sorted.length / seconds,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
  };
}

/** The value below which the given share of the sorted values lies. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
