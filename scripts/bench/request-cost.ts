import pg from 'pg';
import type { Bench, Rig, Table } from './bench.ts';
import { offerModifiers } from './price-selection.ts';
import { type Child, startChild } from './rig/child.ts';
import type { Sample } from './rig/closed-loop.ts';
import { apiSide, median, rate } from './rig/comparison.ts';
import type { BenchData } from './rig/data.ts';
import type { Call, HttpRound } from './rig/http-load.ts';
import { processorTime } from './rig/processor-time.ts';
import { type Service, startService } from './rig/service.ts';
import { restock, switches, switchesOf, switchesOfNamed } from './set-availability.ts';
import { toggle as toggleModifier } from './toggle-modifier.ts';
import { formerPrices, newPrices } from './update-item.ts';

const table: Table = {
  heading: [
    'cost of a request',
    'connections',
    'service',
    '/s',
    'p50 ms',
    'p99 ms',
    'service CPU µs',
    'PostgreSQL CPU µs',
    '/s ÷ against',
    'CPU ÷ against',
  ],
  notes: [
    'One process of the service (ROLE=api, 12 database connections) under closed-loop load. With --against, that ' +
      'checkout takes turns with this one on the same server. Figures are medians of the rounds, ratios medians of those ' +
      'of neighbours; processor time is that of all threads of the service, and of its backends, for each request.',
  ],
};

interface Operation {
  name: string;
  targets(data: BenchData): Call[][];
  /** SQL run before every round, so that the first call on each target changes something. */
  reset?: string;
}

const operationsWith = (selections: Call[][]): Operation[] => [
  { name: 'getItem', targets: ({ items }) => items.map((item) => [{ method: 'GET', path: pathOf(item) }]) },
  { name: 'priceSelection', targets: () => selections },
  {
    name: 'getItemById',
    targets: ({ items }) => items.map(({ item_id }) => [{ method: 'GET', path: `/items/${item_id}` }]),
  },
  {
    name: 'getMenu60',
    targets: ({ smallMenus }) => smallMenus.map((id) => [{ method: 'GET', path: `/menus/${id}` }]),
  },
  { name: 'toggleItem', targets: ({ items }) => items.map((item) => [toggle(item)]) },
  {
    name: 'toggleItem, all on one menu',
    targets: ({ largeMenus: [menu] }) =>
      (menu?.item_ids ?? []).map((item_id) => [toggle({ menu_id: menu?.menu_id ?? 0, item_id })]),
  },
  {
    name: 'getMenu of 500 items, 304',
    targets: ({ modifierMenus }) =>
      modifierMenus.map(({ menu_id }) => [
        { method: 'GET', path: `/menus/${menu_id}`, headers: { 'if-none-match': '*' }, status: 304 },
      ]),
  },
  {
    name: 'getAvailability of 500 items',
    targets: ({ modifierMenus }) =>
      modifierMenus.map(({ menu_id }) => [{ method: 'GET', path: `/menus/${menu_id}/availability` }]),
  },
  {
    name: 'toggleModifier, of 500 items',
    targets: ({ modifierMenus }) => modifierMenus.map(({ modifiers }) => [toggleModifier(modifiers[0])]),
  },
  { name: 'toggleItem, one item', targets: ({ items: [item] }) => (item ? [[toggle(item)]] : []) },
  { name: 'updateItem', targets: ({ items }) => items.map(newPrices), reset: formerPrices },
  {
    name: 'updateItem, all on one menu',
    targets: ({ largeMenus: [menu] }) =>
      (menu?.item_ids ?? []).map((item_id) => newPrices({ menu_id: menu?.menu_id ?? 0, item_id })),
    reset: formerPrices,
  },
  { name: 'setAvailability of one item', targets: ({ items }) => items.map(switches), reset: restock },
  {
    name: 'setAvailability of 2 items',
    targets: ({ items }) => items.map(switchesOfFirst(2)),
    reset: restock,
  },
  {
    name: 'setAvailability of 5 items',
    targets: ({ items }) => items.map(switchesOfFirst(5)),
    reset: restock,
  },
  {
    name: 'setAvailability of 5 items, all on one menu',
    targets: ({ largeMenus: [menu] }) =>
      Array.from({ length: 100 }, (_, place) =>
        switchesOf(menu?.menu_id ?? 0, menu?.item_ids.slice(5 * place, 5 * place + 5) ?? []),
      ),
    reset: restock,
  },
];

/** The first items of a category, by their external ids. */
function switchesOfFirst(count: number) {
  return ({ menu_id, category_id }: BenchData['items'][number]): Call[] => {
    const names = Array.from({ length: count }, (_, place) => `C${category_id}-${place + 1}`);
    return switchesOfNamed(
      menu_id,
      names.map((external_id) => ({ external_id })),
    );
  };
}

type ItemPath = { menu_id: number; item_id: number };
const pathOf = ({ menu_id, item_id }: ItemPath) => `/menus/${menu_id}/items/${item_id}`;
const toggle = (item: ItemPath): Call => ({ method: 'POST', path: `${pathOf(item)}/toggle` });

/** The CPU time of a request, for calls that share statements. */
export const requestCost: Bench = {
  name: 'requestCost',
  about: 'processor time of service and PostgreSQL for each request, over connections',
  table,
  async run(rig) {
    const { server, options } = rig;
    const operations = operationsWith(await offerModifiers(server));
    const directories = [undefined, ...(options.against === undefined ? [] : [options.against])];
    const http = startChild<HttpRound, Sample>('http-load.ts');
    const environment = { ROLE: 'api', ...options.environment };
    const services: Service[] = [];
    const client = new pg.Client({ ...server.connection, ssl: false });
    try {
      await client.connect();
      for (const directory of directories) services.push(await startService(server, environment, directory));
      const rows: string[][] = [];
      for (const operation of operations)
        for (const connections of options.connections)
          rows.push(...(await measure(rig, { http, services, client }, operation, connections)));
      return rows;
    } finally {
      await Promise.all([http.stop(), client.end(), ...services.map((service) => service.stop())]);
    }
  },
};

interface Parts {
  http: Child<HttpRound, Sample>;
  services: Service[];
  client: pg.Client;
}

/** A round, with the CPU time of each request. */
type Measured = Sample & { service: number; backends: number };

async function measure(
  { server, options, say }: Rig,
  { http, services, client }: Parts,
  { name, targets, reset }: Operation,
  connections: number,
): Promise<string[][]> {
  const { seconds } = options;
  const rounds: Measured[][] = services.map(() => []);
  for (let round = 0; round < options.rounds; round++) {
    for (const [index, service] of services.entries()) {
      if (reset) await client.query(reset);
      const side = await apiSide(http, service, targets(server.data), { connections, seconds: 0.2 });
      if (reset) await client.query(reset);
      const started = performance.now();
      const before = { service: processorTime(service.pid).all, backends: await backendTime(client) };
      const sample = await side({ connections, seconds });
      const requests = (sample.perSecond * (performance.now() - started)) / 1_000;
      rounds[index]?.push({
        ...sample,
        service: (processorTime(service.pid).all - before.service) / requests,
        backends: ((await backendTime(client)) - before.backends) / requests,
      });
    }
  }
  return rounds.map((samples, index) => {
    const other = (round: number) => rounds.at(-1)?.[round] as Measured;
    const cost = ({ service, backends }: Measured) => service + backends;
    const row = [
      name,
      String(connections),
      index === 0 ? 'this' : 'against',
      rate(median(samples.map(({ perSecond }) => perSecond))),
      median(samples.map(({ p50 }) => p50)).toFixed(2),
      median(samples.map(({ p99 }) => p99)).toFixed(2),
      median(samples.map(({ service }) => service)).toFixed(0),
      median(samples.map(({ backends }) => backends)).toFixed(0),
      median(samples.map((one, round) => one.perSecond / other(round).perSecond)).toFixed(2),
      median(samples.map((one, round) => cost(one) / cost(other(round)))).toFixed(2),
    ];
    say(row.join('  '));
    return row;
  });
}

/** CPU time used so far by the backends of all services, in µs. */
async function backendTime(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>(
    `select pid from pg_stat_activity where application_name = 'menu-management-service'`,
  );
  return rows.reduce((sum, { pid }) => sum + processorTime(pid).all, 0);
}
