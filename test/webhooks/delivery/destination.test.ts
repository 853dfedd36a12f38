import { createSocket } from 'node:dgram';
import type { LookupAddress, ResolverOptions } from 'node:dns';
import dns from 'node:dns/promises';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { type AddressInfo, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import t, { type Test } from 'tap';
import {
  BlockedAddress,
  createDestination,
  type Destination,
} from '../../../src/webhooks/delivery/destination.ts';
import { createNames, type Lookup, UnresolvedHost } from '../../../src/webhooks/delivery/names.ts';

const publicAddress = '93.184.215.14';
const answering =
  (...addresses: string[]): Lookup =>
  async () =>
    addresses.map(asResponse);

t.test('https URLs that merely cannot be resolved are accepted, on any port', async (t) => {
  const { check } = open(t, { lookup: unknown });
  for (const url of [
    'https://hooks.example.com/menu',
    'https://hooks.example.com:8443/?a=b',
    'HTTPS://EXAMPLE.COM',
  ]) {
    t.equal(await check(url), null, url);
  }
});

t.test('what is not an https URL without user info and fragment is refused by name', async (t) => {
  const { check } = open(t, { lookup: answering(publicAddress) });
  const refused = {
    '': 'invalid_url',
    'hooks.example.com': 'invalid_url',
    'https://': 'invalid_url',
    'https://exa mple.com/': 'invalid_url',
    'https://[fe80::1%25eth0]/': 'invalid_url',
    'https://[::1%25lo]/': 'invalid_url',
    'https://300.1.1.1/': 'invalid_url',
    'ftp://example.com/': 'https_required',
    'file:///etc/passwd': 'https_required',
    'http://example.com/': 'https_required',
    'https://user@example.com/': 'user_info_not_allowed',
    'https://:password@example.com/': 'user_info_not_allowed',
    'https://example.com/#part': 'fragment_not_allowed',
    'https://example.com/#': 'fragment_not_allowed',
  };
  for (const [url, code] of Object.entries(refused)) t.match(await check(url), { code }, url);
});

t.test('plain http is accepted only when every address lies in an allowed network', async (t) => {
  const fault = async (addresses: string[], allowedNetworks: string[]) => {
    const lookup = addresses.length === 0 ? unknown : answering(...addresses);
    return (await open(t, { allowedNetworks, lookup }).check('http://hooks.test/'))?.code ?? null;
  };
  t.equal(await fault(['10.1.2.3', 'fd00::1'], ['10.0.0.0/8', 'fd00::/8']), null);
  t.equal(await fault(['10.1.2.3', publicAddress], ['10.0.0.0/8']), 'https_required');
  t.equal(await fault(['10.1.2.3', '192.168.0.1'], ['10.0.0.0/8']), 'https_required');
  t.equal(await fault(['192.168.0.1'], ['10.0.0.0/8']), 'blocked_address');
  t.equal(await fault([publicAddress], ['10.0.0.0/8']), 'https_required');
  t.equal(await fault([], ['10.0.0.0/8']), null, 'not resolvable yet, and every attempt is judged again');
  t.equal(await fault([], []), 'https_required', 'there is nothing that it could resolve to');
});

t.test('every spelling of the loopback address is blocked, at check and at connect', async (t) => {
  const spellings = [
    '127.0.0.1',
    '127.0.0.1.',
    '127.1',
    '127.255.255.254',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '0X7F.0x0.0x0.0x1',
    '0177.0.0.1',
    '017700000001',
    '%31%32%37.0.0.1',
    '①②⑦.0.0.1',
    '0',
    '0.0.0.0',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:ffff:7f00:0001]',
    '[::127.0.0.1]',
    '[64:ff9b::127.0.0.1]',
    '[2002:7f00:1::]',
  ];
  const { check, dispatcher } = open(t, { lookup: neverAsked });
  for (const host of spellings) {
    for (const scheme of ['http', 'https']) {
      const url = `${scheme}://${host}:8443/`;
      t.match(await check(url), { code: 'blocked_address' }, url);
      t.type(await failure(post(dispatcher, new URL(url).origin)), BlockedAddress, url);
    }
  }
});

t.test('names of this machine are blocked through the addresses that they resolve to', async (t) => {
  const { check } = open(t);
  t.match(await check('https://localhost/'), { code: 'blocked_address' });
  const named = open(t, { lookup: answering('127.0.0.1', '::1') });
  for (const host of ['localhost.', 'hooks.localhost', 'localtest.me', 'LOCALHOST']) {
    t.match(await named.check(`https://${host}/`), { code: 'blocked_address' }, host);
    t.type(await failure(post(named.dispatcher, `https://${host}`)), BlockedAddress, host);
  }
});

t.test('no special-purpose block is reachable, literally or through a name', async (t) => {
  for (const address of blockedAddresses) {
    const { check, dispatcher } = open(t, { lookup: answering(address) });
    const literal = `https://${isIPv6(address) ? `[${address}]` : address}`;
    for (const origin of [literal, 'https://hooks.test']) {
      t.match(await check(origin), { code: 'blocked_address' }, `${origin} ${address}`);
      t.type(await failure(post(dispatcher, origin)), BlockedAddress, `${origin} ${address}`);
    }
  }
});

t.test('the neighbours of the special-purpose blocks are public', async (t) => {
  for (const address of publicAddresses) {
    const { check } = open(t, { lookup: answering(address) });
    t.equal(await check(`https://${isIPv6(address) ? `[${address}]` : address}/`), null, address);
    t.equal(await check('https://hooks.test/'), null, address);
  }
});

t.test('an address that cannot be read, or that has a zone, is blocked', async (t) => {
  for (const reply of ['fe80::1%eth0', '::1%lo', 'fe80::1%br-0.7', 'nonsense', '']) {
    const { check, dispatcher } = open(t, {
      lookup: async () => [{ address: reply, family: 6 }],
    });
    t.match(await check('https://hooks.test/'), { code: 'blocked_address' }, reply);
    t.type(await failure(post(dispatcher, 'https://hooks.test')), BlockedAddress, reply);
  }
});

t.test('an error reveals nothing about the network behind it', async (t) => {
  const names = open(t, { lookup: answering('10.20.30.40') });
  const fault = await names.check('https://db.internal/');
  t.same(fault, await names.check('https://192.168.7.8/'));
  t.notMatch(fault?.message, /10\.20|192\.168|internal/);
  t.equal((await failure(post(names.dispatcher, 'https://db.internal'))).message, '');
});

t.test('a name that is public at check and loopback at connect reaches nobody', async (t) => {
  const { port, connections } = await receiver(t);
  for (const scheme of ['https', 'http']) {
    const responses = [[scheme === 'https' ? publicAddress : '10.0.0.1'], ['127.0.0.1']];
    const { check, dispatcher } = open(t, {
      allowedNetworks: scheme === 'https' ? [] : ['10.0.0.0/8'],
      lookup: async () => (responses.shift() ?? []).map(asResponse),
    });
    t.equal(await check(`${scheme}://rebind.test:${port}/`), null);
    t.type(await failure(post(dispatcher, `${scheme}://rebind.test:${port}`)), BlockedAddress);
    t.equal(responses.length, 0, 'the name was asked for again');
  }
  t.equal(connections(), 0);
});

t.test('a name that is allowed at check and public at connect gets no plain http', async (t) => {
  const responses = [['127.0.0.1'], [publicAddress]];
  const { check, dispatcher } = open(t, {
    allowedNetworks: ['127.0.0.0/8'],
    lookup: async () => (responses.shift() ?? []).map(asResponse),
  });
  t.equal(await check('http://rebind.test/'), null);
  t.type(await failure(post(dispatcher, 'http://rebind.test')), BlockedAddress);
  t.type(await failure(post(dispatcher, `http://${publicAddress}`)), BlockedAddress);
});

t.test('the connection goes only to permitted addresses, without another look-up', async (t) => {
  const { port } = await receiver(t);
  let lookups = 0;
  const { check, dispatcher } = open(t, {
    allowedNetworks: ['127.0.0.0/8'],
    lookup: async () => {
      lookups += 1;
      return ['10.0.0.1', publicAddress, '127.0.0.1'].map(asResponse);
    },
  });
  t.equal(await check(`https://mixed.test:${port}/`), null);
  lookups = 0;
  t.equal(await post(dispatcher, `http://mixed.test:${port}`), 'received');
  t.equal(lookups, 1);
});

t.test('allowed networks are reached over plain http, by address, mapped address and name', async (t) => {
  const { port } = await receiver(t);
  const { check, dispatcher } = open(t, { allowedNetworks: ['127.0.0.0/8'] });
  for (const host of ['127.0.0.1', '2130706433', '[::ffff:127.0.0.1]', 'localhost']) {
    const { origin } = new URL(`http://${host}:${port}`);
    if (host !== 'localhost') t.equal(await check(origin), null, host);
    t.equal(await post(dispatcher, origin), 'received', host);
  }
  t.match(await check('https://10.0.0.1/'), { code: 'blocked_address' }, 'others stay blocked');
});

t.test('an unresolvable host fails the attempt by name', async (t) => {
  const { dispatcher } = open(t, { lookup: unknown });
  t.type(await failure(post(dispatcher, 'https://hooks.test')), UnresolvedHost);
  t.type(await failure(post(open(t).dispatcher, 'https://hooks.invalid')), UnresolvedHost);
});

t.test('a name server that does not respond holds up check for two seconds at most', async (t) => {
  const { check } = open(t, { lookup: () => new Promise(() => {}) });
  const started = performance.now();
  t.equal(await check('https://hooks.test/'), null);
  t.ok(performance.now() - started < 5_000);
});

for (const allowedNetworks of [[], ['10.0.0.0/8']]) {
  const name = `names whose server does not answer hold up no other name, ${allowedNetworks.length} networks allowed`;
  t.test(name, async (t) => {
    const { port, asked } = await nameServer(t, { 'inside4.test': '127.0.0.1', 'inside6.test': '::1' });
    class LocalResolver extends dns.Resolver {
      constructor(options: ResolverOptions) {
        super(options);
        this.setServers([`127.0.0.1:${port}`]);
      }
    }
    const { Resolver } = dns;
    useResolver(LocalResolver);
    const destination = createDestination({ allowedNetworks });
    useResolver(Resolver);
    t.teardown(() => destination.close());

    let given = 0;
    const silent = Array.from({ length: 50 }, (_, n) =>
      failure(post(destination.dispatcher, `https://silent${n}.test`)).finally(() => {
        given += 1;
      }),
    );
    const checks = Array.from({ length: 50 }, (_, n) => destination.check(`https://unknown${n}.test/`));
    for (const name of ['inside4.test', 'inside6.test']) {
      t.type(await failure(post(destination.dispatcher, `https://${name}`)), BlockedAddress, name);
      t.match(await destination.check(`https://${name}/`), { code: 'blocked_address' });
    }
    // Of the names that the system itself looks up, as the database's, none waits for a thread.
    await dns.lookup('localhost');
    t.equal(given, 0, 'the others are still waiting');
    t.ok(asked.has('silent49.test') && asked.has('unknown49.test'));
    await destination.close();
    await Promise.all([...silent, ...checks]);
  });
}

t.test('attempts at one name share a look-up, and wait no longer than five seconds for it', async (t) => {
  const { port, questions } = await nameServer(t, {});
  class LocalResolver extends dns.Resolver {
    constructor(options: ResolverOptions) {
      super(options);
      this.setServers([`127.0.0.1:${port}`]);
    }
  }
  const { Resolver } = dns;
  useResolver(LocalResolver);
  const { lookup, close } = createNames({ local: false });
  useResolver(Resolver);
  t.teardown(close);
  const started = performance.now();
  const failures = await Promise.all(Array.from({ length: 100 }, () => failure(lookup('silent.test'))));
  t.ok(failures.every((one) => one instanceof UnresolvedHost));
  t.ok(performance.now() - started < 10_000);
  t.ok(questions() <= 2 * 3, `${questions()} questions: two kinds of address, with repeats`);
});

t.test('a malformed allowed network is refused at once', async (t) => {
  t.throws(() => createDestination({ allowedNetworks: ['10.0.0.0/33'] }));
  t.throws(() => createDestination({ allowedNetworks: ['localhost'] }));
});

/** What modules that are loaded already import from node:dns/promises. */
function useResolver(Resolver: typeof dns.Resolver): void {
  Object.assign(dns, { Resolver });
  syncBuiltinESMExports();
}

function open(t: Test, options: { allowedNetworks?: string[]; lookup?: Lookup } = {}): Destination {
  const destination = createDestination({ allowedNetworks: [], ...options });
  t.teardown(() => destination.close());
  return destination;
}

function asResponse(address: string): LookupAddress {
  return { address, family: isIPv6(address) ? 6 : 4 };
}

async function unknown(): Promise<never> {
  throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
}

async function neverAsked(): Promise<never> {
  throw new Error('a literal address was looked up');
}

async function post(dispatcher: Destination['dispatcher'], origin: string): Promise<string> {
  const { body } = await dispatcher.request({ origin, path: '/', method: 'POST', body: '{}' });
  return body.text();
}

async function failure(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => new Error('it succeeded'),
    (error: Error) => error,
  );
}

async function receiver(t: Test): Promise<{ port: number; connections: () => number }> {
  let connections = 0;
  const server = createServer((_request, response) => response.end('received'));
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

/** Answers A and AAAA questions about `names`, in the format of RFC 1035, section 4; is silent about all others. */
async function nameServer(t: Test, names: Record<string, string>) {
  const asked = new Set<string>();
  let questions = 0;
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address: client }) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const name = labels.join('.');
    asked.add(name);
    questions += 1;
    const address = names[name];
    if (address === undefined) return;
    const bytes = Buffer.from(ipaddr.parse(address).toByteArray());
    const matches = query.readUInt16BE(at + 1) === (bytes.length === 4 ? 1 : 28);
    const header = Buffer.from([0x81, 0x80, 0, 1, 0, matches ? 1 : 0, 0, 0, 0, 0]);
    const question = query.subarray(12, at + 5);
    const kind = query.subarray(at + 1, at + 5);
    const reply = Buffer.concat([Buffer.of(0xc0, 12), kind, Buffer.of(0, 0, 0, 0, 0, bytes.length), bytes]);
    const parts = [query.subarray(0, 2), header, question, ...(matches ? [reply] : [])];
    socket.send(Buffer.concat(parts), port, client);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.teardown(() => socket.close());
  return { port: socket.address().port, asked, questions: () => questions };
}

/** The first and last address of each block, where both tell something. */
const blockedAddresses = [
  ...['0.0.0.0', '0.255.255.255', '10.0.0.0', '10.255.255.255', '100.64.0.0', '100.127.255.255'],
  ...['127.0.0.0', '127.255.255.255', '169.254.0.0', '169.254.169.254', '169.254.255.255'],
  ...['172.16.0.0', '172.31.255.255', '192.0.0.0', '192.0.0.192', '192.0.0.255', '192.0.2.0', '192.0.2.255'],
  ...['192.88.99.0', '192.168.0.0', '192.168.255.255', '198.18.0.0', '198.19.255.255', '198.51.100.0'],
  ...['198.51.100.255', '203.0.113.0', '203.0.113.255', '224.0.0.0', '239.255.255.255', '240.0.0.0'],
  ...['255.255.255.254', '255.255.255.255', '168.63.129.16', '100.100.100.200'],
  ...[
    '::',
    '::1',
    '::2',
    '::a00:1',
    '::5db8:d70e',
    '::ffff:10.0.0.1',
    '::ffff:169.254.169.254',
    '::ffff:0:10.0.0.1',
  ],
  ...[
    '64:ff9b::',
    '64:ff9b::5db8:d70e',
    '64:ff9b:1::',
    '64:ff9b:1:ffff:ffff:ffff:ffff:ffff',
    '100::',
    '100::ffff',
  ],
  ...[
    '2001::',
    '2001:0:ffff:ffff:ffff:ffff:ffff:ffff',
    '2001:2::',
    '2001:2:0:ffff::',
    '2001:10::',
    '2001:1f::',
  ],
  ...['2001:20::', '2001:2f:ffff::', '2001:db8::', '2001:db8:ffff::', '2002::', '2002:5db8:d70e::', '3fff::'],
  ...[
    '3fff:fff:ffff::',
    '5f00::',
    '5f00:ffff::',
    'fc00::',
    'fd00:ec2::254',
    'fdff:ffff::',
    'fe80::',
    'febf::1',
  ],
  ...['fec0::', 'feff::1', 'ff00::', 'ff02::1', 'ffff::', '1000::', '4000::', '8000::'],
];

const publicAddresses = [
  ...[
    '1.0.0.0',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
  ],
  ...['169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '192.0.1.0', '192.167.255.255'],
  ...['192.169.0.0', '198.17.255.255', '198.20.0.0', '223.255.255.255', '168.63.129.17'],
  ...['2001:200::', '2001:4860:4860::8888', '2003::', '2606:2800:21f:cb07:6820:80da:af6b:8b2c', '3ffe::1'],
  '::ffff:93.184.215.14',
];
