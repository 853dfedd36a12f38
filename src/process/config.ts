import { resolve } from 'node:path';
import ipaddr from 'ipaddr.js';
import { defaultPoolSize } from '../db/database.ts';
import { defaultDataDir } from '../embedded/server.ts';
import { type EncryptionKeys, readEncryptionKeys } from './encryption-key.ts';

/** Everything that is configured from outside; read once, at the process edge. */
export interface Config {
  port: number;
  host: string;
  /** Absent: the embedded Postgres in dataDir. */
  databaseUrl?: string;
  /** Streaming replicas to read from; with them there is a redisUrl. */
  databaseReplicaUrls: string[];
  /** How far a replica that is read from may be behind, in seconds. */
  replicaMaxLag: number;
  /** Connections to the database, and to each replica, that a process may have at most. */
  databasePool: number;
  dataDir: string;
  /** Whether a start brings the schema up to date, or refuses one that is not. */
  migrate: (typeof switches)[number];
  redisUrl?: string;
  rateLimitPerMinute: number;
  /** CIDRs of the proxies that are believed where a request comes from. */
  trustedProxies: string[];
  /** Origins whose pages may call the API from a browser, such as `https://orders.example.com`. */
  corsOrigins: string[];
  webhookAllowedNetworks: string[];
  /** Endpoints that one account may have. */
  webhooksPerAccount: number;
  /** Days for which events, deliveries and attempts are kept. */
  eventRetentionDays: number;
  /** Share of the responses that is checked against the contract after they were sent, 0 to 1. */
  responseCheckRate: number;
  /**
   * 32 bytes each. The first one encrypts secrets at rest, each of them decrypts. Absent: those stored in dataDir.
   */
  encryptionKeys?: EncryptionKeys;
  /** The age at which a key that signs tokens is replaced, in days. */
  signingKeyDays: number;
  /** What a client may store under its Idempotency-Keys within 24 hours. */
  keptResponses: { keys: number; megabytes: number };
  logLevel: (typeof logLevels)[number];
  role: (typeof roles)[number];
  /** Processes that serve; more than one share the port. */
  workers: number;
  /** How long a process that is told to stop keeps serving while it reports that it is not ready. */
  drainSeconds: number;
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const switches = ['on', 'off'] as const;
const roles = ['all', 'api', 'worker'] as const;

/** A variable that cannot be used; its message is one line that names it. */
export class ConfigError extends Error {}

/**
 * Reads and checks the environment.
 * @throws ConfigError for the first variable with a bad value.
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  return {
    port: integer(env, 'PORT', 3000, 0, 65535),
    host: env['HOST'] || '127.0.0.1',
    ...optional('databaseUrl', url(env, 'DATABASE_URL', databases)),
    databaseReplicaUrls: replicas(env),
    replicaMaxLag: integer(env, 'REPLICA_MAX_LAG', 5, 1, 60),
    databasePool: integer(env, 'DATABASE_POOL', defaultPoolSize, 1, 1_000),
    dataDir: resolve(env['DATA_DIR'] || defaultDataDir()),
    migrate: oneOf(env, 'MIGRATE', switches, 'on'),
    ...optional('redisUrl', url(env, 'REDIS_URL', ['redis:', 'rediss:'])),
    rateLimitPerMinute: integer(env, 'RATE_LIMIT_PER_MINUTE', 1200, 1, 1_000_000_000),
    trustedProxies: networks(env, 'TRUSTED_PROXIES'),
    corsOrigins: origins(env, 'CORS_ORIGINS'),
    webhookAllowedNetworks: networks(env, 'WEBHOOK_ALLOWED_NETWORKS'),
    webhooksPerAccount: integer(env, 'WEBHOOKS_PER_ACCOUNT', 100, 1, 1_000_000),
    eventRetentionDays: integer(env, 'EVENT_RETENTION_DAYS', 30, 1, 36_500),
    responseCheckRate: share(env, 'RESPONSE_CHECK_RATE'),
    ...optional('encryptionKeys', encryptionKeys(env)),
    signingKeyDays: integer(env, 'SIGNING_KEY_DAYS', 90, 1, 36_500),
    keptResponses: {
      keys: integer(env, 'IDEMPOTENCY_KEYS_PER_CLIENT', 250_000, 1, 1_000_000_000),
      megabytes: integer(env, 'IDEMPOTENCY_MEGABYTES_PER_CLIENT', 256, 1, 1_000_000),
    },
    logLevel: oneOf(env, 'LOG_LEVEL', logLevels, 'info'),
    role: oneOf(env, 'ROLE', roles, 'all'),
    workers: integer(env, 'WORKERS', 1, 1, 256),
    drainSeconds: integer(env, 'DRAIN_SECONDS', 0, 0, 3_600),
  };
}

function integer(env: NodeJS.ProcessEnv, name: string, fallback: number, min: number, max: number): number {
  const text = env[name];
  if (!text) return fallback;
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max)) {
    throw new ConfigError(`${name} must be a whole number from ${min} to ${max}, not "${text}"`);
  }
  return value;
}

function share(env: NodeJS.ProcessEnv, name: string): number {
  const text = env[name] || '0';
  const value = /^\d?\.?\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value <= 1)) throw new ConfigError(`${name} must be a number from 0 to 1, not "${text}"`);
  return value;
}

function oneOf<const T extends string>(
  env: NodeJS.ProcessEnv,
  name: string,
  allowed: readonly T[],
  fallback: T,
): T {
  const text = env[name];
  if (!text) return fallback;
  const value = allowed.find((one) => one === text);
  if (!value) throw new ConfigError(`${name} must be one of ${allowed.join(', ')}, not "${text}"`);
  return value;
}

function replicas(env: NodeJS.ProcessEnv): string[] {
  const name = 'DATABASE_REPLICA_URL';
  const urls = listed(env, name).map((text) => url({ [name]: text }, name, databases) ?? '');
  if (urls.length > 0 && !env['REDIS_URL'])
    throw new ConfigError(
      `${name} needs REDIS_URL: there processes tell each other how far accounts have read`,
    );
  if (urls.length > 0 && !env['DATABASE_URL'])
    throw new ConfigError(`${name} needs DATABASE_URL, the primary`);
  return urls;
}

const databases = ['postgres:', 'postgresql:'];

// The value may hold a password, so the message never repeats it.
function url(env: NodeJS.ProcessEnv, name: string, protocols: string[]): string | undefined {
  const text = env[name];
  if (!text) return undefined;
  if (!URL.canParse(text) || !protocols.includes(new URL(text).protocol)) {
    throw new ConfigError(
      `${name} must be a URL that starts with ${protocols.map((p) => `${p}//`).join(' or ')}`,
    );
  }
  return text;
}

function networks(env: NodeJS.ProcessEnv, name: string): string[] {
  const list = listed(env, name);
  const wrong = list.find((cidr) => !ipaddr.isValidCIDR(cidr));
  if (wrong) throw new ConfigError(`${name} must list CIDRs such as 10.0.0.0/8, not "${wrong}"`);
  return list;
}

// As a browser sends them: compared letter by letter.
function origins(env: NodeJS.ProcessEnv, name: string): string[] {
  const list = listed(env, name);
  const wrong = list.find(
    (text) => !/^https?:[^*]*$/.test(text) || !URL.canParse(text) || new URL(text).origin !== text,
  );
  if (wrong)
    throw new ConfigError(`${name} must list origins such as https://orders.example.com, not "${wrong}"`);
  return list;
}

function listed(env: NodeJS.ProcessEnv, name: string): string[] {
  return (env[name] ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
}

// As with url: the message never repeats the value.
function encryptionKeys(env: NodeJS.ProcessEnv): EncryptionKeys | undefined {
  const text = env['ENCRYPTION_KEY'];
  if (!text) return undefined;
  const keys = readEncryptionKeys(text);
  if (!keys) {
    throw new ConfigError(
      'ENCRYPTION_KEY must be 32 bytes in base64, such as `openssl rand -base64 32` prints, or several of them with commas between',
    );
  }
  return keys;
}

function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });
}
