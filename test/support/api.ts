import { Agent, request } from 'undici';
import { checkAgainstContract } from './contract.ts';

export interface ApiResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** The body as sent. */
  text: string;
  /** The parsed body; undefined when there is none. Tests look into it freely. */
  // biome-ignore lint/suspicious/noExplicitAny: the contract check has validated it
  body: any;
}

export interface CallOptions {
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as it is. */
  body?: string | Buffer;
  headers?: Record<string, string>;
  /** A token in place of the client's own; null: none. */
  token?: string | null;
}

/** A client of the service that checks every response against the contract. */
export interface Api {
  url: string;
  credentials: { client_id: string; client_secret: string; account_id: number };
  /** Path below /api/v1, or a full path that starts with `//`. */
  call(method: string, path: string, options?: CallOptions): Promise<ApiResponse>;
  get(path: string, options?: CallOptions): Promise<ApiResponse>;
  post(path: string, json?: unknown, options?: CallOptions): Promise<ApiResponse>;
  put(path: string, json: unknown, options?: CallOptions): Promise<ApiResponse>;
  delete(path: string, options?: CallOptions): Promise<ApiResponse>;
  /** The client's access token, fetched once. */
  token(): Promise<string>;
}

const agent = new Agent({ connections: 256, pipelining: 1, keepAliveTimeout: 1_000 });

export function createApi(url: string, credentials: Api['credentials']): Api {
  let token: Promise<string> | undefined;
  const ownToken = () => {
    token ??= fetchToken(url, credentials);
    return token;
  };

  const call: Api['call'] = async (method, path, { json, body, headers = {}, token } = {}) => {
    const bearer = token === undefined ? await ownToken() : token;
    const reply = await send(
      url,
      method,
      path.startsWith('//') ? path.slice(1) : `/api/v1${path}`,
      {
        ...(bearer !== null && { authorization: `Bearer ${bearer}` }),
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      json === undefined ? body : JSON.stringify(json),
    );
    return reply;
  };

  return {
    url,
    credentials,
    call,
    get: (path, options) => call('GET', path, options),
    post: (path, json, options) => call('POST', path, { json, ...options }),
    put: (path, json, options) => call('PUT', path, { json, ...options }),
    delete: (path, options) => call('DELETE', path, options),
    token: ownToken,
  };
}

/** Sends one request. The response of an operation is checked against the contract. */
export async function send(
  url: string,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: string | Buffer,
): Promise<ApiResponse> {
  const response = await request(`${url}${path}`, {
    method: method as 'GET',
    headers,
    dispatcher: agent,
    ...(body !== undefined && { body }),
  });
  // Not body.text(), which removes a byte order mark.
  const text = Buffer.from(await response.body.arrayBuffer()).toString();
  const json = String(response.headers['content-type'] ?? '').includes('json');
  const reply: ApiResponse = {
    status: response.statusCode,
    headers: response.headers,
    text,
    body: json && text ? JSON.parse(text) : undefined,
  };
  checkAgainstContract(method, path, reply);
  return reply;
}

async function fetchToken(url: string, { client_id, client_secret }: Api['credentials']): Promise<string> {
  const reply = await send(
    url,
    'POST',
    '/api/v1/oauth/token',
    {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`,
    },
    'grant_type=client_credentials',
  );
  if (reply.status !== 200) throw new Error(`no token: ${reply.status} ${reply.text}`);
  return reply.body.access_token;
}
