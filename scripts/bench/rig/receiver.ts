import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { answer } from './child.ts';
import { timeOf } from './mark.ts';

/*
 * Stands in for the customers' servers, each at its own origin, in one process. Below /ok/ and /quiet/ it responds at
 * once, below /hang/ never. For /ok/ it records when each delivery arrived and, if the write was marked with a time
 * (mark.ts), how long the way took. A third party's library verifies the signature of every hundredth delivery.
 */

export type ReceiverQuestion =
  /** Starts over; endpoints not named in `secrets` are not verified. */
  | { kind: 'reset'; secrets: Record<string, string> }
  | { kind: 'read' }
  /** Ends the requests that hang. */
  | { kind: 'release' };

export interface Received {
  /** One for each endpoint that there may be. */
  origins: string[];
  /** Of deliveries to /ok/, in order; milliseconds since the epoch. */
  arrivals: number[];
  /** Milliseconds from write to arrival, for marked writes. */
  latencies: number[];
}

const origins = 100;
const everyNth = 100;

let secrets: Record<string, string> = {};
let arrivals: number[] = [];
let latencies: number[] = [];
let forged: string | undefined;
const hanging = new Set<ServerResponse>();

const servers = Array.from({ length: origins }, () =>
  createServer({ keepAliveTimeout: 60_000 }, receive).listen(0, '127.0.0.1'),
);

answer<ReceiverQuestion, Received>(async (question) => {
  await Promise.all(servers.map((server) => server.listening || once(server, 'listening')));
  if (forged !== undefined) throw new Error(forged);
  if (question.kind === 'reset') {
    secrets = question.secrets;
    arrivals = [];
    latencies = [];
  }
  if (question.kind === 'release') for (const response of hanging) response.destroy();
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  return { origins: ports.map((port) => `http://127.0.0.1:${port}`), arrivals, latencies };
});

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const now = performance.timeOrigin + performance.now();
  const path = request.url ?? '';
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  if (path.startsWith('/hang/')) {
    hanging.add(response);
    response.on('close', () => hanging.delete(response));
    return;
  }
  response.writeHead(204).end();
  if (!path.startsWith('/ok/')) return;
  const body = Buffer.concat(chunks).toString();
  const written = timeOf(body);
  if (written !== undefined) latencies.push(now - written);
  if (arrivals.push(now) % everyNth === 0) verify(path, request.headers, body);
}

function verify(path: string, headers: IncomingHttpHeaders, body: string): void {
  const secret = secrets[path];
  if (secret === undefined) return;
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
  } catch (error) {
    forged = `a delivery to ${path} does not verify: ${(error as Error).message}`;
  }
}
