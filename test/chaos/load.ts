import { setTimeout as pause } from 'node:timers/promises';
import type { Credentials } from '../../scripts/launch.ts';
import { fetchToken } from '../../scripts/launch.ts';
import { type ApiResponse, send } from '../support/api.ts';
import { type Call, type Journal, notOfContract, type Request } from './journal.ts';
import { Known } from './known.ts';
import type { Operation } from './operations/operation.ts';
import { drawOperation, firstOperations } from './operations.ts';
import { Random } from './random.ts';
import { type Callee, isOfNetwork } from './session.ts';

const patienceMs = 30_000;
const settlingMs = 60_000;

export interface LoadOptions {
  callees: readonly Callee[];
  credentials: Credentials;
  seed: string;
  clients: number;
}

/**
 * Clients of one account that write and read at random and record everything. The n-th call of each has its own random
 * numbers, so a seed gives every client the same intentions; what they encounter depends on timing.
 */
export class Load {
  readonly #journal: Journal;
  readonly #options: LoadOptions;
  readonly #known = new Known();
  readonly #tokens = new Map<string, string>();
  readonly #clients: { index: number; calls: number }[];
  #running: Promise<void>[] = [];
  #stopping = false;
  /** Calls that were acknowledged and have written. */
  written = 0;

  constructor(journal: Journal, options: LoadOptions) {
    this.#journal = journal;
    this.#options = options;
    this.#clients = Array.from({ length: options.clients }, (_, index) => ({ index, calls: 0 }));
  }

  /** Creates the first records. @throws when the service refuses */
  async prepare(): Promise<void> {
    for (const operation of firstOperations(this.#known)) {
      const call = await this.#perform(operation, new Random('first'), true);
      const request = call.requests.at(-1);
      if (request?.outcome !== 'acknowledged')
        throw new Error(`${operation.name} was not acknowledged: ${request?.status} ${request?.note ?? ''}`);
    }
  }

  start(): void {
    this.#stopping = false;
    this.#running = this.#clients.map((client) => this.#work(client));
  }

  /** Lets every client finish its call; with a key, that means until its outcome is known. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#running);
    this.#running = [];
  }

  async #work(client: { index: number; calls: number }): Promise<void> {
    const { seed, clients } = this.#options;
    while (!this.#stopping) {
      client.calls += 1;
      const random = new Random(`${seed} client ${client.index} call ${client.calls}`);
      const mark = client.calls * clients + client.index;
      const operation = drawOperation(random, this.#known, mark);
      await this.#perform(operation, random, operation.method === 'POST' && random.chance(0.5));
      await pause(random.between(5, 60));
    }
  }

  async #perform(operation: Operation, random: Random, keyed: boolean): Promise<Call> {
    const call = this.#journal.begin(operation, keyed);
    const deadline = performance.now() + settlingMs;
    for (;;) {
      const request = await this.#request(call, random.pick(this.#options.callees));
      const isOpen = request.outcome === 'unknown' || request.status === 409;
      const again = request.status === 401 || (keyed && isOpen);
      if (!again || performance.now() > deadline) break;
      await pause(random.between(50, 250));
    }
    // Some repeat a call whose response they already have.
    if (keyed && random.chance(0.1)) await this.#request(call, random.pick(this.#options.callees));
    return call;
  }

  async #request(call: Call, callee: Callee): Promise<Request> {
    const { operation } = call;
    const request = this.#journal.send(call, callee.name);
    try {
      const response = await inTime(this.#send(request, call, callee));
      request.status = response.status;
      if (response.status < 300 || response.status === 304) this.#acknowledged(operation, request, response);
      else if (response.status === 503) this.#unavailable(request, response);
      else this.#refused(operation, request, callee);
    } catch (error) {
      this.#failed(call, request, error as Error & { code?: string });
    }
    return request;
  }

  async #send({ id }: Request, { operation, key }: Call, { name, address }: Callee): Promise<ApiResponse> {
    const { method, path, body, headers } = operation;
    const token = this.#tokens.get(name) ?? (await fetchToken(address, this.#options.credentials));
    this.#tokens.set(name, token);
    const all = {
      authorization: `Bearer ${token}`,
      'x-request-id': id,
      ...(body && { 'content-type': 'application/json' }),
      ...(key && { 'idempotency-key': key }),
      ...headers,
    };
    return send(address, method, `/api/v1${path}`, all, body && JSON.stringify(body));
  }

  #acknowledged(operation: Operation, request: Request, { status, headers, body }: ApiResponse): void {
    const { path, target, effect, method } = operation;
    request.endedAt = performance.now();
    request.outcome = 'acknowledged';
    request.replayed = headers['idempotency-replayed'] === 'true';
    request.data = status === 304 ? operation.kept?.data : body?.data;
    if (method === 'DELETE' && target) this.#known.forget(target);
    this.#known.learn(request.data);
    const eTag = headers['etag'];
    if (typeof eTag === 'string' && status !== 304) {
      if (method === 'GET') this.#known.kept.set(path, { eTag, data: request.data });
      const { version } = request.data ?? {};
      if (target && version) this.#known.tags.set(target, { eTag, version });
    }
    if (effect) this.written += 1;
  }

  #unavailable(request: Request, { headers }: ApiResponse): void {
    if (Number(headers['retry-after']) >= 1) return;
    this.#journal.mishaps.push({ rule: 'a 503 says when to try again', detail: request.id });
  }

  #refused({ target }: Operation, request: Request, callee: Callee): void {
    request.endedAt = performance.now();
    request.outcome = 'refused';
    if (request.status === 404 && target) this.#known.forget(target);
    if (request.status === 401) this.#tokens.delete(callee.name);
  }

  #failed({ operation }: Call, request: Request, error: Error & { code?: string }): void {
    request.note = error.code ?? error.message;
    if (error instanceof NoResponse)
      this.#journal.mishaps.push({
        rule: 'every request is responded to',
        detail: `${request.id}: ${error.message}`,
      });
    else if (!isOfNetwork(error))
      this.#journal.mishaps.push(notOfContract(`${operation.name} ${request.id}: ${error.message}`));
  }
}

class NoResponse extends Error {}

async function inTime<T>(response: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const late = pause(patienceMs, undefined, { signal: timer.signal }).then(() => {
    throw new NoResponse(`no response in ${patienceMs / 1000} s`);
  });
  late.catch(() => {});
  return Promise.race([response, late]).finally(() => timer.abort());
}
