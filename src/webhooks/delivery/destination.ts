import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { createNames, type Lookup, UnresolvedHost } from './names.ts';

/*
 * Where a webhook may go. Whoever registers a URL chooses what this server connects to, so the decision is based on
 * addresses, at the moment of connecting: the socket connects to the very address that was checked, and a name server
 * that returns another one a second later changes nothing. A kept-alive connection was checked when it was opened.
 * `check` asks the same question early, but only to inform the caller; security does not depend on it.
 *
 * https may go to public addresses and the allowed networks, plain http only to the allowed networks. If a name has
 * both permitted and forbidden addresses, only the permitted ones are used.
 */
export interface Destination {
  /**
   * Why `url` cannot be an endpoint, or null. A name that does not resolve at the moment is not an error, nor is one that
   * is not looked up.
   */
  check(url: string, options?: { looksUp: boolean }): Promise<AddressError | null>;
  /** Connects to permitted addresses only; fails with BlockedAddress or UnresolvedHost before any packet is sent. */
  dispatcher: Dispatcher;
  /** Drops all sockets at once, so it is for the time after the last send. */
  close(): Promise<void>;
}

export interface AddressError {
  code:
    | 'invalid_url'
    | 'https_required'
    | 'user_info_not_allowed'
    | 'fragment_not_allowed'
    | 'blocked_address';
  message: string;
}

/** No address of the host may be connected to. The message reveals nothing about the host or its addresses. */
export class BlockedAddress extends Error {}

/**
 * `allowedNetworks` are CIDRs that may be reached although they are not public, and over plain http as well; throws
 * when one is malformed. `lookup` replaces name resolution.
 */
export function createDestination(options: {
  allowedNetworks: readonly string[];
  lookup?: Lookup;
}): Destination {
  const networks = { allowed: options.allowedNetworks.map((cidr) => ipaddr.parseCIDR(cidr)) };
  const allowed: Permit = (address) => ipaddr.subnetMatch(address, networks) === 'allowed';
  const allowedOrPublic: Permit = (address) => allowed(address) || isPublic(address);

  // Local names have private addresses, which cannot be reached without an allowed network.
  const names = createNames({ local: networks.allowed.length > 0 });
  const resolve = options.lookup ?? names.lookup;
  const plain = guarded(allowed, resolve);
  const secure = guarded(allowedOrPublic, resolve);
  const agent = new Agent({
    connect: (target, callback) => (target.protocol === 'https:' ? secure : plain)(target, callback),
    allowH2: false,
    // No limit for each host: many endpoints may share one, and a hanging endpoint must not use up what they share.
    connections: null,
    // The sender has one clock for the whole attempt.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  return {
    dispatcher: agent,
    close() {
      names.close();
      return agent.destroy();
    },
    async check(text, { looksUp } = { looksUp: true }) {
      const url = URL.parse(text);
      if (url === null) return { code: 'invalid_url', message: 'is not a valid URL' };
      if (url.protocol !== 'https:' && url.protocol !== 'http:') return httpsRequired;
      if (url.username !== '' || url.password !== '')
        return { code: 'user_info_not_allowed', message: 'must not contain a user name or password' };
      if (url.href.includes('#'))
        return { code: 'fragment_not_allowed', message: 'must not contain a fragment' };

      const addresses = await addressesNow(bare(url.hostname), looksUp ? resolve : async () => []);
      if (addresses.length > 0 && !addresses.some(permitted(allowedOrPublic)))
        return { code: 'blocked_address', message: 'leads to an address that is not allowed' };
      const plainIsFine = networks.allowed.length > 0 && addresses.every(permitted(allowed));
      return url.protocol === 'http:' && !plainIsFine ? httpsRequired : null;
    },
  };
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Permit = (address: Address) => boolean;

const connectMs = 15_000;
const checkMs = 2_000;

const httpsRequired: AddressError = {
  code: 'https_required',
  message: 'must be https; plain http is accepted only to the allowed networks',
};

/**
 * Whether the public Internet routes to the address: unicast, and in none of the special-purpose blocks.
 *
 * Sources: the IANA registries of IPv4 and IPv6 special-purpose addresses (RFC 6890), which ipaddr.js follows, and
 * of the IPv6 address space, where 2000::/3 is all that is global unicast (RFC 4291, section 2.4); that rules out
 * the IPv4-compatible ::/96 and unassigned blocks, which ipaddr.js takes for unicast.
 */
function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv6' ? address.match(globalUnicast) : !address.match(azureHost);
}

const globalUnicast = ipaddr.parseCIDR('2000::/3');
// Not special to IANA, but inside Azure it is the platform's own host, which serves a machine's configuration:
// https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
const azureHost = ipaddr.parseCIDR('168.63.129.16/32');

/** IPv4-mapped IPv6 is judged as the IPv4 address that it means. What cannot be read is not permitted. */
function permitted(permit: Permit): (found: LookupAddress) => boolean {
  return ({ address }) => ipaddr.isValid(address) && permit(ipaddr.process(address));
}

/** A connector whose every socket, by name or by literal address, goes to a permitted address. */
function guarded(permit: Permit, resolve: Lookup): buildConnector.connector {
  const lookup: LookupFunction = (hostname, _options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const open = addresses.filter(permitted(permit));
        callback(open.length === 0 ? new BlockedAddress() : null, open);
      },
      () => callback(new UnresolvedHost(), []),
    );
  };
  const connect = buildConnector({
    lookup,
    allowH2: false,
    timeout: connectMs,
    // Requests all addresses from `lookup`, and tries each; Node's default of 250 ms gives up on distant ones too
    // early.
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: 2_000,
  });
  return (target, callback) => {
    const family = isIP(target.hostname);
    // net.connect looks up names only.
    if (family !== 0 && !permitted(permit)({ address: target.hostname, family }))
      process.nextTick(callback, new BlockedAddress(), null);
    else connect(target, callback);
  };
}

/** The URL parser has already brought every spelling of an IPv4 address to four decimals (WHATWG URL, "host parser"). */
function bare(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

async function addressesNow(hostname: string, resolve: Lookup): Promise<readonly LookupAddress[]> {
  const family = isIP(hostname);
  if (family !== 0) return [{ address: hostname, family }];
  const { promise: tooLate, resolve: giveUp } = Promise.withResolvers<LookupAddress[]>();
  const timer = setTimeout(giveUp, checkMs, []);
  try {
    return await Promise.race([resolve(hostname), tooLate]);
  } catch {
    return [];
  } finally {
    clearTimeout(timer);
  }
}
