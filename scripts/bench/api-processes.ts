import pg from 'pg';
import type { Bench, Rig } from './bench.ts';
import { startChild } from './rig/child.ts';
import type { Sample } from './rig/closed-loop.ts';
import { apiSide, median, rate } from './rig/comparison.ts';
import type { BenchData } from './rig/data.ts';
import type { Call, HttpRound } from './rig/http-load.ts';
import { processorTime } from './rig/processor-time.ts';
import { serverTime } from './rig/server-time.ts';
import { type Service, startService } from './rig/service.ts';

const operations: { name: string; call(item: BenchData['items'][number]): Call }[] = [
  {
    name: 'getItem',
    call: ({ menu_id, item_id }) => ({ method: 'GET', path: `/menus/${menu_id}/items/${item_id}` }),
  },
  {
    name: 'toggleItem',
    call: ({ menu_id, item_id }) => ({ method: 'POST', path: `/menus/${menu_id}/items/${item_id}/toggle` }),
  },
];

/** Shows whether the cost of a request depends on the number of processes. */
export const apiProcesses: Bench = {
  name: 'apiProcesses',
  about: 'processor time of a request, with 1, 2 and 4 API processes',
  table: {
    heading: ['operation', 'processes', '/s', 'service CPU µs', 'PostgreSQL CPU µs'],
    notes: [
      'So many processes of the service (ROLE=api, 12 database connections each) on the same cores, each under the ' +
        'closed-loop load of 8 connections: calls that meet in a process share statements. Figures are medians of the ' +
        'rounds; processor time is that of all processes of the service, and of all of PostgreSQL, for each request.',
    ],
  },
  async run(rig) {
    const rows: string[][] = [];
    for (const processes of [1, 2, 4]) rows.push(...(await withProcesses(rig, processes)));
    return rows.toSorted(([a = ''], [b = '']) => a.localeCompare(b));
  },
};

const connections = 8;

async function withProcesses({ server, options, say }: Rig, processes: number): Promise<string[][]> {
  const client = new pg.Client({ ...server.connection, ssl: false });
  const loads = Array.from({ length: processes }, () => startChild<HttpRound, Sample>('http-load.ts'));
  const services: Service[] = [];
  const spent = async () => ({
    service: services.reduce((sum, { pid }) => sum + processorTime(pid).all, 0),
    server: await serverTime(async (text) => (await client.query(text)).rows),
  });
  try {
    await client.connect();
    while (services.length < processes)
      services.push(await startService(server, { ROLE: 'api', ...options.environment }));
    const rows: string[][] = [];
    for (const { name, call } of operations) {
      const sides = await Promise.all(
        services.map((service, index) => {
          const own = server.data.items.filter((_, place) => place % processes === index);
          const warmUp = { connections, seconds: 1 };
          return apiSide(
            loads[index] as (typeof loads)[0],
            service,
            own.map((item) => [call(item)]),
            warmUp,
          );
        }),
      );
      const rounds: { perSecond: number; service: number; server: number }[] = [];
      for (let round = 0; round < options.rounds; round++) {
        const started = performance.now();
        const before = await spent();
        const samples = await Promise.all(
          sides.map((side) => side({ connections, seconds: options.seconds })),
        );
        const perSecond = samples.reduce((sum, sample) => sum + sample.perSecond, 0);
        const requests = (perSecond * (performance.now() - started)) / 1_000;
        const after = await spent();
        rounds.push({
          perSecond,
          service: (after.service - before.service) / requests,
          server: (after.server - before.server) / requests,
        });
      }
      const figure = (of: 'perSecond' | 'service' | 'server') => rate(median(rounds.map((one) => one[of])));
      rows.push([name, String(processes), figure('perSecond'), figure('service'), figure('server')]);
      say(`apiProcesses: ${rows.at(-1)?.join('  ')}`);
    }
    return rows;
  } finally {
    await Promise.all([
      client.end(),
      ...loads.map((load) => load.stop()),
      ...services.map((one) => one.stop()),
    ]);
  }
}
