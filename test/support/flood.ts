/** A client on a thread of its own that repeats calls on many connections at once, as fast as it gets responses. */
import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Agent, request } from 'undici';
import type { DistantCall } from './distant-client.ts';

export interface Flood {
  url: string;
  token: string;
  /** Made in turns. */
  calls: DistantCall[];
  /** How many calls are in progress at any time. */
  connections: number;
}

export interface FloodResult {
  /** How many responses there were, by status. */
  responses: Record<number, number>;
  /** How long the calls that were served took, in ms. */
  served: number[];
}

/**
 * Begins a flood.
 * @returns what ends it, and tells what it got once no call is in progress.
 */
export function startFlood(flood: Flood): () => Promise<FloodResult> {
  const thread = new Worker(new URL(import.meta.url), { workerData: { flood } });
  return async () => {
    thread.postMessage('stop');
    const [result] = (await once(thread, 'message')) as [FloodResult];
    await thread.terminate();
    return result;
  };
}

if (!isMainThread && workerData?.flood) {
  const { url, token, calls, connections }: Flood = workerData.flood;
  const dispatcher = new Agent({ connections, headersTimeout: 60_000 });
  const responses: FloodResult['responses'] = {};
  const served: number[] = [];
  let goesOn = true;
  let made = 0;
  const repeat = async () => {
    while (goesOn) {
      const { method, path, body, headers } = calls[made++ % calls.length] as DistantCall;
      const since = performance.now();
      const { statusCode, body: text } = await request(`${url}/api/v1${path}`, {
        method,
        dispatcher,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body }),
      });
      await text.arrayBuffer();
      if (statusCode < 300) served.push(performance.now() - since);
      responses[statusCode] = (responses[statusCode] ?? 0) + 1;
    }
  };
  const all = Promise.all(Array.from({ length: connections }, repeat));
  parentPort?.once('message', async () => {
    goesOn = false;
    await all;
    parentPort?.postMessage({ responses, served } satisfies FloodResult);
  });
}
