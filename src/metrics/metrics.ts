import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { metricsOfAll } from './aggregate.ts';
import type { Latest } from './latest.ts';

/** What a process counts itself, and what it reads from the database when scraped. */
export interface Metrics {
  /** An HTTP response; `operation` is the id in the contract. */
  responded(operation: string, status: number, seconds: number): void;
  /** The result for a response that was selected to be checked against the contract. */
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

/** Values that are read when the metrics are scraped. */
export interface MetricsSources {
  /** How the connections to the database are used now, and how many were given up so far, by reason. */
  poolUse(): { busy: number; idle: number; waiting: number; discards: Record<string, number> };
  /** With DATABASE_REPLICA_URL: how each replica is used now. */
  replicaUse?: (() => ReplicaUse[]) | undefined;
  /** The latest reading, which may be a while ago. */
  latestBacklog(): Promise<Latest<Backlog> | undefined>;
}

/** A replica of the database. */
export interface ReplicaUse {
  /** Host and port. */
  name: string;
  /** Whether calls are served from it now. */
  isRead: boolean;
  behindMs: number;
  /** Calls that it has served so far. */
  served: number;
}

/** What is on its way to enabled endpoints. */
export interface Backlog {
  unrelayed: number;
  pending: number;
  held: number;
  /** 0 when nothing waits. */
  oldest_seconds: number;
}

// State of the delivery after the attempt; one that is pending again will be attempted again.
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
  if (sources.replicaUse) registerReplicas(registry, sources.replicaUse);
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

// Every process reads the same tables, so the total is the maximum, not the sum. Values without a recent reading are
// left out; the others are still reported.
function registerBacklog(registry: Registry, { latestBacklog }: MetricsSources): void {
  new Gauge({
    name: 'menus_webhook_backlog',
    help:
      'What is waiting, counted up to 10000: events not yet relayed to endpoints (unrelayed); at enabled endpoints ' +
      'where something is due, deliveries that may be attempted now (pending) or wait for an earlier event of their ' +
      'record (held, among the first 10000 that are unfinished).',
    labelNames: ['state'],
    registers: [registry],
    aggregator: 'max',
    async collect() {
      const backlog = await latestBacklog();
      this.reset();
      for (const state of states) if (backlog) this.set({ state }, backlog.value[state]);
    },
  });
  new Gauge({
    name: 'menus_webhook_oldest_undelivered_seconds',
    help: 'Age of the oldest undelivered event for an enabled endpoint; 0 when there is none.',
    registers: [registry],
    aggregator: 'max',
    async collect() {
      const backlog = await latestBacklog();
      this.remove();
      // It has grown older since.
      if (backlog)
        this.set(backlog.value.oldest_seconds && backlog.value.oldest_seconds + backlog.ageSeconds);
    },
  });
  new Gauge({
    name: 'menus_webhook_backlog_age_seconds',
    help: 'How long ago the backlog was read: it is read when asked for, at most every five seconds.',
    registers: [registry],
    aggregator: 'max',
    async collect() {
      const backlog = await latestBacklog();
      this.remove();
      if (backlog) this.set(backlog.ageSeconds);
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

function registerReplicas(registry: Registry, replicaUse: () => ReplicaUse[]): void {
  const registers = [registry];
  const labelNames = ['replica'];
  new Gauge({
    name: 'menus_replica_up',
    help: 'With DATABASE_REPLICA_URL: 1 while a replica is read from; 0 while it is gone, promoted or too far behind.',
    labelNames,
    registers,
    aggregator: 'min',
    collect() {
      for (const { name, isRead } of replicaUse()) this.set({ replica: name }, Number(isRead));
    },
  });
  new Gauge({
    name: 'menus_replica_lag_seconds',
    help: 'How long ago the primary was where a replica is now; 0 when the replica has everything.',
    labelNames,
    registers,
    aggregator: 'max',
    collect() {
      for (const { name, behindMs } of replicaUse()) this.set({ replica: name }, behindMs / 1_000);
    },
  });
  new Counter({
    name: 'menus_replica_calls_total',
    help: 'Calls that a replica has served; the primary serves the others.',
    labelNames,
    registers,
    collect() {
      this.reset();
      for (const { name, served } of replicaUse()) this.inc({ replica: name }, served);
    },
  });
}
