/**
 * Threads that read, compare and write large documents, since ten thousand items take longer than other requests should
 * wait.
 *
 * Actors: this process; threads, started when first needed and kept; for each import or export, a port to one of them.
 *
 * Guarantee: a call that ends, in whatever way, leaves nothing behind on its thread. The thread serves its calls in
 * turn, question by question. All calls of a client are on one thread, so that other clients need not wait for them, even
 * in a transaction. If a thread fails, so do its calls, and the next call gets a new one.
 */
import { availableParallelism } from 'node:os';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import type { SentImport } from './planner.ts';

/** An import, or exports. */
export type Work = SentImport | 'export';

export interface Conversation {
  /** @throws when the thread ends, or has ended. */
  ask<Reply>(question: object): Promise<Reply>;
  /** Must be called at the end. */
  close(): void;
}

/**
 * The size, in bytes or characters, of documents and menus that take about 10 ms: up to it, they are handled in this
 * thread.
 */
export const smallSize = 131_072;
const mostThreads = Math.max(2, Math.min(4, availableParallelism() - 1));

/** Begins on the client's thread or, if it has none, on the one with the least to do. */
export function converse(clientId: string, work: Work): Conversation {
  const thread = threadOf(clientId) ?? leastBusy();
  const { port1: port, port2 } = new MessageChannel();
  thread.worker.postMessage({ work, port: port2 }, [port2]);
  thread.callers.push(clientId);
  const ended = new AbortController();
  let isDone = false;
  port.once('close', () => {
    // Before its own event does so, so that the next call gets another thread.
    if (!isDone) threads.delete(thread);
    ended.abort();
  });
  return {
    ask: (question) => ask(port, question, ended.signal),
    close: () => {
      isDone = true;
      thread.callers.splice(thread.callers.indexOf(clientId), 1);
      port.close();
    },
  };
}

function ask<Reply>(port: MessagePort, question: object, ended: AbortSignal): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Error('the thread that deals with the document has ended'));
    if (ended.aborted) return fail();
    ended.addEventListener('abort', fail, { once: true });
    port.once('message', (reply: Reply) => {
      ended.removeEventListener('abort', fail);
      resolve(reply);
    });
    port.postMessage(question);
  });
}

interface Thread {
  worker: Worker;
  /** The client of each call in progress. */
  callers: string[];
}

const threads = new Set<Thread>();

function threadOf(clientId: string): Thread | undefined {
  return [...threads].find(({ callers }) => callers.includes(clientId));
}

function leastBusy(): Thread {
  const [free] = [...threads].sort((a, b) => a.callers.length - b.callers.length);
  return free && (free.callers.length === 0 || threads.size >= mostThreads) ? free : startThread();
}

function startThread(): Thread {
  const worker = new Worker(new URL('./thread.ts', import.meta.url));
  worker.unref();
  const thread: Thread = { worker, callers: [] };
  threads.add(thread);
  // When it ends, its ports close, which notifies its calls.
  worker.on('error', () => {});
  worker.on('exit', () => threads.delete(thread));
  return thread;
}
