import pg from 'pg';
import type { Bench, Rig, Table } from '../bench.ts';
import { captureStatements, type Statement } from './capture.ts';
import { type Child, startChild } from './child.ts';
import type { Round, Sample } from './closed-loop.ts';
import type { BenchData } from './data.ts';
import type { Call, HttpRound } from './http-load.ts';
import { pgbench, pgbenchProgram } from './pgbench.ts';
import type { BenchServer } from './server.ts';
import { type Service, startService } from './service.ts';

/** An operation that is to be shown beside its own SQL. */
export interface Comparison {
  name: string;
  about: string;
  /** The calls that take turns on each target. No two targets change the same row. */
  targets(data: BenchData): Call[][];
  /** SQL run before every round, so that the first call on each target changes something. */
  reset?: string;
  /** Limits the connections, for calls that would otherwise contend for rows. */
  mostConnections?: number;
  /** Multiplies the length of a round, for slow calls. */
  longer?: number;
}

const table: Table = {
  heading: [
    'operation',
    'connections',
    'API /s',
    'p50 ms',
    'p99 ms',
    'SQL /s',
    'p50 ms',
    'p99 ms',
    'API ÷ SQL',
  ],
  notes: [
    'API: one process of the service (ROLE=api, 12 database connections) with authentication, validation, rate ' +
      'limits and logging (to a file) on; HTTP/1.1 keep-alive, one request at a time on each connection.',
    'SQL: on the same server the statements that the driver sends for the same calls, with the same ' +
      'texts and values, prepared once on each of as many connections and executed by pgbench, two threads of it.',
    'Load comes from processes of its own. Rounds of the two sides take turns; figures are medians of the ' +
      'rounds, the ratio is the median of the ratios of neighbours. Every connection has targets of its own, so ' +
      'that no two writes under way meet on a row.',
  ],
};

/** A bench that alternates between an operation over HTTP and its SQL without the service. */
export function comparison(compared: Comparison): Bench {
  const { name, about } = compared;
  return { name, about, table, run: (rig) => compare(compared, rig) };
}

async function compare(compared: Comparison, rig: Rig): Promise<string[][]> {
  const { name, targets, reset, mostConnections = Infinity, longer = 1 } = compared;
  const { options, server, say } = rig;
  const seconds = options.seconds * longer;
  const program = pgbenchProgram(say);
  const service = await startService(server, { ROLE: 'api', ...options.environment });
  const http = startChild<HttpRound, Sample>('http-load.ts');
  try {
    const prepare = () =>
      reset ? withClient(server.connection, (client) => client.query(reset)) : undefined;
    await prepare();
    const calls = targets(server.data);
    const statements = await captureStatements(server, service.token, calls);
    const warmUp: Round = { connections: Math.min(16, mostConnections), seconds: longer };
    await prepare();
    const askApi = await apiSide(http, service, calls, warmUp);
    await prepare();
    await tryOnce(server, statements);
    const askSql = pgbench(program, server, statements);
    const rows: string[][] = [];
    for (const connections of options.connections.filter((one) => one <= mostConnections)) {
      const rounds: { api: Sample; sql: Sample }[] = [];
      for (let round = 0; round < options.rounds; round++) {
        await prepare();
        const sample = await askApi({ connections, seconds });
        await prepare();
        rounds.push({ api: sample, sql: await askSql({ connections, seconds }) });
      }
      const api = medians(rounds.map((round) => round.api));
      const sql = medians(rounds.map((round) => round.sql));
      const ratio = median(rounds.map((round) => round.api.perSecond / round.sql.perSecond));
      rig.note({ operation: name, connections, api, ratio });
      const row = [...cells(api), ...cells(sql), ratio.toFixed(2)];
      say(`${name}, ${connections} connections: ${row[0]}/s, SQL alone ${row[3]}/s, ratio ${row.at(-1)}`);
      rows.push([name, String(connections), ...row]);
    }
    return rows;
  } finally {
    await Promise.all([http.stop(), service.stop()]);
  }
}

type Side = (round: Round) => Promise<Sample>;

/** Warms a side up: its code is compiled and its caches filled, as after the first seconds of any service. */
export async function apiSide(
  child: Child<HttpRound, Sample>,
  { origin, token }: Service,
  targets: Call[][],
  warmUp: Round,
): Promise<Side> {
  await child.ask({ origin, token, targets, ...warmUp });
  return (round) => child.ask({ origin, token, ...round });
}

/** Runs the SQL of each call once, in the order of a round. @throws when one finds nothing, and so does no work */
async function tryOnce({ connection }: BenchServer, targets: Statement[][][]): Promise<void> {
  const turns = Math.max(...targets.map((variants) => variants.length));
  await withClient(connection, async (client) => {
    for (let turn = 0; turn < turns; turn++) {
      for (const variants of targets) {
        let rows = 0;
        for (const statement of variants[turn % variants.length] as Statement[])
          rows += (await client.query(statement)).rows.length;
        if (rows === 0) throw new Error('a statement found no row');
      }
    }
  });
}

async function withClient(
  connection: pg.ClientConfig,
  work: (client: pg.Client) => Promise<unknown>,
): Promise<void> {
  const client = new pg.Client({ ...connection, ssl: false });
  await client.connect();
  await work(client).finally(() => client.end());
}

function medians(samples: readonly Sample[]): Sample {
  const of = (name: keyof Sample) => median(samples.map((sample) => sample[name]));
  return { perSecond: of('perSecond'), p50: of('p50'), p99: of('p99') };
}

function cells({ perSecond, p50, p99 }: Sample): string[] {
  return [rate(perSecond), p50.toFixed(2), p99.toFixed(2)];
}

/** A number per second as the tables print it. */
export function rate(perSecond: number): string {
  return perSecond < 10 ? perSecond.toFixed(1) : Math.round(perSecond).toLocaleString('en');
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] as number) + (sorted[Math.floor(middle)] as number)) / 2;
}
