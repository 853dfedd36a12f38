import type { IncomingMessage } from 'node:http';
import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Longer chains of proxies are not followed. */
const maxHops = 16;

/**
 * Finds the address that a request comes from, behind the proxies that are trusted to report it. X-Forwarded-For and
 * Forwarded (RFC 7239) are read from right to left, since the nearest proxy writes on the right: the first address
 * that is not trusted is the client's, and everything to its left may be made up by the client. An entry that is not
 * an address ends the search at the one before. Most proxies write one of the two headers and pass on the other
 * unchanged: if both are present and lead to different addresses, neither is trusted.
 * @param proxies CIDRs of the trusted proxies.
 * @returns a function that returns the address, as IPv4 even if it arrived mapped into IPv6; undefined for a
 *   connection that is gone.
 * @throws when a CIDR is malformed.
 */
export function clientAddress(proxies: readonly string[]): (request: IncomingMessage) => Address | undefined {
  const isTrusted = trustIn(proxies);

  const walk = (peer: Address, entries: string[], read: (entry: string) => string): Address => {
    let nearest = peer;
    for (const entry of entries.slice(-maxHops).reverse()) {
      const next = isTrusted(nearest) && addressOf(read(entry));
      if (!next) break;
      nearest = next;
    }
    return nearest;
  };

  return ({ socket, headers }) => {
    const peer = peerOf(socket);
    if (!peer || !isTrusted(peer)) return peer;
    const reports = [
      [headers['x-forwarded-for'], (entry: string) => entry.trim()] as const,
      [headers.forwarded, forwardedFor] as const,
    ].flatMap(([value, read]) =>
      value === undefined ? [] : [walk(peer, [value].flat().join().split(','), read)],
    );
    const [first = peer] = reports;
    return reports.every((address) => `${address}` === `${first}`) ? first : peer;
  };
}

/** Whether a request comes from a trusted proxy. @throws when a CIDR is malformed. */
export function peerTrust(proxies: readonly string[]): (request: IncomingMessage) => boolean {
  const isTrusted = trustIn(proxies);
  return ({ socket }) => {
    const peer = peerOf(socket);
    return peer !== undefined && isTrusted(peer);
  };
}

function trustIn(proxies: readonly string[]): (address: Address) => boolean {
  const networks = { trusted: proxies.map((cidr) => ipaddr.parseCIDR(cidr)) };
  return (address) => ipaddr.subnetMatch(address, networks) === 'trusted';
}

function peerOf({ remoteAddress }: IncomingMessage['socket']): Address | undefined {
  return remoteAddress === undefined ? undefined : parse(remoteAddress);
}

/**
 * The unit in which clients are counted: an IPv4 address, or the /64 of an IPv6 address, all of which one host may
 * use.
 */
export function networkOf(address: Address | undefined): string {
  if (address === undefined) return 'none';
  return address instanceof ipaddr.IPv4
    ? address.toString()
    : `${ipaddr.IPv6.networkAddressFromCIDR(`${address.toNormalizedString().split('%', 1)[0]}/64`)}/64`;
}

// RFC 7239, section 4. A comma in a quoted string splits it into parts that are not elements, which ends the search.
const pair = /[ \t]*([!#$%&'*+.^_`|~\w-]+)=([!#$%&'*+.^_`|~\w-]+|"(?:[^"\\]|\\.)*")/y;

/** The node that an element of Forwarded names in `for`; empty when it names none or is malformed. */
function forwardedFor(element: string): string {
  const text = element.trim();
  let node = '';
  for (pair.lastIndex = 0; ; ) {
    const [whole, name = '', value = ''] = pair.exec(text) ?? [];
    if (whole === undefined) return '';
    if (name.toLowerCase() === 'for') {
      if (node !== '') return '';
      node = value.replace(/^"(.*)"$/, '$1').replaceAll(/\\(.)/g, '$1');
    }
    const end = pair.lastIndex;
    if (end === text.length) return node;
    if (text[end] !== ';') return '';
    pair.lastIndex = end + 1;
  }
}

/**
 * Reads `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]` and `[2001:db8::1]:80`; undefined for anything
 * else.
 */
function addressOf(node: string): Address | undefined {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d{1,5})?$/.exec(node) ?? [];
  if (bracketed !== undefined) return isIPv6(bracketed) ? parse(bracketed) : undefined;
  return parse(plain ?? node);
}

function parse(text: string): Address | undefined {
  // Stricter than ipaddr, which also accepts 127.1 and octal numbers.
  return isIPv4(text) || isIPv6(text) ? ipaddr.process(text) : undefined;
}
