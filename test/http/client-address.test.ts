import type { IncomingMessage } from 'node:http';
import t from 'tap';
import { clientAddress, networkOf } from '../../src/http/client-address.ts';

const proxies = ['10.0.0.0/8', 'fd00::/8'];

/** The address found in a request that arrives from 10.0.0.1, a trusted proxy, unless told otherwise. */
function found(headers: Record<string, string>, remoteAddress = '10.0.0.1', trusted = proxies): string {
  const request = { socket: { remoteAddress }, headers } as unknown as IncomingMessage;
  return String(clientAddress(trusted)(request));
}

t.test('without trusted proxies, or from elsewhere, no header is trusted', async (t) => {
  const headers = { 'x-forwarded-for': '198.51.100.1', forwarded: 'for=198.51.100.1' };
  t.equal(found(headers, '10.0.0.1', []), '10.0.0.1');
  t.equal(found(headers, '192.0.2.7'), '192.0.2.7');
  t.equal(found(headers, '2001:db8::7'), '2001:db8::7');
  t.equal(found({}), '10.0.0.1', 'a proxy that says nothing is the client');
});

t.test('the client is the first address from the right that is not trusted', async (t) => {
  const cases: Record<string, string> = {
    '198.51.100.1': '198.51.100.1',
    '203.0.113.9, 198.51.100.1': '198.51.100.1',
    '198.51.100.1,10.1.1.1 ,\t10.2.2.2': '198.51.100.1',
    '203.0.113.9, fd00::5, 10.2.2.2': '203.0.113.9',
    '10.3.3.3, 10.2.2.2': '10.3.3.3',
    '2001:db8::1': '2001:db8::1',
    '[2001:db8::1]:443': '2001:db8::1',
    '[2001:db8::1]': '2001:db8::1',
    '198.51.100.1:5000': '198.51.100.1',
    '::ffff:198.51.100.1': '198.51.100.1',
    '203.0.113.9, ::ffff:10.2.2.2': '203.0.113.9',
  };
  for (const [sent, address] of Object.entries(cases))
    t.equal(found({ 'x-forwarded-for': sent }), address, sent);
  t.equal(found({ 'x-forwarded-for': '198.51.100.1' }, '::ffff:10.0.0.1'), '198.51.100.1', 'a mapped proxy');
  const long = Array.from({ length: 3_000 }, () => '10.9.9.9').join(',');
  t.equal(found({ 'x-forwarded-for': `198.51.100.1,${long}` }), '10.9.9.9', 'no endless chain is followed');
});

t.test('an entry that is not an address ends the search at the proxy that wrote it', async (t) => {
  for (const entry of [
    ...[
      '',
      'unknown',
      '_hidden',
      'localhost',
      '127.1',
      '010.0.0.9',
      '256.1.1.1',
      '198.51.100.1:',
      '1',
      '::1%lo]',
    ],
    ...[
      '198.51.100.1:http',
      '2001:db8::1]',
      '[2001:db8::1',
      '[198.51.100.1]',
      '<script>',
      '198.51.100.1 10.0.0.2',
    ],
  ]) {
    t.equal(found({ 'x-forwarded-for': `203.0.113.9, ${entry}` }), '10.0.0.1', `"${entry}"`);
    t.equal(
      found({ 'x-forwarded-for': `203.0.113.9, ${entry}, 10.2.2.2` }),
      '10.2.2.2',
      `"${entry}", then a proxy`,
    );
  }
});

t.test('Forwarded is read as RFC 7239 writes it', async (t) => {
  const cases: Record<string, string> = {
    'for=198.51.100.1': '198.51.100.1',
    'For=198.51.100.1;proto=https;by=10.0.0.1;host=menus.example.com': '198.51.100.1',
    'proto=https; for="198.51.100.1:47011"': '198.51.100.1',
    'for="[2001:db8::1]:4711"': '2001:db8::1',
    'for="\\[2001:db8::1]"': '2001:db8::1',
    'for=203.0.113.9, for=198.51.100.1, for=10.2.2.2;host="a;b\\"c"': '198.51.100.1',
    'for="203.0.113.9, for=198.51.100.1': '198.51.100.1',
    // From here on nothing is believed.
    'for="198.51.100.1': '10.0.0.1',
    'for=[2001:db8::1]': '10.0.0.1',
    'proto=https': '10.0.0.1',
    'for=unknown': '10.0.0.1',
    'for=_gateway': '10.0.0.1',
    'for=198.51.100.1;for=203.0.113.9': '10.0.0.1',
    'for=198.51.100.1;': '10.0.0.1',
    'for=198.51.100.1 proto=https': '10.0.0.1',
    '198.51.100.1': '10.0.0.1',
    'for=198.51.100.1;host="evil, for=203.0.113.9"': '10.0.0.1',
    'for=198.51.100.1;host="evil, for=\\"203.0.113.9"': '10.0.0.1',
  };
  for (const [sent, address] of Object.entries(cases)) t.equal(found({ forwarded: sent }), address, sent);
});

t.test('neither of two headers that disagree is trusted', async (t) => {
  const both = (one: string, other: string) => found({ 'x-forwarded-for': one, forwarded: other });
  t.equal(both('198.51.100.1', 'for=198.51.100.1'), '198.51.100.1');
  t.equal(both('2001:db8::1', 'for="[2001:DB8:0::1]"'), '2001:db8::1');
  t.equal(both('198.51.100.1', 'for=203.0.113.9'), '10.0.0.1');
  t.equal(both('198.51.100.1', 'nonsense'), '10.0.0.1');
});

t.test('an IPv6 client is counted by its /64', async (t) => {
  const network = (address: string) =>
    networkOf(clientAddress([])({ socket: { remoteAddress: address }, headers: {} } as never));
  t.equal(network('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64');
  t.equal(network('2001:db8:1:2::'), '2001:db8:1:2::/64');
  t.not(network('2001:db8:1:3::'), '2001:db8:1:2::/64');
  t.equal(network('fe80::1%eth0'), 'fe80::/64');
  t.equal(network('198.51.100.1'), '198.51.100.1');
  t.equal(network('::ffff:198.51.100.1'), '198.51.100.1');
});
