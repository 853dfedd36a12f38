/** The client of hostile-bodies.test.ts, on a thread of its own: making and sending bodies must not hold the service. */
import { parentPort, workerData } from 'node:worker_threads';
import { request } from 'undici';
import type { Ids } from './example-calls.ts';
import { callsWithBody, pathOf } from './example-calls.ts';
import { type HostileBody, hostileBodies } from './hostile-bodies.ts';

export interface HostileClient {
  url: string;
  token: string;
  ids: Ids;
  /** Of bodies: every so many-th is sent. */
  share: number;
  /** Send these alone; absent: all. */
  only?: string[];
}

export interface HostileResult {
  what: string;
  bytes: number;
  status: number;
  /** Of the response. */
  text: string;
  ms: number;
}

const { url, token, ids, share, only }: HostileClient = workerData;

// What once held the process for seconds, or was a 500.
const measured = [
  'items.[].allergens. distinct texts',
  'items.[].allergens. two deep arrays',
  'items.[].photo_url. a long URL',
  'data.categories. fewer values than are counted',
  'body: brackets never closed',
  '500,000 columns',
  '40,000 wrong rows',
  'labels in a cell',
];

for (const call of callsWithBody) {
  if (call.example) {
    const { text, mediaType } = call.example;
    // So that no schema is compiled during a measurement.
    await send({ what: `${call.id} as it should be`, mediaType, body: () => text }, call);
    await send({ what: `${call.id} wrong`, mediaType, body: () => '[' }, call);
  }
  const limit = call.bodyLimit ?? 0;
  const isLarge = limit > 1_048_576;
  let index = 0;
  for (const hostile of hostileBodies(call, limit)) {
    index += 1;
    // Of the larger ones fewer, unless all are wanted.
    const isSpared = isLarge && share > 1 && hostile.mediaType === 'application/json';
    const isChosen = index % (isSpared ? share * Math.max(3, Math.ceil(limit / 2_097_152)) : share) === 0;
    if (isChosen || (isLarge && measured.some((one) => hostile.what.endsWith(one))))
      await send(hostile, call);
  }
  await send(
    {
      what: `${call.id} beyond its limit`,
      mediaType: call.body?.mediaTypes[0] ?? '',
      body: () => '['.repeat(limit + 1),
    },
    call,
  );
}

const importCall = callsWithBody.find(({ id }) => id === 'importMenu');
for (const { what, body, query } of largeMenus()) {
  if (importCall)
    await send({ what: `a menu of ${what}`, mediaType: 'application/json', body }, importCall, query);
}

async function send(
  { what, mediaType, body }: HostileBody,
  call: (typeof callsWithBody)[number],
  query = '',
): Promise<void> {
  const bytes = Buffer.from(body());
  if (only && !only.includes(what)) return;
  parentPort?.postMessage({ what });
  const started = performance.now();
  const { statusCode, text } = await responseTo(call, mediaType, bytes, query);
  const ms = performance.now() - started;
  parentPort?.postMessage({
    what,
    bytes: bytes.length,
    status: statusCode,
    text,
    ms,
  } satisfies HostileResult);
}

async function responseTo(
  call: (typeof callsWithBody)[number],
  mediaType: string,
  body: Buffer,
  query: string,
): Promise<{ statusCode: number; text: string }> {
  for (let tries = 1; ; tries += 1) {
    try {
      const response = await request(`${url}/api/v1${pathOf(call, ids)}${query}`, {
        method: call.method as 'POST',
        headers: { 'content-type': mediaType, authorization: `Bearer ${token}` },
        body,
        headersTimeout: 60_000,
      });
      return { statusCode: response.statusCode, text: await response.body.text() };
    } catch (error) {
      // The service ends the connection on which too much is sent, and this client may notice that first.
      if (tries === 10 || body.length <= (call.bodyLimit ?? 0)) throw error;
    }
  }
}

/** Documents that are right, as large as they come; what is written takes the database its time, so that is less. */
function largeMenus(): { what: string; body: () => string; query?: string }[] {
  const items = (count: number, price: number) =>
    Array.from({ length: count }, (_, index) => ({
      external_id: `I${index}`,
      name: `握り Nigiri ${index}`,
      description: 'Two pieces, hand-pressed, with a touch of wasabi and a brush of soy. '.repeat(8),
      price,
      allergens: ['fish', 'soy', 'wheat'],
    }));
  const menu = (count: number, price: number) => () =>
    JSON.stringify({ data: { categories: [{ external_id: 'C', name: 'C', items: items(count, price) }] } });
  const modifiers = (count: number, price: number) =>
    Array.from({ length: count }, (_, index) => ({
      external_id: `M${index}`,
      name: `温泉玉子 ${index}`,
      description: 'Slowly cooked at sixty-five degrees. '.repeat(6),
      price,
      modifier_groups: [] as object[],
    }));
  const groups = (count: number, price: number) => () => {
    const modifier_groups = Array.from({ length: count }, (_, index) => ({
      external_id: `G${index}`,
      name: `Toppings ${index}`,
      modifiers: modifiers(40, price),
    }));
    for (const [index, { modifiers }] of modifier_groups.entries())
      if (index % 5 > 0) modifiers[0]?.modifier_groups.push({ external_id: `G${index - 1}` });
    const uses = (index: number) => [0, 1, 2].map((next) => ({ external_id: `G${(index + next) % count}` }));
    const used = items(300, 1).map((item, index) => ({ ...item, modifier_groups: uses(index) }));
    const categories = [{ external_id: 'C', name: 'C', items: used }];
    return JSON.stringify({ data: { categories, modifier_groups } });
  };
  return [
    { what: '400 groups of 40 modifiers, on trial', body: groups(400, 1), query: '?dry_run=true' },
    { what: '50 groups of 40 modifiers, created', body: groups(50, 1) },
    { what: '50 groups of 40 modifiers, unchanged', body: groups(50, 1) },
    { what: '50 groups of 40 modifiers, updated', body: groups(50, 2) },
    { what: '10,000 items, on trial', body: menu(10_000, 1), query: '?dry_run=true' },
    { what: '2,000 items, created', body: menu(2_000, 1) },
    { what: '2,000 items, unchanged', body: menu(2_000, 1) },
    { what: '2,000 items, updated', body: menu(2_000, 2) },
    { what: 'nothing', body: () => '{"data":{"categories":[]}}' },
  ];
}
