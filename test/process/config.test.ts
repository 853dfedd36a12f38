import { resolve } from 'node:path';
import t from 'tap';
import { defaultDataDir } from '../../src/embedded/server.ts';
import { ConfigError, readConfig } from '../../src/process/config.ts';

t.test('nothing need be set', async (t) => {
  t.strictSame(readConfig({}), {
    port: 3000,
    host: '127.0.0.1',
    dataDir: defaultDataDir(),
    rateLimitPerMinute: 1200,
    webhookAllowedNetworks: [],
    eventRetentionDays: 30,
    responseCheckRate: 0,
    logLevel: 'info',
    role: 'all',
    workers: 1,
  });
});

t.test('everything can be set', async (t) => {
  const env = {
    PORT: '8080',
    HOST: '0.0.0.0',
    DATABASE_URL: 'postgres://menus@db/menus',
    DATA_DIR: 'data',
    REDIS_URL: 'redis://cache',
    RATE_LIMIT_PER_MINUTE: '60',
    WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/8, fd00::/8',
    EVENT_RETENTION_DAYS: '7',
    RESPONSE_CHECK_RATE: '0.01',
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    LOG_LEVEL: 'warn',
    ROLE: 'worker',
    WORKERS: '4',
  };
  t.strictSame(readConfig(env), {
    port: 8080,
    host: '0.0.0.0',
    databaseUrl: 'postgres://menus@db/menus',
    dataDir: resolve('data'),
    redisUrl: 'redis://cache',
    rateLimitPerMinute: 60,
    webhookAllowedNetworks: ['10.0.0.0/8', 'fd00::/8'],
    eventRetentionDays: 7,
    responseCheckRate: 0.01,
    encryptionKey: Buffer.alloc(32, 7),
    logLevel: 'warn',
    role: 'worker',
    workers: 4,
  });
  const empty = Object.fromEntries(Object.keys(env).map((name) => [name, '']));
  t.strictSame(readConfig(empty), readConfig({}), 'an empty variable counts as unset');
});

const bad: Record<string, string[]> = {
  PORT: ['http', '70000', '-1', '1.5', ' 80', '0x50'],
  DATABASE_URL: ['localhost', 'mysql://localhost/menus'],
  REDIS_URL: ['localhost:6379', 'http://localhost'],
  RATE_LIMIT_PER_MINUTE: ['0', 'many', '99999999999'],
  WEBHOOK_ALLOWED_NETWORKS: ['10.0.0.0', '10.0.0.0/8,lan', '10.0.0.0/33'],
  EVENT_RETENTION_DAYS: ['0', 'forever'],
  RESPONSE_CHECK_RATE: ['2', '1.01', '-0.1', '1%', '1e-3', 'all', '.'],
  ENCRYPTION_KEY: ['secret', 'c2hvcnQ=', `${'A'.repeat(43)}!`],
  LOG_LEVEL: ['verbose', 'INFO'],
  ROLE: ['API', 'none'],
  WORKERS: ['0', '300', 'auto'],
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
