import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type ApiError, ambiguousRequest } from './errors.ts';

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

// What follows on a connection may be part of the request that was refused.
const ended = new WeakSet<Socket>();

/** 400 for a request that another reader could understand differently, and for any that follows it on its connection. */
export function ambiguity(request: IncomingMessage): ApiError | undefined {
  const { socket, headers, url = '' } = request;
  // RFC 9112, section 3.2.2: the target counts, not the header.
  const authority = url.startsWith('/') ? undefined : /^https?:\/\/([^/?#]*)/i.exec(url)?.[1];
  const detail = ended.has(socket)
    ? 'An earlier request on this connection was refused.'
    : findAmbiguity(request, authority);
  if (authority !== undefined) headers.host = authority;
  if (detail === undefined) return undefined;
  ended.add(socket);
  return ambiguousRequest(detail);
}

/** @param authority of its target, if that names one */
function findAmbiguity(
  { rawHeaders, headers, httpVersion, url }: IncomingMessage,
  authority?: string,
): string | undefined {
  // Node takes 0.9 and 2.0 as well.
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return 'The version has to be HTTP/1.1.';
  let seen = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    const bit = singular.get(name.toLowerCase()) ?? 0;
    if (seen & bit) return `The header ${name} is sent more than once.`;
    seen |= bit;
  }
  // RFC 9112, section 3.2.
  if (headers.host === undefined && httpVersion === '1.1') return 'HTTP/1.1 requires the Host header.';
  if (!hostForm.test(headers.host ?? '')) return 'The header Host is not valid.';
  if (!hostForm.test(authority ?? '')) return 'The host in the URL is not valid.';
  // No part of a target; some take it for the end of the path, and some for a part of it.
  if (url?.includes('#')) return 'The URL cannot have a fragment.';
  // RFC 9112, section 6.1: other codings are not supported here, and in HTTP/1.0 the framing cannot be trusted.
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion === '1.0'))
    return 'Transfer-Encoding can only be chunked, in HTTP/1.1.';
  return undefined;
}
