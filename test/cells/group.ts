import { setTimeout as pause } from 'node:timers/promises';
import type { Api } from '../support/api.ts';
import type { RunningProxy } from '../support/proxies.ts';

interface Item {
  item_id: number;
  menu_id: number;
}

interface CallOptions {
  json?: object;
  method?: string;
  headers?: Record<string, string>;
}

let address = 2;

/** What a group does all day, through the proxy: writers, a reader of its menu and a reader of its events. */
export class Group {
  readonly acknowledged: { item_id: number; version: number; name: string }[] = [];
  /** How often each status was answered. */
  readonly statuses = new Map<number, number>();
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events freely
  readonly read: any[] = [];
  /** Names of the categories that it has made, each by a call with a key that it repeated until it was answered. */
  readonly made: string[] = [];
  readonly #proxy: RunningProxy;
  readonly #credentials: Api['credentials'];
  readonly #items: Item[];
  #token: Promise<string> | undefined;
  #cursor: string | undefined;
  #isWorking = true;
  #work: Promise<unknown>[] = [];

  constructor(proxy: RunningProxy, credentials: Api['credentials'], items: Item[]) {
    this.#proxy = proxy;
    this.#credentials = credentials;
    this.#items = items;
  }

  start(): void {
    const [first, ...others] = this.#items as [Item, ...Item[]];
    this.#work = [
      ...others.map((item) => this.#writeOn(item)),
      this.#takeOffOn(first),
      this.#makeOn(first),
      this.#readMenuOn(),
      this.#readFeedOn(),
    ];
  }

  async stop(): Promise<void> {
    this.#isWorking = false;
    await Promise.all(this.#work);
  }

  async readToEnd(): Promise<void> {
    while (await this.#readPage(ownAddress()));
  }

  async #writeOn({ item_id, menu_id }: Item): Promise<void> {
    const from = ownAddress();
    for (let n = 1; this.#isWorking; n += 1) {
      const name = `Name ${n}`;
      const { status, text } = await this.#call(from, `/menus/${menu_id}/items/${item_id}`, {
        json: { name },
      });
      if (status === 200) this.acknowledged.push({ item_id, name, version: JSON.parse(text).data.version });
      await pause(20);
    }
  }

  /** Takes an item off for moments, which the service itself brings back. */
  async #takeOffOn({ item_id, menu_id }: Item): Promise<void> {
    const from = ownAddress();
    while (this.#isWorking) {
      const unavailable_until = new Date(Date.now() + 2_000).toISOString();
      const items = [{ item_id, is_available: false, unavailable_until }];
      await this.#call(from, `/menus/${menu_id}/availability`, { json: { items }, method: 'POST' });
      await pause(50);
    }
  }

  async #makeOn({ menu_id }: Item): Promise<void> {
    const from = ownAddress();
    for (let n = 1; this.#isWorking; n += 1) {
      const [name, headers] = [`Category ${n}`, { 'idempotency-key': `category ${n}` }];
      const options = { json: { name }, headers, method: 'POST' };
      for (let status = 0; status !== 201; )
        ({ status } = await this.#call(from, `/menus/${menu_id}/categories`, options));
      this.made.push(name);
      await pause(20);
    }
  }

  async #readMenuOn(): Promise<void> {
    const from = ownAddress();
    while (this.#isWorking) {
      await this.#call(from, `/menus/${this.#items[0]?.menu_id}`);
      await pause(20);
    }
  }

  async #readFeedOn(): Promise<void> {
    const from = ownAddress();
    while (this.#isWorking) if (!(await this.#readPage(from))) await pause(20);
  }

  /** @returns whether there may be more */
  async #readPage(from: string): Promise<boolean> {
    const position = this.#cursor ? `&cursor=${this.#cursor}` : '';
    const { status, text } = await this.#call(from, `/events?limit=20${position}`);
    if (status !== 200) return true;
    const page = JSON.parse(text);
    this.read.push(...page.data);
    this.#cursor = page.resume_cursor;
    return page.next_cursor !== null;
  }

  /** Gets a new token after a 401, and waits a little after a 503, as clients should. */
  async #call(
    from: string,
    path: string,
    { json, method = json ? 'PUT' : 'GET', headers = {} }: CallOptions = {},
  ) {
    this.#token ??= this.#fetchToken(from);
    const token = await this.#token;
    const response = await this.#proxy.send(from, `/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(json && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(json && { body: JSON.stringify(json) }),
    });
    this.statuses.set(response.status, (this.statuses.get(response.status) ?? 0) + 1);
    if (response.status === 401 && (await this.#token) === token) this.#token = undefined;
    if (response.status === 503) await pause(50);
    return response;
  }

  async #fetchToken(from: string): Promise<string> {
    const { client_id, client_secret } = this.#credentials;
    for (;;) {
      const { status, text } = await this.#proxy.send(from, '/api/v1/oauth/token', {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret }).toString(),
      });
      if (status === 200) return JSON.parse(text).access_token;
      if (status !== 503) throw new Error(`no token: ${status} ${text}`);
      await pause(50);
    }
  }
}

/** Of the loopback network; each has a connection of its own. */
function ownAddress(): string {
  address += 1;
  return `127.0.1.${address}`;
}
