/** A receiver for those who try the service: verifies each webhook as an integrator would, and prints it. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { Webhook } from 'standardwebhooks';
import type { components } from '../generated/api.ts';

type Event = components['schemas']['WebhookPayload'];

const help = `usage: npm run webhook-listen -- --secret whsec_… [--port N] [--status N]

  --secret whsec_…  secret of the endpoint, as createWebhook returned it; may be repeated: any of them is accepted
  --port N          where to listen on 127.0.0.1 (default 4000)
  --status N        status to return (default 204); 500 simulates a failing receiver

Register http://127.0.0.1:4000/ as the endpoint's url. The service sends webhooks to this machine only when it was
started with WEBHOOK_ALLOWED_NETWORKS=127.0.0.0/8. A delivery with a wrong signature gets 401.`;

/** A command line that cannot be carried out; its message is one line. */
class UsageError extends Error {}

try {
  await main();
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  const usage = error instanceof UsageError || code?.startsWith('ERR_PARSE_ARGS');
  console.error(`webhook-listen: ${message}${usage ? '; see --help' : ''}`);
  process.exit(1);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      secret: { type: 'string', multiple: true },
      port: { type: 'string', default: '4000' },
      status: { type: 'string', default: '204' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return console.log(help);
  const secrets = values.secret ?? [];
  if (secrets.length === 0) throw new UsageError('--secret is missing');
  const webhooks = secrets.map(readSecret);
  const port = readNumber('--port', values.port, 0, 65_535);
  const status = readNumber('--status', values.status, 200, 599);

  const seen = new Map<string, number>();
  const server = createServer((request, response) => {
    // One that breaks off has nobody left to answer.
    receive(request, response, { webhooks, status, seen }).catch(() => request.destroy());
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const { port: bound } = server.address() as AddressInfo;
  console.log(`webhook-listen: http://127.0.0.1:${bound}/ returns ${status}; stop it with Ctrl-C\n`);
}

function readSecret(secret: string): Webhook {
  try {
    if (secret.startsWith('whsec_')) return new Webhook(secret);
  } catch {
    // Not base64: the same error.
  }
  throw new UsageError('--secret must be whsec_ and base64, as createWebhook returned it');
}

function readNumber(option: string, text: string, least: number, most: number): number {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new UsageError(`${option} must be a number from ${least} to ${most}`);
}

interface Receiver {
  webhooks: Webhook[];
  status: number;
  /** How often each event came. */
  seen: Map<string, number>;
}

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  { webhooks, status, seen }: Receiver,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const event = verified(Buffer.concat(chunks).toString(), request, webhooks);
  const reply = typeof event === 'string' ? 401 : status;
  response.writeHead(reply).end();
  console.log(
    `${new Date().toLocaleTimeString('en-GB')}  ${told(event, seen)}\n          returned ${reply}\n`,
  );
}

/** The event, or why it is not believed. */
function verified(body: string, { headers }: IncomingMessage, webhooks: Webhook[]): Event | string {
  let wrong = '';
  for (const webhook of webhooks) {
    try {
      return webhook.verify(body, headers as Record<string, string>) as Event;
    } catch (error) {
      wrong = (error as Error).message;
    }
  }
  return wrong;
}

function told(event: Event | string, seen: Map<string, number>): string {
  if (typeof event === 'string') return `REFUSED  ${event}`;
  const times = (seen.get(event.id) ?? 0) + 1;
  seen.set(event.id, times);
  return [
    `${event.type}  ${subject(event)}${event.id.startsWith('evt_test_') ? '  (a test)' : ''}`,
    ...changes(event),
    `location ${event.location_id}${event.menu_id === null ? '' : `, menu ${event.menu_id}`}, at ${event.timestamp}`,
    `${event.id}, signature valid${times > 1 ? `, seen ${times} times` : ''}`,
  ].join('\n          ');
}

/** 'item 42 "Salmon nigiri", version 7'. */
function subject({ type, data }: Event): string {
  const kind = type.slice(0, type.indexOf('.'));
  const { [`${kind}_id`]: id, name, version } = data as unknown as Record<string, unknown>;
  return `${kind} ${id} ${JSON.stringify(name)}, version ${version}`;
}

function changes({ data, previous }: Event): string[] {
  const now = data as unknown as Record<string, unknown>;
  return Object.entries(previous ?? {}).map(
    ([field, before]) => `${field}: ${JSON.stringify(before)} -> ${JSON.stringify(now[field])}`,
  );
}
