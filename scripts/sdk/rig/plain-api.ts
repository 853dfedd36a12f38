import { type Credentials, fetchToken } from '../../launch.ts';

/** The service by plain HTTP, without any generated client. */
export interface PlainApi {
  get<T>(path: string): Promise<T>;
  send<T>(method: 'POST' | 'PUT', path: string, body: object): Promise<T>;
}

/** Gets a token. Every answer but a 2xx is thrown. */
export async function plainApi(origin: string, client: Credentials): Promise<PlainApi> {
  const authorization = `Bearer ${await fetchToken(origin, client)}`;
  const base = `${origin}/api/v1`;
  return {
    get: (path) => fetchJson(`${base}${path}`, { headers: { authorization } }),
    send: (method, path, body) =>
      fetchJson(`${base}${path}`, {
        method,
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
  };
}

async function fetchJson<T>(url: string, init: RequestInit): Promise<T> {
  const response = await fetch(url, init);
  if (response.ok) return (await response.json()) as T;
  throw new Error(`${init.method ?? 'GET'} ${url}: ${response.status} ${await response.text()}`);
}
