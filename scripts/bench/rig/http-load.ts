import { Client, type Dispatcher } from 'undici';
import { answer } from './child.ts';
import { closedLoop, type Round, type Sample } from './closed-loop.ts';

/** One call of the API; `path` below the base path. */
export interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  json?: object;
  headers?: Record<string, string>;
  /** The only status that counts as an answer; 200 unless given. */
  status?: number;
}

export interface HttpRound extends Round {
  origin: string;
  token: string;
  /** The variants for each target. Sent once; later rounds omit them and reuse the last ones. */
  targets?: Call[][];
}

let prepared: { options: Dispatcher.DispatchOptions; status: number }[][] = [];

answer<HttpRound, Sample>(async ({ origin, token, targets, ...round }) => {
  if (targets) prepared = targets.map((variants) => variants.map((call) => prepare(call, token)));
  // One socket each, with one request at a time, so the number of connections is exact.
  const clients = Array.from({ length: round.connections }, () => new Client(origin, { pipelining: 1 }));
  try {
    return await closedLoop(
      round,
      prepared.map((variants) => variants.length),
      (connection, target, variant) =>
        send(clients[connection] as Client, prepared[target]?.[variant] as never),
    );
  } finally {
    await Promise.all(clients.map((client) => client.destroy()));
  }
});

function prepare({ method, path, json, headers, status = 200 }: Call, token: string) {
  const options: Dispatcher.DispatchOptions = {
    method,
    path: `/api/v1${path}`,
    headers: {
      authorization: `Bearer ${token}`,
      ...(json && { 'content-type': 'application/json' }),
      ...headers,
    },
    body: json ? JSON.stringify(json) : null,
  };
  return { options, status };
}

// Bodies are received and dropped; undici's own callbacks cost less than its promises and streams.
function send(
  client: Client,
  { options, status }: { options: Dispatcher.DispatchOptions; status: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    let wrong: number | undefined;
    client.dispatch(options, {
      onRequestStart() {},
      onResponseStart(_controller, got) {
        if (got !== status) wrong = got;
      },
      onResponseData() {},
      onResponseEnd() {
        if (wrong === undefined) resolve();
        else reject(new Error(`${options.method} ${options.path} returned ${wrong}, not ${status}`));
      },
      onResponseError: (_controller, error) => reject(error),
    });
  });
}
