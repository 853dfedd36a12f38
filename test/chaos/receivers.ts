import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import type { Random } from './random.ts';

/** The deliveries of one event to one endpoint. */
export interface Arrivals {
  /** The body of the first delivery. */
  body: string;
  count: number;
  /** Whether a later delivery had another body. */
  differed: boolean;
}

export type Pace = 'fast' | 'slow' | 'failing';
export const paces: readonly Pace[] = ['fast', 'slow', 'failing'];

/** Three endpoints in one server: one that is fast, one that is slow, one that fails half the time. */
export interface Receivers {
  port: number;
  /** By event id, in the order of first arrival. */
  arrived: Record<Pace, Map<string, Arrivals>>;
  /** Deliveries whose signature is not valid, by endpoint and event. */
  unsigned: string[];
  /** Set once the webhook is registered. */
  secrets: Partial<Record<Pace, string>>;
  /** Whether every endpoint responds at once and with success, rather than as is usual for it. */
  calm: boolean;
  stop(): void;
}

export async function startReceivers(random: Random): Promise<Receivers> {
  const server = createServer((request, response) => {
    // What the proxy interrupts is sent again.
    receive(receivers, random, request, response).catch(() => response.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const receivers: Receivers = {
    port: (server.address() as AddressInfo).port,
    arrived: { fast: new Map(), slow: new Map(), failing: new Map() },
    unsigned: [],
    secrets: {},
    calm: false,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
  return receivers;
}

async function receive(
  receivers: Receivers,
  random: Random,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const pace = request.url?.slice(1) as Pace;
  const body = await textOf(request);
  const isGenuine = isSigned(request, body, receivers.secrets[pace] ?? '');
  const id = String(request.headers['webhook-id']);
  if (!isGenuine) receivers.unsigned.push(`${pace} ${id}`);
  note(receivers.arrived[pace], id, body);
  if (!receivers.calm) {
    if (pace === 'slow') await pause(random.between(50, 300));
    if (pace === 'failing' && random.chance(0.5)) return fail(random, response);
  }
  response.writeHead(204).end();
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function isSigned(request: IncomingMessage, body: string, secret: string): boolean {
  try {
    new Webhook(secret).verify(body, request.headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

function note(arrived: Map<string, Arrivals>, id: string, body: string): void {
  const known = arrived.get(id);
  if (!known) arrived.set(id, { body, count: 1, differed: false });
  else Object.assign(known, { count: known.count + 1, differed: known.differed || known.body !== body });
}

function fail(random: Random, response: ServerResponse): void {
  if (random.chance(0.3)) response.destroy();
  else response.writeHead(random.pick([500, 503, 404])).end();
}
