/** The service by plain HTTP, without any generated client. */
export interface PlainApi {
  get<T>(path: string): Promise<T>;
  send<T>(method: 'POST' | 'PUT', path: string, body: object): Promise<T>;
}

/** Gets a token. @throws for every answer but a 2xx */
export async function plainApi(
  base: string,
  { client_id, client_secret }: { client_id: string; client_secret: string },
): Promise<PlainApi> {
  const { access_token } = await answer<{ access_token: string }>(`${base}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret }),
  });
  const authorization = `Bearer ${access_token}`;
  return {
    get: (path) => answer(`${base}${path}`, { headers: { authorization } }),
    send: (method, path, body) =>
      answer(`${base}${path}`, {
        method,
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
  };
}

async function answer<T>(url: string, init: RequestInit): Promise<T> {
  const response = await fetch(url, init);
  if (response.ok) return (await response.json()) as T;
  throw new Error(`${init.method ?? 'GET'} ${url}: ${response.status} ${await response.text()}`);
}
