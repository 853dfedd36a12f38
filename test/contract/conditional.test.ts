import t from 'tap';
import type { Api } from '../support/api.ts';
import { checksumOf } from '../support/checksum.ts';
import { startTestService } from '../support/service.ts';
import {
  callWith,
  type ExampleCall,
  exampleCalls,
  existingRecords,
  type Ids,
  pathOf,
} from './example-calls.ts';

// A path that ends in an id is a single resource.
const single = exampleCalls.filter(({ path }) => path.endsWith('}'));
const reads = exampleCalls.filter(({ statuses }) => statuses.includes(304));
const writes = exampleCalls.filter(({ statuses }) => statuses.includes(412));

t.test(
  'the contract has If-None-Match on each single resource, and If-Match on each write of one',
  async (t) => {
    for (const { id, method } of single)
      t.ok(
        (method === 'GET' ? reads : writes).some((call) => call.id === id),
        id,
      );
  },
);

t.test('If-None-Match: a current copy is answered 304, any other the resource', async (t) => {
  const service = await startTestService(t);
  const ids = await existingRecords(service);
  const ask = (call: ExampleCall, tag: string) =>
    service.api.get(pathOf(call, ids), { headers: { 'if-none-match': tag } });
  for (const call of reads) {
    const { headers, text } = await callWith(service.api, call, ids);
    const etag = String(headers['etag']);
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, `"other",${etag},"more"`, '*']) {
      const answer = await ask(call, tag);
      t.equal(answer.status, 304, `${call.id} ${tag}`);
      t.equal(answer.headers['etag'], etag);
      t.equal(answer.text, '');
    }
    for (const tag of ['"other"', 'W/"other"', etag.slice(1, -1), '']) {
      const answer = await ask(call, tag);
      t.equal(answer.status, 200, `${call.id} ${tag}`);
      t.equal(answer.text, text);
    }
  }
});

t.test(
  'If-Match: a write for another state, or with a weak tag, is answered 412 and changes nothing',
  async (t) => {
    const service = await startTestService(t);
    const ids = await existingRecords(service);
    const { account_id } = service.api.credentials;
    const before = await checksumOf(service.database, account_id);
    for (const call of writes) {
      const current = await etagOf(service.api, call, ids);
      for (const tag of ['"other"', `W/${current}`, `"other", W/${current}`]) {
        const answer = await service.api.call(call.method, pathOf(call, ids), {
          ...(call.example && { body: call.example.text }),
          headers: { ...(call.example && { 'content-type': call.example.mediaType }), 'if-match': tag },
        });
        t.equal(answer.status, 412, `${call.id} ${tag}`);
      }
    }
    t.strictSame(await checksumOf(service.database, account_id), before);
  },
);

/** The tag of the record that the call writes: what its path names, or what a last word like `toggle` is about. */
async function etagOf(api: Api, { path }: ExampleCall, ids: Ids): Promise<string> {
  const record = path.replace(/\/\w+$/, '');
  const read = reads.find((call) => call.path === path) ?? reads.find((call) => call.path === record);
  if (!read) throw new Error(`nothing reads ${path}`);
  return String((await callWith(api, read, ids)).headers['etag']);
}
