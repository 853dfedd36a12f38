/**
 * Checks a sample of the responses against the published contract while the service runs.
 *
 * Actors: this process, which passes on copies of what it has sent; a separate thread, which compiles the schemas and
 * validates, since either would delay other requests for milliseconds.
 *
 * Guarantee: no response is changed or delayed. The thread falls behind by a bounded number of bytes at most;
 * responses beyond that are counted as skipped. If the thread fails, this is logged and all further responses are
 * skipped.
 */
import { Worker } from 'node:worker_threads';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { OperationId } from '../../generated/operations.ts';
import type { SentResponse, Violation } from './contract-check.ts';

/** What came of a sampled response. */
export type CheckResult = 'kept' | 'violated' | 'skipped';

export interface ResponseCheckOptions {
  /** The published contract. */
  document: object;
  /** Share of the responses of operations that is checked, above 0 and up to 1. */
  rate: number;
  count(operation: OperationId, status: number, result: CheckResult): void;
}

interface Sample {
  request: FastifyRequest;
  reply: FastifyReply;
  operationId: OperationId;
  body: string | Buffer | null | undefined;
}

const longestBacklog = 8 << 20;

/**
 * Logs each violation with its operation, status, request id, place and keyword, never with a value: responses hold
 * secrets. To be called before bodies are compressed and after every other `onSend` hook is added, before routes are.
 */
export function registerResponseCheck(
  app: FastifyInstance,
  { document, rate, count }: ResponseCheckOptions,
): void {
  const thread = new Worker(new URL('./response-check-thread.ts', import.meta.url), { workerData: document });
  thread.unref();
  let failed = false;
  let backlog = 0;
  let taken: Sample[] = [];
  const handedOn: Sample[][] = [];

  app.addHook('onSend', (request, reply, body, done) => {
    const { operationId } = request.routeOptions.config;
    if (operationId !== undefined && Math.random() < rate)
      take({ request, reply, operationId, body: body as Sample['body'] });
    done();
  });
  app.addHook('onClose', async () => void (await thread.terminate()));

  function take(sample: Sample): void {
    if (failed || backlog > longestBacklog) {
      end(sample, 'skipped');
    } else {
      backlog += lengthOf(sample);
      // By then it has been sent, and so have others that were ready with it.
      if (taken.push(sample) === 1) setImmediate(handOn);
    }
  }

  function handOn(): void {
    handedOn.push(taken);
    thread.postMessage(taken.map(sent));
    taken = [];
  }

  thread.on('message', (results: Violation[][]) => {
    for (const [index, sample] of (handedOn.shift() ?? []).entries()) {
      const violations = results[index] ?? [];
      backlog -= lengthOf(sample);
      end(sample, violations.length > 0 ? 'violated' : 'kept', violations);
    }
  });
  thread.on('error', (err) => {
    failed = true;
    app.log.error({ err }, 'responses are no longer checked');
    for (const sample of [...handedOn.splice(0), taken].flat()) end(sample, 'skipped');
    taken = [];
  });

  function end({ request, reply, operationId }: Sample, result: CheckResult, violations?: Violation[]): void {
    const { statusCode: status } = reply;
    count(operationId, status, result);
    if (result === 'violated')
      request.log.warn({ operation: operationId, status, violations }, 'response violates the contract');
  }
}

// Roughly its size in memory, with its headers.
function lengthOf({ body }: Sample): number {
  return 1_000 + (body?.length ?? 0);
}

function sent({ reply, operationId, body }: Sample): SentResponse {
  return { operationId, status: reply.statusCode, headers: reply.getHeaders(), body };
}
