import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Webhook } from 'standardwebhooks';
import type { Test } from 'tap';
import type { components } from '../../generated/api.ts';
import type { Api } from './api.ts';

export type WebhookPayload = components['schemas']['WebhookPayload'];

/** One request, whole. */
export interface Delivery {
  id: string;
  path: string;
  headers: Record<string, string>;
  /** The bytes as text. */
  body: string;
  event: WebhookPayload;
  receivedAt: number;
}

/** A status, a whole response, or a function that handles the open connection. */
export type ReceiverReply =
  | number
  | { status: number; headers?: Record<string, string>; body?: string }
  | ((response: ServerResponse) => void);

export interface Receiver {
  url: string;
  /** In the order of arrival. */
  deliveries: Delivery[];
  /** Decides how each delivery is answered; `nth` counts those of its id from 1. Replace it at any time. */
  reply: (delivery: Delivery, nth: number) => ReceiverReply | Promise<ReceiverReply>;
  /** Waits until `count` deliveries have arrived, or as many for which the condition holds. */
  until(count: number, condition?: (delivery: Delivery) => boolean): Promise<Delivery[]>;
  /** Stops listening and cuts every connection. */
  close(): Promise<void>;
}

/** Leaves the sender waiting. */
export const hang: ReceiverReply = () => {};

const patienceMs = 60_000;

/** A real HTTP server on loopback that records its requests and responds with 204 unless told otherwise. */
export async function startReceiver(t: Test, reply: Receiver['reply'] = () => 204): Promise<Receiver> {
  const deliveries: Delivery[] = [];
  const sockets = new Set<Socket>();
  const waiting = new Set<() => void>();
  let isClosed = false;
  const server = createServer(async (request, response) => {
    const delivery = await read(request);
    deliveries.push(delivery);
    const nth = deliveries.filter(({ id }) => id === delivery.id).length;
    for (const look of waiting) look();
    try {
      respond(response, await receiver.reply(delivery, nth));
    } catch (error) {
      // A request that came as the test ended may still call a service that has stopped by then.
      if (!isClosed) throw error;
    }
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    deliveries,
    reply,
    until(count, condition = () => true) {
      return new Promise((resolve, reject) => {
        const look = () => {
          const found = deliveries.filter(condition);
          if (found.length < count) return;
          clearTimeout(timer);
          waiting.delete(look);
          resolve(found);
        };
        const timer = setTimeout(() => {
          waiting.delete(look);
          reject(
            new Error(`${deliveries.filter(condition).length} of ${count} arrived in ${patienceMs / 1000} s`),
          );
        }, patienceMs);
        waiting.add(look);
        look();
      });
    },
    async close() {
      isClosed = true;
      server.close();
      for (const socket of sockets) socket.destroy();
      if (server.listening) await once(server, 'close');
    },
  };
  t.teardown(() => receiver.close());
  return receiver;
}

/** Registers the receiver as an endpoint of the client's account, until the test ends. */
export async function subscribe(
  t: Test,
  api: Api,
  receiver: Pick<Receiver, 'url'>,
  fields: Partial<components['schemas']['WebhookCreate']> = {},
): Promise<{ webhook_id: number; secret: string }> {
  const made = await api.post('/webhooks', { url: receiver.url, ...fields });
  if (made.status !== 201) throw new Error(`no webhook: ${made.status} ${made.text}`);
  t.teardown(() => api.delete(`/webhooks/${made.body.data.webhook_id}`));
  return made.body.data;
}

/**
 * Reads a delivery as an integrator does, with the Standard Webhooks library.
 * @throws when the signature or its time is invalid.
 */
export function verify(delivery: Delivery, secret: string): WebhookPayload {
  return new Webhook(secret).verify(delivery.body, delivery.headers) as WebhookPayload;
}

async function read(request: IncomingMessage): Promise<Delivery> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString();
  const headers = request.headers as Record<string, string>;
  return {
    id: headers['webhook-id'] ?? '',
    path: request.url ?? '',
    headers,
    body,
    event: JSON.parse(body),
    receivedAt: performance.now(),
  };
}

function respond(response: ServerResponse, reply: ReceiverReply): void {
  if (typeof reply === 'function') {
    reply(response);
  } else {
    const { status, headers = {}, body } = typeof reply === 'number' ? { status: reply } : reply;
    response.writeHead(status, headers).end(body);
  }
}
