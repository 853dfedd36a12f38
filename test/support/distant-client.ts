/** A client on its own thread, so that it takes no time on the thread that is measured. */
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

interface Numbered {
  number: number;
}

/** @returns a function that makes a call; calls may overlap. The thread ends with the test. */
export function distantClient(
  t: Test,
  caller: { url: string; token: string },
): (call: DistantCall) => Promise<DistantResponse> {
  const thread = new Worker(new URL(import.meta.url), { workerData: caller });
  t.teardown(() => thread.terminate());
  const waiting = new Map<number, (response: DistantResponse) => void>();
  let calls = 0;
  thread.on('message', ({ number, ...response }: DistantResponse & Numbered) => {
    waiting.get(number)?.(response);
    waiting.delete(number);
  });
  return (call) =>
    new Promise((resolve) => {
      const number = ++calls;
      waiting.set(number, resolve);
      thread.postMessage({ ...call, number } satisfies DistantCall & Numbered);
    });
}

if (!isMainThread && workerData?.token) {
  const { url, token } = workerData;
  parentPort?.on('message', async ({ number, method, path, headers, body }: DistantCall & Numbered) => {
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
    const made: DistantResponse & Numbered = { number, status: response.statusCode, bytes: byteLength };
    parentPort?.postMessage(made);
  });
}
