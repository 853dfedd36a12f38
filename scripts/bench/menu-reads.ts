import type { Bench, Rig, Table } from './bench.ts';
import { type Child, startChild } from './rig/child.ts';
import type { Sample } from './rig/closed-loop.ts';
import { apiSide, median, rate } from './rig/comparison.ts';
import type { BenchData } from './rig/data.ts';
import type { Call, HttpRound } from './rig/http-load.ts';
import type { PacedRound } from './rig/paced-writes.ts';
import { type ProcessorTime, processorTime } from './rig/processor-time.ts';
import { type Service, startService } from './rig/service.ts';

const table: Table = {
  heading: [
    'reads of one menu',
    'Accept-Encoding',
    'toggles /s',
    'connections',
    'service',
    '/s',
    'p50 ms',
    'p99 ms',
    'CPU µs',
    'event loop µs',
    'CPU ÷ against',
  ],
  notes: [
    'One process of the service (ROLE=api); all connections read the same menu, in which other calls toggle items ' +
      'meanwhile. With --against, that checkout takes turns with this one. Figures are medians of the rounds; processor time is that ' +
      'of the service for each read, of all its threads and of the one that runs the event loop.',
  ],
};

const menus: { items: number; of(data: BenchData): { menu_id: number; item_ids: number[] } }[] = [
  { items: 60, of: ({ items: [item] }) => ({ menu_id: item?.menu_id ?? 0, item_ids: [item?.item_id ?? 0] }) },
  { items: 500, of: ({ largeMenus: [menu] }) => menu ?? { menu_id: 0, item_ids: [] } },
  { items: 5_000, of: ({ hugeMenu: { menu_id, item_ids } }) => ({ menu_id, item_ids }) },
];
const codings = ['–', 'gzip', 'br'];
const togglesPerSecond = [0, 10];

/** Reads of a menu, compressed and not, with and without writes to it. */
export const menuReads: Bench = {
  name: 'menuReads',
  about: 'one menu of 60, 500 or 5,000 items, compressed and not, while its items are toggled',
  table,
  async run(rig) {
    const { server, options } = rig;
    const directories = [undefined, ...(options.against === undefined ? [] : [options.against])];
    const reading = startChild<HttpRound, Sample>('http-load.ts');
    const writing = startChild<PacedRound, number>('paced-writes.ts');
    const environment = { ROLE: 'api', ...options.environment };
    const services = await Promise.all(directories.map((one) => startService(server, environment, one)));
    try {
      const rows: string[][] = [];
      for (const menu of menus)
        for (const coding of codings)
          for (const toggles of togglesPerSecond)
            for (const connections of options.connections)
              rows.push(
                ...(await measure(
                  rig,
                  { reading, writing, services },
                  { ...menu, coding, toggles, connections },
                )),
              );
      return rows;
    } finally {
      await Promise.all([reading.stop(), writing.stop(), ...services.map((service) => service.stop())]);
    }
  },
};

interface Parts {
  reading: Child<HttpRound, Sample>;
  writing: Child<PacedRound, number>;
  services: Service[];
}

interface Case {
  items: number;
  of(data: BenchData): { menu_id: number; item_ids: number[] };
  coding: string;
  toggles: number;
  connections: number;
}

async function measure(
  { server, options, say }: Rig,
  { reading, writing, services }: Parts,
  { items, of, coding, toggles, connections }: Case,
): Promise<string[][]> {
  const { menu_id, item_ids } = of(server.data);
  const headers = coding === '–' ? {} : { 'accept-encoding': coding };
  const read: Call = { method: 'GET', path: `/menus/${menu_id}`, headers };
  const writes: Call[] = item_ids.map((id) => ({
    method: 'POST',
    path: `/menus/${menu_id}/items/${id}/toggle`,
  }));
  const { seconds } = options;
  const rounds: Measured[][] = services.map(() => []);
  for (let round = 0; round < options.rounds; round++) {
    for (const [index, service] of services.entries()) {
      const { origin, token } = service;
      const side = await apiSide(reading, service, [[read]], { connections, seconds: 0.2 });
      const written =
        toggles > 0
          ? writing.ask({ origin, token, calls: writes, perSecond: toggles, seconds: seconds + 0.5 })
          : undefined;
      rounds[index]?.push(await measured(service, () => side({ connections, seconds })));
      await written;
    }
  }
  return rounds.map((samples, index) => {
    const figures = [
      rate(median(samples.map(({ perSecond }) => perSecond))),
      median(samples.map(({ p50 }) => p50)).toFixed(2),
      median(samples.map(({ p99 }) => p99)).toFixed(2),
      median(samples.map(({ all }) => all)).toFixed(0),
      median(samples.map(({ eventLoop }) => eventLoop)).toFixed(0),
      // Only consecutive rounds are compared, as the state of the machine may change.
      median(samples.map(({ all }, round) => all / (rounds.at(-1)?.[round]?.all ?? all))).toFixed(2),
    ];
    const whose = index === 0 ? 'this' : 'against';
    const row = [`${items} items`, coding, String(toggles), String(connections), whose, ...figures];
    say(row.join('  '));
    return row;
  });
}

/** A round, with the CPU time of each read. */
type Measured = Sample & ProcessorTime;

async function measured({ pid }: Service, round: () => Promise<Sample>): Promise<Measured> {
  const started = performance.now();
  const before = processorTime(pid);
  const sample = await round();
  const after = processorTime(pid);
  const reads = (sample.perSecond * (performance.now() - started)) / 1_000;
  return {
    ...sample,
    all: (after.all - before.all) / reads,
    eventLoop: (after.eventLoop - before.eventLoop) / reads,
  };
}
