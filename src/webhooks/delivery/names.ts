/**
 * Resolves the names of receivers without getaddrinfo. That would occupy one of the few threads of this process until
 * a name server responds, so one client's slow name server would delay every endpoint, and the look-up of the
 * database. Queries to name servers wait on sockets only; their number and duration are limited, and callers that ask
 * for the same name at the same time share a response.
 */
import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';

/** Returns all addresses of a host; rejects when there are none. */
export type Lookup = (hostname: string) => Promise<readonly LookupAddress[]>;

/** The host has no address at present. */
export class UnresolvedHost extends Error {}

export interface Names {
  lookup: Lookup;
  /** Ends the queries in progress. */
  close(): void;
}

/**
 * @param options `local`: also names that this machine alone knows, by its hosts file and the search domains of its
 * resolver. They lead to private addresses.
 */
export function createNames({ local }: { local: boolean }): Names {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  const underWay = new Map<string, Promise<readonly LookupAddress[]>>();

  async function find(name: string): Promise<readonly LookupAddress[]> {
    if (/(^|\.)localhost$/.test(name)) return loopback;
    const { hosts, search, dots } = local ? await readOwnNames() : nothing;
    const known = hosts.get(name);
    if (known) return known;
    const isShort = name.split('.').length <= dots;
    for (const domain of isShort ? [...search, ''] : ['']) {
      const found = await askFor(resolver, domain === '' ? name : `${name}.${domain}`);
      if (found.length > 0) return found;
    }
    throw new UnresolvedHost();
  }

  return {
    close: () => resolver.cancel(),
    lookup(hostname) {
      const name = hostname.toLowerCase().replace(/\.$/, '');
      const shared = underWay.get(name);
      if (shared) return shared;
      if (underWay.size >= mostUnderWay) return Promise.reject(new UnresolvedHost());
      const asked = within(find(name), patienceMs).finally(() => underWay.delete(name));
      underWay.set(name, asked);
      return asked;
    },
  };
}

const mostUnderWay = 1_000;
const patienceMs = 5_000;

/** RFC 6761, section 6.3. */
const loopback: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

async function askFor(resolver: Resolver, name: string): Promise<LookupAddress[]> {
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  return [
    ...(v4.status === 'fulfilled' ? v4.value.map((address) => ({ address, family: 4 })) : []),
    ...(v6.status === 'fulfilled' ? v6.value.map((address) => ({ address, family: 6 })) : []),
  ];
}

async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new UnresolvedHost()), ms);
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

interface OwnNames {
  hosts: ReadonlyMap<string, readonly LookupAddress[]>;
  search: readonly string[];
  /** A name with fewer dots is looked for in the search domains first. */
  dots: number;
}

const nothing: OwnNames = { hosts: new Map(), search: [], dots: 0 };
const keepMs = 5_000;
let kept: Promise<OwnNames> | undefined;

/** Both files as they were at most some seconds ago; hosts(5), resolv.conf(5). */
function readOwnNames(): Promise<OwnNames> {
  if (!kept) {
    kept = Promise.all([readLines('/etc/hosts'), readLines('/etc/resolv.conf')]).then(parseOwnNames);
    setTimeout(() => {
      kept = undefined;
    }, keepMs).unref();
  }
  return kept;
}

async function readLines(path: string): Promise<string[][]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.split('\n').map((line) =>
    line
      .replace(/[#;].*/, '')
      .trim()
      .toLowerCase()
      .split(/\s+/),
  );
}

function parseOwnNames([hostLines, resolverLines]: [string[][], string[][]]): OwnNames {
  const hosts = new Map<string, LookupAddress[]>();
  for (const [address = '', ...names] of hostLines) {
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names) hosts.set(name, [...(hosts.get(name) ?? []), { address, family }]);
  }
  const last = (word: string) => resolverLines.findLast(([first]) => first === word)?.slice(1) ?? [];
  const dots = /^ndots:(\d{1,2})$/.exec(last('options').find((one) => one.startsWith('ndots:')) ?? '')?.[1];
  return {
    hosts,
    search: last('search').length > 0 ? last('search') : last('domain'),
    dots: Number(dots ?? 1),
  };
}
