/** The result of one round of load; times in milliseconds. */
export interface Sample {
  perSecond: number;
  p50: number;
  p99: number;
}

export interface Round {
  connections: number;
  seconds: number;
}

/** Not counted: the time in which connections are opened and plans made. */
export const warmUpMs = 250;

/**
 * Keeps every connection busy with one call at a time. Each connection has its own targets, so concurrent calls never
 * meet on a record unless there are more connections than targets.
 * @param variants the number of different calls for each target; each visit makes the next one.
 * @param call makes call `variant` for `target` over `connection`.
 */
export async function closedLoop(
  { connections, seconds }: Round,
  variants: readonly number[],
  call: (connection: number, target: number, variant: number) => Promise<void>,
): Promise<Sample> {
  const calls: TimedCall[] = [];
  const begin = performance.now() + warmUpMs;
  const end = begin + seconds * 1000;

  async function run(connection: number): Promise<void> {
    const own = Array.from({ length: variants.length }, (_, target) => target).filter(
      (target) => target % connections === connection % variants.length,
    );
    let counted = 0;
    for (let turn = 0; ; turn++) {
      for (const target of own) {
        const started = performance.now();
        // A call may take longer than the round; each connection completes at least one that counts.
        if (started >= end && counted > 0) return;
        await call(connection, target, turn % (variants[target] as number));
        if (started < begin) continue;
        counted += 1;
        calls.push({ started, ended: performance.now() });
      }
    }
  }

  await Promise.all(Array.from({ length: connections }, (_, connection) => run(connection)));
  return sampleOf(calls, begin);
}

/** When a call was made and answered, in milliseconds of any one clock. */
export interface TimedCall {
  started: number;
  ended: number;
}

/** Sums up the calls made since `begin`. */
export function sampleOf(calls: readonly TimedCall[], begin: number): Sample {
  const latencies = calls.map(({ started, ended }) => ended - started).sort((a, b) => a - b);
  const end = calls.reduce((last, { ended }) => Math.max(last, ended), begin);
  return {
    perSecond: latencies.length / ((end - begin) / 1000),
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
  };
}

/** The value below which the given share of the sorted values lies. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
