import type { IncomingMessage } from 'node:http';
import { ambiguousRequest } from './errors.ts';

/*
 * Node's parser refuses most requests that two readers could take for different ones: ambiguous lengths, folded
 * headers, bare line feeds. The checks below cover what it lets through. A proxy in front of the service might act on
 * one reading, and the service on the other.
 */

// If there are several, Node takes the first or joins them, and a proxy may take the last.
const singular = new Map(
  ['host', 'authorization', 'content-type', 'idempotency-key'].map((name, place) => [name, 1 << place]),
);
const hostForm = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/** @throws 400 for a request that another reader could understand differently. */
export function requireUnambiguous({ rawHeaders, headers, httpVersion, url = '' }: IncomingMessage): void {
  let seen = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    const bit = singular.get(name.toLowerCase()) ?? 0;
    if (seen & bit) throw ambiguousRequest(`The header ${name} is sent more than once.`);
    seen |= bit;
  }
  // RFC 9112, section 3.2.
  if (headers.host === undefined && httpVersion === '1.1')
    throw ambiguousRequest('HTTP/1.1 requires the Host header.');
  if (!hostForm.test(headers.host ?? '')) throw ambiguousRequest('The header Host is not valid.');
  // RFC 9112, section 6.1: other codings are not supported here, and in HTTP/1.0 the framing cannot be trusted.
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion === '1.0'))
    throw ambiguousRequest('Transfer-Encoding can only be chunked, in HTTP/1.1.');
  // RFC 9112, section 3.2.2: the target counts, not the header.
  if (url.startsWith('http')) headers.host = URL.parse(url)?.host ?? '';
}
