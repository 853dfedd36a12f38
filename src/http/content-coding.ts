/** Content codings (RFC 9110, 8.4.1) of responses, the better one first. */
export const codings = ['br', 'gzip'] as const;
export type Coding = (typeof codings)[number];

/**
 * The codings that Accept-Encoding accepts (RFC 9110, 12.5.3), in the order of its weights, or of our preference if
 * they are equal. `identity`, the unchanged body, comes last among equals, and last of all if the header does not
 * mention it.
 * @param acceptEncoding undefined: identity only, since nobody has asked for compression.
 */
export function acceptedCodings(acceptEncoding: string | undefined): (Coding | 'identity')[] {
  if (acceptEncoding === undefined) return ['identity'];
  const weights = new Map(acceptEncoding.split(',').map(readCoding));
  const weightOf = (coding: Coding | 'identity') =>
    weights.get(coding) ?? weights.get('*') ?? (coding === 'identity' ? leastWeight : 0);
  return [...codings, 'identity' as const]
    .filter((coding) => weightOf(coding) > 0)
    .sort((a, b) => weightOf(b) - weightOf(a));
}

// Below the smallest weight that a header can state.
const leastWeight = 0.0001;

function readCoding(text: string): [string, number] {
  const [name = '', ...parameters] = text
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const weight = parameters.find((one) => one.startsWith('q='))?.slice(2) ?? '1';
  const isWeight = /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(weight);
  return [name.replace(/^x-gzip$/, 'gzip'), isWeight ? Number(weight) : 0];
}

/**
 * The ETag of a representation in one coding: no two representations share a strong one (RFC 9110, 8.8.3). A weak one
 * may be shared.
 */
export function codedETag(eTag: string, coding: Coding | 'identity'): string {
  return coding === 'identity' || eTag.startsWith('W/') ? eTag : eTag.replace(/"$/, `-${coding}"`);
}

/** A list of ETags in which those of these codings are replaced by those of the uncompressed body. */
export function withoutCodings(eTags: string, replaced: readonly string[]): string {
  return eTags.replace(/-(br|gzip)"/g, (suffix, coding) => (replaced.includes(coding) ? '"' : suffix));
}
