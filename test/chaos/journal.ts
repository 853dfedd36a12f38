import type { Operation } from './operations/operation.ts';

/** One call of a client: an operation, sent once or, under an Idempotency-Key, until its outcome is known. */
export interface Call {
  number: number;
  operation: Operation;
  key: string | null;
  requests: Request[];
}

/** One request of a call. */
export interface Request {
  /** Its X-Request-Id, which its events carry. */
  id: string;
  /** The process that it was sent to. */
  to: string;
  startedAt: number;
  /** Infinity while it is unknown whether it took effect. */
  endedAt: number;
  status: number | null;
  /** Unknown after a 503 or without a response. */
  outcome: 'acknowledged' | 'refused' | 'unknown';
  // biome-ignore lint/suspicious/noExplicitAny: the contract check has validated it
  data?: any;
  replayed?: boolean;
  /** What went wrong, in a word. */
  note?: string;
}

/** A violation seen while the load ran. */
export interface Mishap {
  rule: string;
  detail: string;
}

export function notOfContract(detail: string): Mishap {
  return { rule: 'responses are what the contract says', detail };
}

/** Everything the clients did and received. */
export class Journal {
  readonly calls: Call[] = [];
  readonly requests = new Map<string, { call: Call; request: Request }>();
  readonly mishaps: Mishap[] = [];

  begin(operation: Operation, keyed: boolean): Call {
    const number = this.calls.length + 1;
    const call: Call = { number, operation, key: keyed ? `key-${number}` : null, requests: [] };
    this.calls.push(call);
    return call;
  }

  send(call: Call, to: string): Request {
    const request: Request = {
      id: `chaos-${call.number}-${call.requests.length + 1}`,
      to,
      startedAt: performance.now(),
      endedAt: Number.POSITIVE_INFINITY,
      status: null,
      outcome: 'unknown',
    };
    call.requests.push(request);
    this.requests.set(request.id, { call, request });
    return request;
  }
}

/** A call in one line for people. */
export function inWords({ number, operation, key, requests }: Call): string {
  const { method, path, body } = operation;
  const sent = requests.map(({ id, to, status, outcome, startedAt, endedAt, note }) => {
    const end = Number.isFinite(endedAt) ? (endedAt / 1000).toFixed(3) : '?';
    return `${id} to ${to} ${(startedAt / 1000).toFixed(3)}–${end} ${status ?? 'no response'} ${outcome}${note ? ` (${note})` : ''}`;
  });
  const under = key ? ` under ${key}` : '';
  return `call ${number}${under}: ${method} ${path} ${body ? JSON.stringify(body).slice(0, 300) : ''} | ${sent.join('; ')}`;
}
