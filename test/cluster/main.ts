/** Runs many processes behind haproxy on this machine, to look at and to break; --help tells how. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { launch } from '../../scripts/launch.ts';
import { Undoing } from '../chaos/deployment/deployment.ts';
import { startMany } from '../chaos/deployment/many.ts';
import type { ServiceProcess } from '../chaos/deployment/service-process.ts';

const help = `usage: make cluster, or node test/cluster/main.ts

Runs haproxy, Redis, a PostgreSQL, three API processes and two workers, until Ctrl-C: the service as it is run past one
process. Prints their addresses and process ids, and a client of the demo account. A process of the service that ends,
by your hand for example, is started again. Needs haproxy and redis-server; everything is gone afterwards.`;

const needed = ['haproxy', 'redis-server'];

const undoing = new Undoing();
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort());

try {
  const { values } = parseArgs({ options: { help: { type: 'boolean', short: 'h' } } });
  if (values.help) console.log(help);
  else await main();
} catch (error) {
  console.error(`cluster: ${(error as Error).message.split('\n', 1)[0]}`);
  process.exitCode = 1;
} finally {
  await undoing.run();
}
process.exit();

async function main(): Promise<void> {
  const missing = needed.filter((program) => spawnSync(program, ['-v']).error);
  if (missing.length > 0)
    throw new Error(`${missing.join(' and ')} missing: apt install ${missing.join(' ')}`);
  const scratch = mkdtempSync(join(tmpdir(), 'menus-cluster-'));
  undoing.teardown(() => rmSync(scratch, { recursive: true, force: true, maxRetries: 9 }));
  // Postgres may run as another user.
  chmodSync(scratch, 0o755);
  const env = { LOG_LEVEL: 'info', RATE_LIMIT_PER_MINUTE: '1200' };
  const { services, haproxy, redis, env: all } = await startMany(undoing, { scratch, logs: scratch, env });
  const demo = await loadDemo(all);
  console.log(`
haproxy     ${haproxy.address}   pid ${haproxy.pid}
Redis       ${redis.url}   pid ${redis.server.pid}
PostgreSQL  ${all['DATABASE_URL']}
${services.map(inOneLine).join('\n')}
logs        ${scratch}

Try it, and kill what you like; Ctrl-C ends it.

  TOKEN=$(curl -sS -u ${demo.client_id}:${demo.client_secret} -d grant_type=client_credentials ${haproxy.address}/api/v1/oauth/token | sed 's/.*"access_token":"\\([^"]*\\).*/\\1/')
  curl -sS -w '\\n' -H "Authorization: Bearer $TOKEN" -X POST ${haproxy.address}/api/v1/menus/${demo.menu_id}/items/${demo.item_id}/toggle
`);
  await Promise.all(services.map(keepRunning));
}

async function loadDemo(env: Record<string, string>) {
  const { stdout, stderr } = await launch([process.execPath, 'scripts/admin.ts', 'load-demo'], env).outcome;
  if (!stdout) throw new Error(stderr.trim());
  return JSON.parse(stdout);
}

function inOneLine(service: ServiceProcess): string {
  return `${service.name.padEnd(12)}${service.address}   pid ${service.pid}`;
}

/** Starts it again whenever it ends, until all are to stop. */
async function keepRunning(service: ServiceProcess): Promise<void> {
  while (!stopping.signal.aborted) {
    if (!(await service.ends(500))) continue;
    if (stopping.signal.aborted) return;
    console.log(`${service.name} has ended`);
    await pause(1_000);
    await service.start();
    console.log(inOneLine(service));
  }
}
