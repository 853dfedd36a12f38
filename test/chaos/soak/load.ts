import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { type Credentials, fetchToken } from '../../../scripts/launch.ts';
import { type Manner, manners, type Receivers } from './receivers.ts';

/** What the calls since the last look came to. */
export interface Taken {
  /** Milliseconds of each. */
  times: number[];
  /** Statuses that are no success, and how often. */
  failures: Map<string, number>;
}

const items = 60;

/** Calls at a steady pace, whatever they take: the same records are changed again and again, so nothing adds up. */
export class SteadyLoad {
  readonly #pool: Pool;
  readonly #address: string;
  readonly #credentials: Credentials;
  readonly #endpoints: number[] = [];
  readonly #running = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();
  #token = '';
  #menu = { menu_id: 0, item_ids: [] as number[] };
  #specials = { menu_id: 0, category_id: 0 };
  #taken: Taken = { times: [], failures: new Map() };

  constructor(address: string, credentials: Credentials) {
    this.#address = address;
    this.#credentials = credentials;
    this.#pool = new Pool(address, { connections: 16, pipelining: 1 });
  }

  /** Creates the records and registers the endpoints. @throws when the service does not let it */
  async prepare(receivers: Receivers): Promise<void> {
    const make = async (path: string, json: object) => (await this.#read('POST', path, json)).data;
    const place = { name: 'Soak', timezone: 'Asia/Tokyo', currency: 'EUR' };
    const { location_id } = await make('/locations', place);
    const { menu_id } = await make('/menus', { location_id, name: 'Soak' });
    // An import deletes what it does not hold.
    const specials = await make('/menus', { location_id, name: 'Specials' });
    this.#specials = await make(`/menus/${specials.menu_id}/categories`, { name: 'Of the day' });
    await this.#read('PUT', `/menus/${menu_id}/content`, content(0));
    const { categories } = (await this.#read('GET', `/menus/${menu_id}`)).data;
    const [{ items }] = categories;
    this.#menu = { menu_id, item_ids: items.map((one: { item_id: number }) => one.item_id) };
    for (const manner of Object.keys(manners) as Manner[])
      this.#endpoints.push((await make('/webhooks', { url: receivers.urlOf(manner) })).webhook_id);
  }

  start(): void {
    const { menu_id, item_ids } = this.#menu;
    const menu = `/menus/${menu_id}`;
    const itemOf = (turn: number) => `${menu}/items/${item_ids[turn % items]}`;
    this.#every(100, (turn) => this.#call('POST', `${itemOf(turn)}/toggle`));
    this.#every(50, () => this.#call('GET', menu));
    this.#every(250, (turn) => this.#call('GET', itemOf(turn)));
    this.#every(1_000, () => this.#call('GET', '/events?limit=100'));
    this.#every(5_000, () => this.#call('GET', `${menu}/content`));
    this.#every(10_000, (turn) => this.#call('PUT', `${menu}/content`, content(turn)));
    this.#every(2_000, (turn) => this.#createAndDelete(turn));
    this.#every(10_000, () => Promise.all(this.#endpoints.map((id) => this.#enableAgain(id))));
  }

  /** What came since this was last asked. */
  take(): Taken {
    const taken = this.#taken;
    this.#taken = { times: [], failures: new Map() };
    return taken;
  }

  async stop(): Promise<void> {
    this.#running.abort();
    await Promise.all(this.#underWay);
    await this.#pool.close();
  }

  #every(ms: number, act: (turn: number) => Promise<unknown>): void {
    const run = async () => {
      for (let turn = 0, due = performance.now(); !this.#running.signal.aborted; turn += 1) {
        const done = act(turn).finally(() => this.#underWay.delete(done));
        this.#underWay.add(done);
        due += ms;
        await pause(Math.max(0, due - performance.now()), undefined, {
          signal: this.#running.signal,
        }).catch(() => {});
      }
    };
    const running = run().finally(() => this.#underWay.delete(running));
    this.#underWay.add(running);
  }

  /** As the owner of a dead endpoint does, who does not give up. */
  async #enableAgain(webhook_id: number): Promise<void> {
    const path = `/webhooks/${webhook_id}`;
    const found = await this.#call('GET', path);
    if (found?.data.enabled === false) await this.#call('PUT', path, { enabled: true });
  }

  /** Under keys, which are kept for a day. */
  async #createAndDelete(turn: number): Promise<void> {
    const { menu_id, category_id } = this.#specials;
    const path = `/menus/${menu_id}/items`;
    const item = { category_id, name: `Special ${turn}`, price: 5 };
    const created = await this.#call('POST', path, item, { 'idempotency-key': crypto.randomUUID() });
    if (created) await this.#call('DELETE', `${path}/${created.data.item_id}`);
  }

  // biome-ignore lint/suspicious/noExplicitAny: bodies of many kinds
  async #read(method: string, path: string, json?: object): Promise<any> {
    const body = await this.#call(method, path, json);
    if (!body) throw new Error(`${method} ${path} failed: ${[...this.#taken.failures.keys()].join()}`);
    return body;
  }

  /** @returns the body of a success */
  async #call(method: string, path: string, json?: object, headers: object = {}) {
    const started = performance.now();
    const failed = (why: string) => {
      const { failures } = this.#taken;
      const name = `${method} ${path.replaceAll(/\d+/g, 'N')}: ${why}`;
      failures.set(name, (failures.get(name) ?? 0) + 1);
    };
    try {
      this.#token ||= await fetchToken(this.#address, this.#credentials);
      const { statusCode, body } = await this.#pool.request({
        method: method as 'GET',
        path: `/api/v1${path}`,
        headers: {
          authorization: `Bearer ${this.#token}`,
          ...(json && { 'content-type': 'application/json' }),
          ...headers,
        },
        body: json ? JSON.stringify(json) : null,
      });
      const text = await body.text();
      this.#taken.times.push(performance.now() - started);
      // Tokens end within the hour.
      if (statusCode === 401) this.#token = '';
      else if (statusCode >= 300) failed(String(statusCode));
      return statusCode < 300 && text !== '' ? JSON.parse(text) : undefined;
    } catch (error) {
      failed((error as Error).message);
      return undefined;
    }
  }
}

/** A menu with one of two prices, and thus sixty changes each time. */
function content(turn: number): object {
  const all = Array.from({ length: items }, (_, index) => ({
    external_id: `I${index}`,
    name: `Dish ${index}`,
    description: 'Two pieces, hand-pressed, with a touch of wasabi and a brush of soy.',
    price: 10 + (turn % 2),
    allergens: ['fish', 'soy', 'wheat'],
  }));
  return { data: { name: 'Soak', categories: [{ external_id: 'C', name: 'All', items: all }] } };
}
