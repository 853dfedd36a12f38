import { Readable } from 'node:stream';
import t from 'tap';
import { request } from 'undici';
import { bodyLimit } from '../../src/contract/bodies.ts';
import type { Api } from '../support/api.ts';
import { startTestService } from '../support/service.ts';
import { callsWithBody, type ExampleCall, existingRecords, pathOf } from './example-calls.ts';

const jsonCalls = callsWithBody.filter(({ body }) => body?.mediaTypes.includes('application/json'));
const formCalls = callsWithBody.filter(({ example }) => example?.mediaType.includes('form'));

const sendAs = (api: Api, call: ExampleCall, path: string, mediaType: string, body: string | Buffer) =>
  api.call(call.method, path, { body, headers: { 'content-type': mediaType } });

const parameterError = { status: 422, body: { title: 'Parameter Error', code: 'parameter_error' } };

t.test('every operation with a body refuses the media types it does not declare', async (t) => {
  const service = await startTestService(t);
  const { api } = service;
  const ids = await existingRecords(service);
  for (const call of callsWithBody) {
    const path = pathOf(call, ids);
    const body = call.example?.text ?? '';
    const refused = ['text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'application/json']
      .filter((one) => !call.body?.mediaTypes.includes(one))
      .concat('nonsense', 'application/json-patch+json');
    for (const mediaType of refused) {
      const response = await sendAs(api, call, path, mediaType, body);
      t.match(response, { status: 415, body: { code: 'unsupported_media_type' } }, `${call.id} ${mediaType}`);
      t.match(response.body.detail, call.body?.mediaTypes[0], 'and says what it takes');
    }
    t.equal((await api.call(call.method, path, { body })).status, 415, `${call.id} without a media type`);
    const packed = { 'content-type': call.example?.mediaType ?? '', 'content-encoding': 'gzip' };
    const ofPacked = await api.call(call.method, path, { body, headers: packed });
    t.equal(ofPacked.status, 415, `${call.id} gzip`);
    t.match(ofPacked.body.detail, 'without a Content-Encoding', 'and says that this is the reason');
  }
});

t.test('every operation with a body refuses one above the limit, announced or not', async (t) => {
  const service = await startTestService(t);
  const { api, url } = service;
  const ids = await existingRecords(service);
  for (const call of callsWithBody) {
    const path = pathOf(call, ids);
    const mediaType = call.example?.mediaType ?? '';
    const limit = call.bodyLimit ?? bodyLimit;
    const tooLarge = (call.example?.text ?? '').padEnd(limit + 1);
    const response = await sendAs(api, call, path, mediaType, tooLarge);
    t.match(response, { status: 413, body: { code: 'payload_too_large' } }, call.id);

    const chunked = await request(`${url}/api/v1${path}`, {
      method: call.method as 'POST',
      headers: { 'content-type': mediaType, authorization: `Bearer ${await api.token()}` },
      body: Readable.from(Array.from({ length: 17 }, () => Buffer.alloc(limit / 16, 32))),
    });
    await chunked.body.dump();
    t.equal(chunked.statusCode, 413, `${call.id} chunked`);
  }
});

const notJson: Record<string, string | Buffer> = {
  nothing: '',
  'white space': ' \n',
  'a broken object': '{',
  'a broken word': 'nul',
  'a trailing comma': '{"name":"x",}',
  'two values': '{} {}',
  'single quotes': "{'name':'x'}",
  NaN: '{"price":NaN}',
  'a raw line break in text': '{"name":"a\nb"}',
  'invalid UTF-8': Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
  'a surrogate encoded as UTF-8': Buffer.from('7b226e616d65223a22eda080227d', 'hex'),
  'an overlong encoding': Buffer.from('7b226e616d65223a22c080227d', 'hex'),
  'UTF-16': Buffer.from('{"name":"x"}', 'utf16le'),
};

const notObjects = ['null', 'true', '1', '"text"', '[]', '[{}]'];

t.test('every operation with a JSON body refuses what is not the JSON it wants', async (t) => {
  const service = await startTestService(t);
  const ids = await existingRecords(service);
  for (const call of jsonCalls) {
    const path = pathOf(call, ids);
    const bodies = { ...notJson, ...Object.fromEntries(notObjects.map((one) => [one, one])) };
    for (const [what, body] of Object.entries(bodies)) {
      const response = await sendAs(service.api, call, path, 'application/json', body);
      t.match(response, parameterError, `${call.id}: ${what}`);
      t.match(response.body.errors, [{ field: '' }], 'the fault is the body as a whole');
    }
  }
});

t.test('every text of a JSON body refuses NUL and lone surrogates', async (t) => {
  const service = await startTestService(t);
  const ids = await existingRecords(service);
  for (const call of jsonCalls) {
    for (const field of call.textFields) {
      for (const text of ['"a\\u0000b"', '"a\\ud800b"', '"a\\udfffb"', '"\\ude00\\ud83d"']) {
        const body = `{"${field}":${text}}`;
        const response = await sendAs(service.api, call, pathOf(call, ids), 'application/json', body);
        t.match(response, parameterError, `${call.id} ${body}`);
        t.ok(response.body.errors.some((error: { field: string }) => error.field === `/${field}`));
      }
    }
  }
});

t.test(
  'an operation with a form refuses in the shape of RFC 6749 what is not the form it wants',
  async (t) => {
    const { api } = await startTestService(t);
    const faults = ['', 'scope=menus%3Aread', 'grant_type=client_credentials&scope=%00', '%'].concat(
      'grant_type=client_credentials&grant_type=client_credentials',
      'grant_type=client_credentials&client_id=%ED%A0%80&client_secret=x',
      'grant_type=client_credentials&client_id=%FF&client_secret=x',
    );
    for (const call of formCalls) {
      for (const body of faults) {
        const response = await api.call(call.method, call.path, {
          token: null,
          body,
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        });
        t.match(response, { status: 400, body: { error: 'invalid_request' } }, `${call.id} ${body}`);
        t.equal(response.headers['cache-control'], 'no-store');
      }
    }
  },
);
