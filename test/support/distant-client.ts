/** A client on a thread of its own, for measurements of the thread that serves it: it takes no time there. */
import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import type { Test } from 'tap';
import { request } from 'undici';

export interface DistantCall {
  method: 'GET' | 'POST' | 'PUT';
  /** Below /api/v1. */
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

export interface DistantResponse {
  status: number;
  /** Of the body. */
  bytes: number;
}

/** @returns what makes one call after the other; the thread ends with the test. */
export function distantClient(
  t: Test,
  caller: { url: string; token: string },
): (call: DistantCall) => Promise<DistantResponse> {
  const thread = new Worker(new URL(import.meta.url), { workerData: caller });
  t.teardown(() => thread.terminate());
  return async (call) => {
    thread.postMessage(call);
    const [response] = await once(thread, 'message');
    return response;
  };
}

if (!isMainThread && workerData?.token) {
  const { url, token } = workerData;
  parentPort?.on('message', async ({ method, path, headers, body }: DistantCall) => {
    const response = await request(`${url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body }),
    });
    const { byteLength } = await response.body.arrayBuffer();
    parentPort?.postMessage({ status: response.statusCode, bytes: byteLength } satisfies DistantResponse);
  });
}
