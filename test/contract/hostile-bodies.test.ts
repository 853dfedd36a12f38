import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import document from '../../generated/openapi.json' with { type: 'json' };
import { largestBody } from '../../scripts/breaking/largest-body.ts';
import { listedErrors } from '../../src/http/errors.ts';
import { longestSlices } from '../support/longest-slices.ts';
import { startTestService } from '../support/service.ts';
import { callsWithBody, existingRecords } from './example-calls.ts';
import type { HostileClient, HostileResult } from './hostile-client.ts';

// What a request beside a hostile one may wait, in ms of processor time.
const longestWait = 50;
// Of the several thousand bodies, one in so many; TEST_MINUTES=60 HOSTILE=1 sends all of them.
const share = Number(process.env['HOSTILE'] ?? 13);

t.test('every operation with a body states its limit, which admits what its schema permits', async (t) => {
  for (const { id, method, path, bodyLimit } of callsWithBody) {
    const paths = document.paths as unknown as Record<string, Record<string, object>>;
    const largest = largestBody(document, paths[path]?.[method.toLowerCase()] ?? {});
    const limit = bodyLimit ?? 0;
    t.ok(limit >= Math.min(largest, 1_048_576), `${id}: ${largest} bytes, limit ${limit}`);
    t.ok(limit <= Math.max(16_384, largest * 4), `${id}: not far more than that`);
  }
});

t.test(
  'no body, however hostile, keeps another request waiting, and each is refused for what it is',
  async (t) => {
    const service = await startTestService(t);
    const { ids, token } = { ids: await existingRecords(service), token: await service.api.token() };
    const slices = longestSlices(t);
    const sent = async (only?: string[]) => {
      const results: (HostileResult & { wait: number })[] = [];
      const client = new Worker(new URL('./hostile-client.ts', import.meta.url), {
        workerData: {
          ...{ url: service.url, ids, token: `${token}`, share },
          ...(only && { only }),
        } satisfies HostileClient,
      });
      client.on('message', (message?: HostileResult | { what: string }) => {
        if (message && 'status' in message) results.push({ ...message, wait: slices.takeLongest() });
        else slices.takeLongest();
      });
      await once(client, 'exit');
      return results;
    };
    const seen = await sent();
    // What a body costs it costs each time; a collection of garbage comes now and then.
    const slow = () => seen.filter(({ wait }) => wait > longestWait).map(({ what }) => what);
    for (let again = 0; again < 2 && slow().length > 0; again += 1)
      for (const { what, wait } of await sent(slow()))
        for (const one of seen) if (one.what === what) one.wait = Math.min(one.wait, wait);

    for (const result of seen) checkResponse(t, result);
    const worst = seen.toSorted((a, b) => b.wait - a.wait).slice(0, 5);
    t.comment(worst.map(({ what, wait, status }) => `${wait.toFixed(0)} ms: ${what}, ${status}`).join('\n'));
    t.ok(seen.length > 200, `${seen.length} bodies`);
  },
);

function checkResponse(t: Test, { what, status, text, wait, ms }: HostileResult & { wait: number }): void {
  if (/as it should be$/.test(what)) return;
  const wanted = what.startsWith('a menu')
    ? 200
    : /beyond its limit$/.test(what)
      ? 413
      : /^(issue|revoke)Token/.test(what)
        ? 400
        : 422;
  if (status !== wanted) t.equal(status, wanted, what);
  if (status !== 200 && text.length > 200_000) t.fail(`${what}: a response of ${text.length} bytes`);
  if (status === 422 && JSON.parse(text).errors.length > listedErrors) t.fail(`${what}: too many errors`);
  if (wait > longestWait) t.fail(`${what}: the process was held for ${wait.toFixed(0)} ms`);
  if (ms > 30_000) t.fail(`${what}: took ${ms} ms`);
}
