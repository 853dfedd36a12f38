import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How an endpoint responds. */
export const manners = {
  healthy: (response: ServerResponse) => void response.writeHead(204).end(),
  slow: (response: ServerResponse) => void setTimeout(() => response.writeHead(204).end(), 250),
  dead: (response: ServerResponse) => void response.destroy(),
};
export type Manner = keyof typeof manners;

export interface Receivers {
  urlOf(manner: Manner): string;
  /** How many deliveries came. */
  arrived: Record<Manner, number>;
  stop(): void;
}

/** One server with an endpoint of each kind. What comes is counted and forgotten. */
export async function startReceivers(): Promise<Receivers> {
  const arrived = { healthy: 0, slow: 0, dead: 0 };
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const manner = request.url?.slice(1) as Manner;
    arrived[manner] += 1;
    request.resume().on('end', () => manners[manner](response));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (manner) => `http://127.0.0.1:${port}/${manner}`,
    arrived,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
