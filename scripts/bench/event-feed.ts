import pg from 'pg';
import type { Bench, Rig, Table } from './bench.ts';
import type { BenchServer } from './rig/server.ts';
import { type Service, startService } from './rig/service.ts';
import { quantile } from './rig/webhooks.ts';

const table: Table = {
  heading: ['a page of GET /events, median ms', 'a small feed', 'a large one', 'large ÷ small'],
  notes: [
    'The service on feeds of two sizes, read by one client, one call after the other. The events are spread over 200 ' +
      'menus; their payloads are short, so that the figures are those of finding them.',
  ],
};

/** The pages that readers ask for, from the start of the feed unless they have seen all of it. */
const pages: { about: string; query: string; hasSeenAll?: boolean }[] = [
  { about: 'nothing new', query: 'limit=200', hasSeenAll: true },
  { about: 'the first 100', query: 'limit=100' },
  { about: 'one of a menu', query: 'limit=1&menu_id=100' },
  { about: 'a type that never came', query: 'type=menu.deleted' },
  { about: 'a type that never came in a menu', query: 'menu_id=100&type=menu.deleted' },
  { about: 'two types of which one never came', query: 'limit=100&type=item.toggled&type=menu.deleted' },
];

export const eventFeed: Bench = {
  name: 'eventFeed',
  about: 'pages of the event feed, of 10,000 and of 5,000,000 events (takes minutes)',
  table,
  async run({ server, options, say }: Rig) {
    const sizes = options.quick ? [10_000, 200_000] : [10_000, 5_000_000];
    const medians: number[][] = [];
    for (const size of sizes) {
      say(`eventFeed: filling a feed of ${size.toLocaleString('en')} events`);
      await fill(server, size);
      const service = await startService(server, { ...options.environment, ROLE: 'api' });
      try {
        medians.push(await measure(service, options.quick ? 40 : 300));
      } finally {
        await service.stop();
      }
    }
    const [small = [], large = []] = medians;
    return pages.map(({ about }, n) => {
      const [of10k = Number.NaN, of5m = Number.NaN] = [small[n], large[n]];
      say(`eventFeed: ${about}: ${of10k.toFixed(2)} → ${of5m.toFixed(2)} ms`);
      return [about, of10k.toFixed(2), of5m.toFixed(2), (of5m / of10k).toFixed(2)];
    });
  },
};

async function measure(service: Service, rounds: number): Promise<number[]> {
  const end = await lastCursor(service);
  const medians: number[] = [];
  for (const { query, hasSeenAll } of pages) {
    const times: number[] = [];
    for (let n = 0; n < rounds; n += 1) {
      const started = performance.now();
      await read(service, hasSeenAll ? `${query}&cursor=${end}` : query);
      times.push(performance.now() - started);
    }
    medians.push(quantile(times, 0.5));
  }
  return medians;
}

/** Uses a filter that matches nothing, so that one page leads to the end. */
async function lastCursor(service: Service): Promise<string> {
  return (await read(service, 'type=menu.deleted')).resume_cursor;
}

async function read({ origin, token }: Service, query: string): Promise<{ resume_cursor: string }> {
  const response = await fetch(`${origin}/api/v1/events?${query}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  if (!response.ok) throw new Error(`GET /events?${query} returned ${response.status}`);
  return (await response.json()) as { resume_cursor: string };
}

/** Replaces all events with `size` of the bench's account, as the relay would have listed them. */
async function fill({ connection, data }: BenchServer, size: number): Promise<void> {
  const client = new pg.Client({ ...connection, ssl: false });
  await client.connect();
  try {
    await client.query('truncate event, outbox, feed, account_feed, delivery cascade');
    const { rows } = await client.query('select account_id from client where client_id = $1', [
      data.client_id,
    ]);
    const account = rows[0].account_id;
    await client.query(
      `insert into event (event_id, account_id, type, record, location_id, menu_id, payload)
       select uuidv7(make_interval(secs => n - $2::int)), $1, 'item.toggled', 'item:' || n % 20000, 1, n % 200, '{}'
       from generate_series(1, $2::int) as n`,
      [account, size],
    );
    await client.query(
      `insert into feed (account_id, epoch, position, event_id, type, record, location_id, menu_id)
       select account_id, 0, row_number() over (order by event_id), event_id, type, record, location_id, menu_id from event`,
    );
    await client.query(
      `insert into account_feed (account_id, epoch, position, event_id)
       select account_id, epoch, position, event_id from feed order by position desc limit 1`,
    );
    await client.query('vacuum analyze event, feed');
  } finally {
    await client.end();
  }
}
