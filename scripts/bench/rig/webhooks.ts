import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Bench, Rig, Table } from '../bench.ts';
import { type Child, startChild } from './child.ts';
import { percentile } from './closed-loop.ts';
import type { PacedRound } from './paced-writes.ts';
import type { Received, ReceiverQuestion } from './receiver.ts';
import { type Service, startService } from './service.ts';

const table: Table = {
  heading: ['webhooks', 'figure', 'target'],
  notes: [
    'One process of the service with all roles; signed deliveries over HTTP to endpoints with their ' +
      'own origins, served by another process that verifies every hundredth signature; every attempt is logged.',
  ],
};

/** What a bench of deliveries works with. */
export interface Scene extends Rig {
  service: Service;
  receiver: Child<ReceiverQuestion, Received>;
  /** Runs SQL on the service's database. */
  query(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  /** Registers endpoints for all events, each at another origin of the receiver, from the n-th on. */
  subscribe(paths: string[], settings?: { enabled?: boolean; from?: number }): Promise<Endpoint[]>;
  /** Toggles items at a steady rate. */
  write(perSecond: number, seconds: number): Promise<void>;
}

export interface Endpoint {
  webhook_id: number;
  url: string;
  secret: string;
}

/** A bench of deliveries, on tables without events and endpoints. */
export function webhookBench(
  name: string,
  about: string,
  play: (scene: Scene) => Promise<string[][]>,
): Bench {
  return { name, about, table, run: (rig) => setScene(rig, play) };
}

async function setScene(rig: Rig, play: (scene: Scene) => Promise<string[][]>): Promise<string[][]> {
  const { server, options } = rig;
  const client = new pg.Client({ ...server.connection, ssl: false });
  await client.connect();
  const query: Scene['query'] = async (text, values) => (await client.query(text, values)).rows;
  await query('truncate event, outbox, feed, account_feed, delivery, webhook cascade');
  const service = await startService(server, options.environment);
  const receiver = startChild<ReceiverQuestion, Received>('receiver.ts');
  const writer = startChild<PacedRound, number>('paced-writes.ts');
  try {
    return await play({
      ...rig,
      service,
      receiver,
      query,
      subscribe: (paths, settings) => subscribe(service, receiver, paths, settings),
      async write(perSecond, seconds) {
        const calls = server.data.items.map(({ menu_id, item_id }) => ({
          method: 'POST' as const,
          path: `/menus/${menu_id}/items/${item_id}/toggle`,
        }));
        await writer.ask({ origin: service.origin, token: service.token, calls, perSecond, seconds });
      },
    });
  } finally {
    await receiver.ask({ kind: 'release' }).catch(() => {});
    await Promise.all([receiver.stop(), writer.stop(), service.stop()]);
    await client.end();
  }
}

async function subscribe(
  service: Service,
  receiver: Scene['receiver'],
  paths: string[],
  { enabled = true, from = 0 } = {},
): Promise<Endpoint[]> {
  const { origins } = await receiver.ask({ kind: 'read' });
  const endpoints: Endpoint[] = [];
  for (const [index, path] of paths.entries()) {
    const url = `${origins[from + index]}${path}`;
    const answer = await call(service, 'POST', '/webhooks', { url, enabled });
    endpoints.push(answer['data'] as Endpoint);
  }
  const secrets = endpoints.map(({ url, secret }) => [new URL(url).pathname, secret]);
  await receiver.ask({ kind: 'reset', secrets: Object.fromEntries(secrets) });
  return endpoints;
}

/** One call of the API beside the load. @throws unless it succeeds. */
export async function call(
  { origin, token }: Service,
  method: string,
  path: string,
  json?: object,
): Promise<Record<string, unknown>> {
  const response = await fetch(`${origin}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(json && { 'content-type': 'application/json' }) },
    ...(json && { body: JSON.stringify(json) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} returned ${response.status} ${text}`);
  return text === '' ? {} : JSON.parse(text);
}

/** Adds `count` events at once, as if as many items had been toggled: copies of a real one, each for another record. */
export async function makeEvents({ write, query }: Scene, count: number): Promise<void> {
  await write(1, 1);
  await query(
    `with copies as (
       insert into event (event_id, account_id, type, record, location_id, menu_id, payload)
       select uuidv7(), account_id, type, 'item:' || 1000000 + n, location_id, menu_id, payload
       from (select * from event limit 1) as one, generate_series(1, $1::int) as n
       returning account_id, event_id
     )
     insert into outbox (account_id, event_id) select account_id, event_id from copies`,
    [count],
  );
}

/** Waits until a number reaches its goal; gives up when it stops moving. */
export async function until(
  wanted: number,
  count: () => Promise<number>,
  { patienceMs = 20_000, everyMs = 200 } = {},
): Promise<void> {
  let last = -1;
  let since = performance.now();
  for (;;) {
    const now = await count();
    if (now >= wanted) return;
    if (now !== last) [last, since] = [now, performance.now()];
    if (performance.now() - since > patienceMs) throw new Error(`stands still at ${now} of ${wanted}`);
    await sleep(everyMs);
  }
}

export function quantile(values: readonly number[], share: number): number {
  return percentile(
    values.toSorted((a, b) => a - b),
    share,
  );
}
