import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import document from '../../generated/openapi.json' with { type: 'json' };
import { type Check, checks } from '../../src/contract/checks.ts';
import { withFormats } from '../../src/contract/formats.ts';
import type { ApiResponse } from '../support/api.ts';
import { makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

/*
 * The first contract had rules in its patterns that few tools could read. They are checks of the service now, or
 * plainer patterns; what was refused is still refused, and what was accepted is still accepted.
 */

const text = { type: 'string', pattern: '^[^\\u0000\\ud800-\\udfff]*$' };
const lines = {
  type: 'string',
  pattern: '^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\ud800-\\udfff]*$',
};
const line = { type: 'string', pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff]*$' };
const name = {
  type: 'string',
  pattern:
    '^[^\\S\\u0000-\\u001f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff][^\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff]*$',
};
const moment = {
  type: 'string',
  format: 'date-time',
  maxLength: 35,
  pattern:
    '^20\\d{2}-[01]\\d-[0-3]\\dT[0-2]\\d:[0-5]\\d:[0-5]\\d(\\.\\d{1,9})?(Z|[+-](0\\d|1[0-4]):[0-5]\\d)$',
};
const photo = { type: 'string', format: 'uri', maxLength: 2048, pattern: '^https?://[^/?#]' };
const webhook = {
  type: 'string',
  format: 'uri',
  minLength: 1,
  maxLength: 2048,
  pattern: '^https?://[^/?#@]+([/?][^#]*)?$',
};
const ajv = withFormats(new Ajv2020({ strict: false, unicodeRegExp: true }));
const ofLength = (schema: object, minLength: number, maxLength: number) => ({
  ...schema,
  minLength,
  maxLength,
});

/** What stood in the first contract, by the field. */
const rules = {
  item: {
    '/name': ofLength(name, 1, 255),
    '/description': ofLength(lines, 0, 4096),
    '/external_id': ofLength(text, 1, 255),
    '/photo_url': photo,
    '/allergens/0': ofLength(name, 1, 40),
    '/dietary_tags/0': ofLength(name, 1, 40),
  },
  location: {
    '/name': ofLength(name, 1, 255),
    '/address/line1': ofLength(name, 1, 255),
    '/address/line2': ofLength(line, 1, 255),
    '/address/city': ofLength(name, 1, 255),
    '/address/region': ofLength(line, 1, 255),
    '/address/postal_code': ofLength(line, 1, 16),
    '/phone': ofLength(line, 1, 32),
    '/external_id': ofLength(text, 1, 255),
  },
  filter: {
    q: ofLength(text, 1, 255),
    external_id: ofLength(text, 1, 255),
    'dietary_tag/0': ofLength(name, 1, 40),
    updated_since: moment,
  },
};

const characters = [
  ...Array.from({ length: 0xa1 }, (_, code) => String.fromCharCode(code)),
  ...'\u00ad\u1680\u180e\u2003\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufdd0\ufeff\ufffd\ufffe\uffff',
  ...['\ud800', '\udbff', '\udc00', '\udfff', '\udc00\ud800', '🍣', '𠮷', '\u{10ffff}', 'é', 'e\u0301'],
];
const texts = [
  '',
  ...characters.flatMap((one) => [one, `a${one}b`, ` ${one} `]),
  ...[16, 17, 32, 33, 64, 65, 255, 256].flatMap((length) => ['x'.repeat(length), '🍣'.repeat(length)]),
  ...['https://a', 'https://', 'http://?', 'https://a/b?c#d', 'https://a\nb', 'https://a@b/', 'ftp://a'],
];
const moments = [
  ...['2026-03-14T18:00:00Z', '2000-01-01T00:00:00Z', '2099-12-31T23:59:59Z', '2024-02-29T00:00:00Z'],
  ...['1999-12-31T23:59:59Z', '2100-01-01T00:00:00Z', '2026-02-29T00:00:00Z', '2026-13-01T00:00:00Z'],
  ...['2026-03-14t18:00:00z', '2026-03-14 18:00:00Z', '2026-03-14T18:00:00', '2026-03-14', 'today', ''],
  ...['2026-03-14T24:00:00Z', '2026-03-14T18:60:00Z', '2016-12-31T23:59:60Z', '2026-03-14T18:00Z'],
  ...['+14:00', '-14:59', '+15:00', '+05:3', '+0530', 'ZZ', ' Z', 'Z ', 'Z\n'].map(
    (end) => `2026-03-14T18:00:00${end}`,
  ),
  ...['.1', '.123456789', '.1234567891', '.', ',5'].map((part) => `2026-03-14T18:00:00${part}+09:00`),
  `2026-03-14T18:00:00.${'1'.repeat(5000)}Z`,
  '٢٠٢٦-03-14T18:00:00Z',
];

const service = await startTestService(t);
const { api } = service;
const { location, menu, item } = await makeTree(api);
const isRefused = (rule: object, value: unknown) => !ajv.validate(rule, value);

/** Of a text that was sent in all fields of the record at once: what is refused otherwise than it was, or nothing. */
function compare(record: keyof typeof rules, value: unknown, { status, body, text }: ApiResponse): string {
  const fields = Object.entries(rules[record]);
  const wanted = fields.filter(([, rule]) => isRefused(rule, value)).map(([field]) => field);
  const told: string[] = (body.errors ?? []).map(({ field }: { field: string }) => field);
  const refused = [...new Set(told)];
  if (status !== (wanted.length > 0 ? 422 : 200)) return `${status} ${text}`;
  return wanted.sort().join() === refused.sort().join() ? '' : `wanted ${wanted}, refused ${refused}`;
}

t.test('texts of bodies are refused as the first contract refused them', async (t) => {
  t.ok(texts.length > 500, `${texts.length} texts`);
  const wrong: string[] = [];
  for (const value of texts) {
    const fields = { name: value, description: value, external_id: value, photo_url: value };
    const ofItem = await api.put(`/menus/${menu.menu_id}/items/${item.item_id}`, {
      ...fields,
      allergens: [value],
      dietary_tags: [value],
    });
    const address = { line1: value, line2: value, city: value, region: value, postal_code: value };
    const ofLocation = await api.put(`/locations/${location.location_id}`, {
      name: value,
      external_id: value,
      phone: value,
      address: { ...address, country: 'JP' },
    });
    for (const found of [compare('item', value, ofItem), compare('location', value, ofLocation)])
      if (found) wrong.push(`${JSON.stringify(value)}: ${found}`);
  }
  t.strictSame(wrong, []);
});

t.test('texts of queries are refused as the first contract refused them', async (t) => {
  const wrong: string[] = [];
  const sendable = [...texts, ...moments].filter(
    (value) => value.isWellFormed() && encodeURIComponent(value).length < 1900,
  );
  for (const value of sendable) {
    const pairs = ['q', 'external_id', 'dietary_tag', 'updated_since'].map((name): [string, string] => [
      name,
      value,
    ]);
    const response = await api.get(`/menus/${menu.menu_id}/items?${new URLSearchParams(pairs)}`);
    const found = compare('filter', value, response);
    if (found) wrong.push(`${JSON.stringify(value)}: ${found}`);
  }
  t.strictSame(wrong, []);
});

t.test('moments are refused as the first contract refused them', async (t) => {
  const { webhook_id } = (await api.post('/webhooks', { url: 'https://127.0.0.1:9/hooks' })).body.data;
  for (const value of moments) {
    const refused = isRefused(moment, value);
    const path = `/menus/${menu.menu_id}/items/${item.item_id}`;
    // In the future or not is not a matter of the schema.
    const codes = (field: string, { body }: ApiResponse) =>
      (body.errors ?? [])
        .filter((error: { field: string; code: string }) => error.field === field)
        .map(({ code }: { code: string }) => code)
        .filter((code: string) => code !== 'past' && code !== 'future');
    const ofItem = await api.put(path, { is_available: false, unavailable_until: value });
    t.equal(codes('/unavailable_until', ofItem).length > 0, refused, `unavailable_until ${value}`);
    const ofReplay = await api.post(`/webhooks/${webhook_id}/replay`, { since: value });
    t.equal(codes('/since', ofReplay).length > 0, refused, `since ${value}`);
  }
});

t.test('URLs of webhooks are refused as the first contract refused them', async (t) => {
  for (const value of [
    ...texts,
    'https://a@b',
    'https://a/@',
    'https://a?b@c',
    'https://a#b',
    'https://a/#',
  ]) {
    const { body, status } = await api.post('/webhooks', { url: value, enabled: false });
    const ofSchema = (body.errors ?? []).filter(
      ({ code }: { code: string }) =>
        !['https_required', 'blocked_address', 'invalid_url', 'too_many'].includes(code),
    );
    t.equal(ofSchema.length > 0, isRefused(webhook, value), `${JSON.stringify(value)} ${status}`);
  }
});

t.test('an error says whether the characters of a text, its form or its years are wrong', async (t) => {
  const path = `/menus/${menu.menu_id}/items/${item.item_id}`;
  const from = (time: string) => ({ hours: { weekly: [{ days: ['fri'], from: time, minutes: 60 }] } });
  const characters = 'is blank or contains characters that are not allowed';
  const form = 'does not match its pattern in the contract';
  const years = 'is not a moment with an offset, in the years 2000 to 2099';
  for (const [url, body, message] of [
    [path, { name: 'Tea\0' }, characters],
    [path, from('24:00'), form],
    [path, { unavailable_until: '2100-01-01T00:00:00Z' }, years],
    ['/webhooks', { url: 'https://user@example.com/' }, form],
  ] as const) {
    const response = await (url === path ? api.put(url, body) : api.post(url, body));
    t.match(response, { status: 422, body: { errors: [{ code: 'characters', message }] } });
  }
});

t.test('patterns that are spelt differently match what they did', async (t) => {
  const { schemas, parameters, headers } = document.components;
  const pairs: [string, string][] = [
    [schemas.TokenRequest.properties.scope.pattern, '^[\\x20-\\x21\\x23-\\x5b\\x5d-\\x7e]*$'],
    [schemas.TokenRequest.properties.client_id.pattern, '^[\\x20-\\x7e]*$'],
    [schemas.TokenRequest.properties.client_secret.pattern, '^[\\x20-\\x7e]*$'],
    [schemas.OAuthError.properties.error_description.pattern, '^[\\x20-\\x21\\x23-\\x5b\\x5d-\\x7e]+$'],
    [parameters.IdempotencyKey.schema.pattern, '^[\\x20-\\x7e]+$'],
    [headers.ETag.schema.pattern, '^"[\\x21\\x23-\\x7e]+"$'],
  ];
  const quoted = texts.flatMap((one) => [one, `"${one}"`]);
  for (const [now, first] of pairs) {
    const [is, was] = [new RegExp(now, 'u'), new RegExp(first, 'u')];
    t.strictSame(
      quoted.filter((one) => is.test(one) !== was.test(one)),
      [],
      now,
    );
    t.ok(quoted.some((one) => was.test(one)) && quoted.some((one) => !was.test(one)), now);
  }
});

t.test(
  'prices have three decimal places: each of ten thousand is accepted, and none with a fourth',
  async (t) => {
    const thousandths = checks['thousandths'] as Extract<Check, { type: 'number' }>;
    for (const whole of [0, 999_999_990]) {
      const prices = Array.from({ length: 10_000 }, (_, count) => (whole * 1000 + count) / 1000);
      t.strictSame(
        prices.filter((price) => !thousandths.holds(price)),
        [],
      );
      t.strictSame(
        prices.filter((price) => thousandths.holds(price + 0.0001) || thousandths.holds(price + 0.000001)),
        [],
      );
    }
    const send = (price: string) =>
      api.put(`/menus/${menu.menu_id}/items/${item.item_id}`, undefined, {
        body: `{"price":${price}}`,
        headers: { 'content-type': 'application/json' },
      });
    for (const price of ['0.07', '0.29', '4.35', '0.57', '8192.03', '999999.98', '999999999.98']) {
      t.equal((await send(price)).status, 200, price);
      for (const more of ['1', '0001']) t.equal((await send(price + more)).status, 422, price + more);
    }
  },
);
