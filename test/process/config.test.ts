import { resolve } from 'node:path';
import t from 'tap';
import { defaultDataDir } from '../../src/embedded/server.ts';
import { ConfigError, readConfig } from '../../src/process/config.ts';

t.test('nothing has to be set', async (t) => {
  t.strictSame(readConfig({}), {
    port: 3000,
    host: '127.0.0.1',
    databaseReplicaUrls: [],
    replicaMaxLag: 5,
    databasePool: 12,
    dataDir: defaultDataDir(),
    migrate: 'on',
    rateLimitPerMinute: 1200,
    trustedProxies: [],
    corsOrigins: [],
    webhookAllowedNetworks: [],
    webhooksPerAccount: 100,
    eventRetentionDays: 30,
    responseCheckRate: 0,
    signingKeyDays: 90,
    keptResponses: { keys: 250_000, megabytes: 256 },
    logLevel: 'info',
    role: 'all',
    workers: 1,
    drainSeconds: 0,
  });
});

t.test('everything can be set', async (t) => {
  const env = {
    PORT: '8080',
    HOST: '0.0.0.0',
    DATABASE_URL: 'postgres://menus@db/menus',
    DATABASE_REPLICA_URL: 'postgres://db2/menus, postgres://db3/menus',
    REPLICA_MAX_LAG: '2',
    DATABASE_POOL: '4',
    DATA_DIR: 'data',
    MIGRATE: 'off',
    REDIS_URL: 'redis://cache',
    RATE_LIMIT_PER_MINUTE: '60',
    TRUSTED_PROXIES: '127.0.0.0/8, ::1/128',
    CORS_ORIGINS: 'https://orders.example.com, http://localhost:5173',
    WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/8, fd00::/8',
    WEBHOOKS_PER_ACCOUNT: '20',
    EVENT_RETENTION_DAYS: '7',
    RESPONSE_CHECK_RATE: '0.01',
    ENCRYPTION_KEY: `${Buffer.alloc(32, 7).toString('base64')}, ${Buffer.alloc(32, 8).toString('base64')}`,
    SIGNING_KEY_DAYS: '30',
    IDEMPOTENCY_KEYS_PER_CLIENT: '1000',
    IDEMPOTENCY_MEGABYTES_PER_CLIENT: '10',
    LOG_LEVEL: 'warn',
    ROLE: 'worker',
    WORKERS: '4',
    DRAIN_SECONDS: '5',
  };
  t.strictSame(readConfig(env), {
    port: 8080,
    host: '0.0.0.0',
    databaseUrl: 'postgres://menus@db/menus',
    databaseReplicaUrls: ['postgres://db2/menus', 'postgres://db3/menus'],
    replicaMaxLag: 2,
    databasePool: 4,
    dataDir: resolve('data'),
    migrate: 'off',
    redisUrl: 'redis://cache',
    rateLimitPerMinute: 60,
    trustedProxies: ['127.0.0.0/8', '::1/128'],
    corsOrigins: ['https://orders.example.com', 'http://localhost:5173'],
    webhookAllowedNetworks: ['10.0.0.0/8', 'fd00::/8'],
    webhooksPerAccount: 20,
    eventRetentionDays: 7,
    responseCheckRate: 0.01,
    encryptionKeys: [Buffer.alloc(32, 7), Buffer.alloc(32, 8)],
    signingKeyDays: 30,
    keptResponses: { keys: 1000, megabytes: 10 },
    logLevel: 'warn',
    role: 'worker',
    workers: 4,
    drainSeconds: 5,
  });
  const empty = Object.fromEntries(Object.keys(env).map((name) => [name, '']));
  t.strictSame(readConfig(empty), readConfig({}), 'an empty variable counts as unset');
});

const bad: Record<string, string[]> = {
  PORT: ['http', '70000', '-1', '1.5', ' 80', '0x50'],
  DATABASE_URL: ['localhost', 'mysql://localhost/menus'],
  DATABASE_REPLICA_URL: ['localhost', 'postgres://db2/menus,db3'],
  REPLICA_MAX_LAG: ['0', '61', '5s'],
  MIGRATE: ['no', 'OFF', 'true'],
  DATABASE_POOL: ['0', '1001', 'max'],
  REDIS_URL: ['localhost:6379', 'http://localhost'],
  RATE_LIMIT_PER_MINUTE: ['0', 'many', '99999999999'],
  TRUSTED_PROXIES: ['10.0.0.1', 'loopback', '10.0.0.0/8 ::1/128', '::/129'],
  CORS_ORIGINS: [
    '*',
    'null',
    'orders.example.com',
    'https://orders.example.com/',
    'https://Orders.example.com',
    'https://orders.example.com:443',
    'https://*.example.com',
    'ftp://orders.example.com',
  ],
  WEBHOOK_ALLOWED_NETWORKS: ['10.0.0.0', '10.0.0.0/8,lan', '10.0.0.0/33'],
  EVENT_RETENTION_DAYS: ['0', 'forever'],
  RESPONSE_CHECK_RATE: ['2', '1.01', '-0.1', '1%', '1e-3', 'all', '.'],
  ENCRYPTION_KEY: [
    'secret',
    'c2hvcnQ=',
    `${'A'.repeat(43)}!`,
    `${'A'.repeat(43)}=,`,
    `${'A'.repeat(43)}=,secret`,
  ],
  SIGNING_KEY_DAYS: ['0', 'never'],
  IDEMPOTENCY_KEYS_PER_CLIENT: ['0', 'all'],
  IDEMPOTENCY_MEGABYTES_PER_CLIENT: ['0', '1.5', '256MB'],
  LOG_LEVEL: ['verbose', 'INFO'],
  ROLE: ['API', 'none'],
  WORKERS: ['0', '300', 'auto'],
  DRAIN_SECONDS: ['-1', '0.5', '1m', '4000'],
};

for (const [name, values] of Object.entries(bad)) {
  t.test(`a bad ${name} is refused in one line that names it`, async (t) => {
    for (const value of values) {
      const error = refusal({ [name]: value });
      t.ok(error instanceof ConfigError, value);
      t.match(error?.message, new RegExp(`^${name} must [^\n]+$`));
    }
  });
}

t.test('replicas need a primary, and Redis between the processes', async (t) => {
  const DATABASE_REPLICA_URL = 'postgres://db2/menus';
  const REDIS_URL = 'redis://cache';
  const DATABASE_URL = 'postgres://db1/menus';
  t.match(refusal({ DATABASE_REPLICA_URL, DATABASE_URL })?.message, /needs REDIS_URL/);
  t.match(refusal({ DATABASE_REPLICA_URL, REDIS_URL })?.message, /needs DATABASE_URL/);
  t.equal(refusal({ DATABASE_REPLICA_URL, REDIS_URL, DATABASE_URL }), undefined);
});

t.test('a value that may hold a secret is not repeated', async (t) => {
  for (const env of [
    { DATABASE_URL: 'mysql://root:hunter2@localhost/menus' },
    { REDIS_URL: 'http://:hunter2@localhost' },
    { ENCRYPTION_KEY: 'hunter2' },
  ]) {
    t.match(refusal(env)?.message, /^[A-Z_]+ must/);
    t.notMatch(refusal(env)?.message, 'hunter2');
  }
});

function refusal(env: Record<string, string>): Error | undefined {
  try {
    readConfig(env);
    return undefined;
  } catch (error) {
    return error as Error;
  }
}
