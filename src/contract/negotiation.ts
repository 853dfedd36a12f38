// By hand, since the libraries at hand read less: @fastify/accept-negotiator 2.1 knows neither `*/*` nor `text/*`, and
// negotiator 1.1 finds nothing for `text/csv; header=present`.

/**
 * The offered media type that `Accept` prefers (RFC 9110, 12.5.1): the highest weight, among equals the first
 * offered. Parameters of a range other than `q` are not looked at.
 * @returns undefined when none is acceptable.
 */
export function preferred<T extends string>(
  accept: string | undefined,
  offered: readonly T[],
): T | undefined {
  const ranges = (accept ?? '')
    .split(',')
    .map(readRange)
    .filter((range) => range !== undefined);
  if (ranges.length === 0) return offered[0];
  const weights = offered.map((mediaType) => weightOf(mediaType, ranges));
  const best = Math.max(...weights);
  return best > 0 ? offered[weights.indexOf(best)] : undefined;
}

interface Range {
  type: string;
  weight: number;
}

function readRange(text: string): Range | undefined {
  const [type = '', ...parameters] = text
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  if (!/^[^\s/]+\/[^\s/]+$/.test(type)) return undefined;
  const q = parameters.find((one) => one.startsWith('q='))?.slice(2);
  if (q === undefined) return { type, weight: 1 };
  return /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(q) ? { type, weight: Number(q) } : undefined;
}

// The most specific range that covers a type decides, so `text/csv;q=0, */*` refuses CSV alone.
function weightOf(mediaType: string, ranges: Range[]): number {
  for (const range of [mediaType, mediaType.replace(/\/.*/, '/*'), '*/*']) {
    const found = ranges.find(({ type }) => type === range);
    if (found) return found.weight;
  }
  return 0;
}
