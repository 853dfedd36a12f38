import { join } from 'node:path';
import type { Config } from './config.ts';
import { type DemoClient, demoClientFile } from './demo.ts';

/** A line of the log, the last one of a start: for whoever is no person at a terminal. */
export interface Ready {
  level: 30;
  time: number;
  service: 'menu-management-service';
  msg: 'ready';
  role: Config['role'];
  /** Where it listens: the API, or with ROLE=worker health and metrics alone. */
  address: string;
  /** The process to signal when it is to stop. */
  pid: number;
  /** File with a client of the demo account, when there is one to show. No secret is ever logged. */
  demo_client?: string;
}

/** Tells whoever started the service where it is and what to try first; the lines can be pasted. */
export function greet(config: Config, address: string, demo: DemoClient | undefined): void {
  const base = address.replace('[::]', 'localhost');
  console.log(config.role === 'worker' ? workerNotice(base) : tour(config, base, demo));
  if (!process.stdout.isTTY) console.log(JSON.stringify(ready(config, base, demo)));
}

function ready({ role, dataDir }: Config, address: string, demo?: DemoClient): Ready {
  const place = { role, address, pid: process.pid };
  const kept = demo && { demo_client: join(dataDir, demoClientFile) };
  return { level: 30, time: Date.now(), service: 'menu-management-service', msg: 'ready', ...place, ...kept };
}

function workerNotice(base: string): string {
  return `
Menu Management Service is ready: it sends webhooks

  health         ${base}/health/ready
  metrics        ${base}/metrics
`;
}

function tour({ databaseUrl, dataDir }: Config, base: string, demo: DemoClient | undefined): string {
  return `
Menu Management Service is ready at ${base}

  docs           ${base}/docs
  contract       ${base}/openapi.json
  data           ${databaseUrl ? 'DATABASE_URL' : dataDir}
${demo ? tryOut(`${base}/api/v1`, demo) : clientHint}`;
}

function tryOut(api: string, { client_id, client_secret, menu_id, item_id }: DemoClient): string {
  const curl = `curl -sS -w '\\n' -H "Authorization: Bearer $TOKEN"`;
  return `
  demo client    ${client_id}
  its secret     ${client_secret}

Try it: get a token, read a whole menu, make the salmon unavailable.

  TOKEN=$(curl -sS -u ${client_id}:${client_secret} -d grant_type=client_credentials ${api}/oauth/token | sed 's/.*"access_token":"\\([^"]*\\).*/\\1/')
  ${curl} ${api}/menus/${menu_id}
  ${curl} -X POST ${api}/menus/${menu_id}/items/${item_id}/toggle
`;
}

const clientHint = `
Create a client: npm run --silent admin -- create-client --account NAME
Load the demo:   npm run --silent admin -- load-demo
`;
