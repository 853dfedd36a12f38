import { resolve } from 'node:path';
import ipaddr from 'ipaddr.js';
import { defaultDataDir } from '../embedded/server.ts';
import { isEncryptionKey } from './encryption-key.ts';

/** Everything that is configured from outside; read once, at the process edge. */
export interface Config {
  port: number;
  host: string;
  /** Absent: the embedded Postgres in dataDir. */
  databaseUrl?: string;
  dataDir: string;
  redisUrl?: string;
  rateLimitPerMinute: number;
  webhookAllowedNetworks: string[];
  /** Days for which events, deliveries and attempts are kept. */
  eventRetentionDays: number;
  /** Share of the responses that is checked against the contract after they were sent, 0 to 1. */
  responseCheckRate: number;
  /** 32 bytes; seals webhook secrets and signing keys at rest. Absent: the one kept in dataDir. */
  encryptionKey?: Buffer;
  logLevel: (typeof logLevels)[number];
  role: (typeof roles)[number];
  /** Processes that serve; more than one share the port. */
  workers: number;
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
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
    ...optional('databaseUrl', url(env, 'DATABASE_URL', ['postgres:', 'postgresql:'])),
    dataDir: resolve(env['DATA_DIR'] || defaultDataDir()),
    ...optional('redisUrl', url(env, 'REDIS_URL', ['redis:', 'rediss:'])),
    rateLimitPerMinute: integer(env, 'RATE_LIMIT_PER_MINUTE', 1200, 1, 1_000_000_000),
    webhookAllowedNetworks: networks(env),
    eventRetentionDays: integer(env, 'EVENT_RETENTION_DAYS', 30, 1, 36_500),
    responseCheckRate: share(env, 'RESPONSE_CHECK_RATE'),
    ...optional('encryptionKey', encryptionKey(env)),
    logLevel: oneOf(env, 'LOG_LEVEL', logLevels, 'info'),
    role: oneOf(env, 'ROLE', roles, 'all'),
    workers: integer(env, 'WORKERS', 1, 1, 256),
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

function networks(env: NodeJS.ProcessEnv): string[] {
  const list = (env['WEBHOOK_ALLOWED_NETWORKS'] ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
  const wrong = list.find((cidr) => !ipaddr.isValidCIDR(cidr));
  if (wrong)
    throw new ConfigError(`WEBHOOK_ALLOWED_NETWORKS must list CIDRs such as 10.0.0.0/8, not "${wrong}"`);
  return list;
}

// As with url: the message never repeats the value.
function encryptionKey(env: NodeJS.ProcessEnv): Buffer | undefined {
  const text = env['ENCRYPTION_KEY'];
  if (!text) return undefined;
  if (!isEncryptionKey(text)) {
    throw new ConfigError(
      'ENCRYPTION_KEY must be 32 bytes in base64, such as `openssl rand -base64 32` prints',
    );
  }
  return Buffer.from(text, 'base64');
}

function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });
}
