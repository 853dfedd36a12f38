import type { Bench, Rig, Table } from './bench.ts';
import { startChild } from './rig/child.ts';
import type { Sample } from './rig/closed-loop.ts';
import { apiSide, median, rate } from './rig/comparison.ts';
import type { BenchData } from './rig/data.ts';
import type { Call, HttpRound } from './rig/http-load.ts';
import { type Service, startService } from './rig/service.ts';

const shares = ['0', '0.01', '0.1', '1'];

const table: Table = {
  heading: [
    'operation',
    'connections',
    'RESPONSE_CHECK_RATE',
    'API /s',
    'p50 ms',
    'p99 ms',
    '÷ rate 0',
    'skipped',
  ],
  notes: [
    'One process of the service for each rate (ROLE=api), which take turns under the same load; figures are medians ' +
      'of the rounds, the ratio is the median of the ratios within a round.',
    'skipped: of the chosen responses, those that the checking thread had no time for.',
  ],
};

const loads: { operation: string; targets(data: BenchData): Call[][] }[] = [
  {
    operation: 'getItem',
    targets: ({ items }) =>
      items.map(({ menu_id, item_id }) => [{ method: 'GET', path: `/menus/${menu_id}/items/${item_id}` }]),
  },
  {
    operation: 'getMenu500',
    targets: ({ largeMenus }) =>
      largeMenus.map(({ menu_id }) => [{ method: 'GET', path: `/menus/${menu_id}` }]),
  },
];

/** The cost of checking a share of the responses against the contract. */
export const responseCheck: Bench = {
  name: 'responseCheck',
  about: 'one item and a menu of 500 items, with a share of the responses checked',
  table,
  async run(rig) {
    const rows: string[][] = [];
    for (const load of loads) rows.push(...(await measure(rig, load)));
    return rows;
  },
};

async function measure(
  { server, options, say }: Rig,
  { operation, targets }: (typeof loads)[number],
): Promise<string[][]> {
  const http = startChild<HttpRound, Sample>('http-load.ts');
  const environments = shares.map((share) => ({
    ROLE: 'api',
    ...options.environment,
    RESPONSE_CHECK_RATE: share,
  }));
  const services = await Promise.all(environments.map((environment) => startService(server, environment)));
  try {
    const sides: Awaited<ReturnType<typeof apiSide>>[] = [];
    for (const service of services)
      sides.push(await apiSide(http, service, targets(server.data), { connections: 16, seconds: 1 }));
    const rows: string[][] = [];
    for (const connections of options.connections) {
      const before = await Promise.all(services.map(chosen));
      const rounds: Sample[][] = [];
      for (let round = 0; round < options.rounds; round++) {
        const samples: Sample[] = [];
        for (const side of sides) samples.push(await side({ connections, seconds: options.seconds }));
        rounds.push(samples);
      }
      const after = await Promise.all(services.map(chosen));
      for (const [index, share] of shares.entries()) {
        const of = (name: keyof Sample) => rounds.map((samples) => samples[index]?.[name] ?? Number.NaN);
        const ratios = rounds.map(
          (samples) => (samples[index]?.perSecond ?? 0) / (samples[0]?.perSecond ?? 0),
        );
        const row = [
          rate(median(of('perSecond'))),
          median(of('p50')).toFixed(2),
          median(of('p99')).toFixed(2),
        ];
        say(`${operation}, ${connections} connections, rate ${share}: ${row[0]}/s`);
        rows.push([
          operation,
          String(connections),
          share,
          ...row,
          median(ratios).toFixed(2),
          skipped(before[index], after[index]),
        ]);
      }
    }
    return rows;
  } finally {
    await Promise.all([http.stop(), ...services.map((service) => service.stop())]);
  }
}

interface Chosen {
  all: number;
  skipped: number;
}

async function chosen({ origin }: Service): Promise<Chosen> {
  const text = await (await fetch(`${origin}/metrics`)).text();
  const counts = [...text.matchAll(/^menus_response_checks_total\{.*result="(\w+)"\} (\d+)$/gm)];
  const sum = (found: typeof counts) => found.reduce((total, [, , count]) => total + Number(count), 0);
  return { all: sum(counts), skipped: sum(counts.filter(([, result]) => result === 'skipped')) };
}

function skipped(before: Chosen | undefined, after: Chosen | undefined): string {
  if (!before || !after || after.all === before.all) return '–';
  return `${Math.round((100 * (after.skipped - before.skipped)) / (after.all - before.all))} %`;
}
