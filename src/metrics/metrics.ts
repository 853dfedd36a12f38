import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { metricsOfAll } from './aggregate.ts';

/** What a process counts of itself, and reads of the database when it is asked. */
export interface Metrics {
  /** An HTTP response; `operation` is the id in the contract. */
  responded(operation: string, status: number, seconds: number): void;
  /** A response that was chosen to be checked against the contract, and what came of it. */
  checked(operation: string, status: number, result: 'kept' | 'violated' | 'skipped'): void;
  /** An attempt to deliver an event. */
  attempted(attempt: { state: keyof typeof outcomes; result: { durationMs: number } }): void;
  /** With REDIS_URL: whether calls are counted there, together with the other processes. */
  countsShared(are: boolean): void;
  /** Everything, for /metrics. */
  text(): Promise<string>;
  /** Of that text. */
  mediaType: string;
}

/** What is looked up when the metrics are asked for. */
export interface MetricsSources {
  /** How the connections to the database are used now, and how many were given up so far, by reason. */
  poolUse(): { busy: number; idle: number; waiting: number; discards: Record<string, number> };
  readBacklog(): Promise<Backlog>;
}

/** What is on its way to enabled endpoints. */
export interface Backlog {
  unrelayed: number;
  pending: number;
  held: number;
  /** 0 when nothing waits. */
  oldest_seconds: number;
}

// Of the delivery after the attempt; one that is pending again will be tried once more.
const outcomes = { delivered: 'delivered', pending: 'retried', failed: 'failed' } as const;

/** A registry of its own for each process, so that several can live in one test. */
export function createMetrics(sources: MetricsSources): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];

  const responses = new Histogram({
    name: 'menus_http_request_duration_seconds',
    help: 'Time from the first byte of a request to the end of its response, by operation of the contract and status.',
    labelNames: ['operation', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const checks = new Counter({
    name: 'menus_response_checks_total',
    help: 'Responses chosen by RESPONSE_CHECK_RATE: kept or violated the contract, or skipped as too many waited.',
    labelNames: ['operation', 'status', 'result'],
    registers,
  });
  const attempts = new Counter({
    name: 'menus_webhook_attempts_total',
    help: 'Attempts to deliver an event, by outcome: delivered, retried (attempted again later), failed (given up).',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of Object.values(outcomes)) attempts.inc({ outcome }, 0);
  const durations = new Histogram({
    name: 'menus_webhook_attempt_duration_seconds',
    help: 'Time from connecting to a receiver to the last byte of its response.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
    registers,
  });
  let countsAreShared: boolean | undefined;
  new Gauge({
    name: 'menus_redis_up',
    help: 'With REDIS_URL: 1 while calls are counted in Redis; 0 while Redis is away or silent and each process counts for itself.',
    registers,
    aggregator: 'min',
    collect() {
      this.remove();
      if (countsAreShared !== undefined) this.set(Number(countsAreShared));
    },
  });
  // In this order, so that the pool is seen before the backlog takes a connection from it.
  registerPool(registry, sources);
  registerBacklog(registry, sources);

  return {
    text: metricsOfAll(registry),
    mediaType: registry.contentType,
    responded: (operation, status, seconds) => responses.observe({ operation, status }, seconds),
    countsShared(are) {
      countsAreShared = are;
    },
    checked: (operation, status, result) => checks.inc({ operation, status, result }),
    attempted({ state, result }) {
      attempts.inc({ outcome: outcomes[state] });
      durations.observe(result.durationMs / 1000);
    },
  };
}

// Every process reads the same tables, so the greatest is the whole, not the sum.
function registerBacklog(registry: Registry, { readBacklog }: MetricsSources): void {
  // Read once a scrape, for both. While the database is out of reach they are absent, and the rest is still told.
  let reading: Promise<Backlog | undefined> | undefined;
  const read = () => {
    reading ??= readBacklog()
      .catch(() => undefined)
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };
  new Gauge({
    name: 'menus_webhook_backlog',
    help:
      'What is waiting, counted up to 50000: events not yet relayed to endpoints (unrelayed); deliveries to enabled ' +
      'endpoints that may be attempted (pending) or wait for an earlier event of their record (held).',
    labelNames: ['state'],
    registers: [registry],
    aggregator: 'max',
    async collect() {
      const backlog = await read();
      this.reset();
      for (const state of states) if (backlog) this.set({ state }, backlog[state]);
    },
  });
  new Gauge({
    name: 'menus_webhook_oldest_undelivered_seconds',
    help: 'Age of the oldest undelivered event for an enabled endpoint; 0 when there is none.',
    registers: [registry],
    aggregator: 'max',
    async collect() {
      const backlog = await read();
      this.remove();
      if (backlog) this.set(backlog.oldest_seconds);
    },
  });
}

const states = ['unrelayed', 'pending', 'held'] as const;

function registerPool(registry: Registry, { poolUse }: MetricsSources): void {
  new Gauge({
    name: 'menus_database_pool_connections',
    help: 'Connections to the database, busy and idle.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const { busy, idle } = poolUse();
      this.set({ state: 'busy' }, busy);
      this.set({ state: 'idle' }, idle);
    },
  });
  new Gauge({
    name: 'menus_database_pool_waiting',
    help: 'Calls that wait for a free connection.',
    registers: [registry],
    collect() {
      this.set(poolUse().waiting);
    },
  });
  new Counter({
    name: 'menus_database_connections_given_up_total',
    help:
      'Connections to the database that were reset: no response in time (silent), a statement or transaction left ' +
      'open (unclean), opened before the server began to refuse writes (outdated).',
    labelNames: ['reason'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [reason, count] of Object.entries(poolUse().discards)) this.inc({ reason }, count);
    },
  });
}
