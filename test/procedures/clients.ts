/*
 * Clients that go on while the database below the service is restored, promoted or moved. They read the feed by either
 * kind of position, with a filter too, and keep bodies under their ETags. Whatever is done to the database, this must
 * hold: a reader gets every event that the database has, those of one record in their order, whatever comes twice; an
 * ETag stands for one body; a version that was lost is not there to be changed.
 */
import type pg from 'pg';
import type { Test } from 'tap';
import { createClient } from '../../scripts/launch.ts';
import { openDatabase } from '../../src/db/database.ts';
import { type Api, type ApiResponse, createApi } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { environmentOf, type RunningService, startProcess } from '../support/process.ts';
import { makeItem, makeTree } from '../support/records.ts';

// biome-ignore lint/suspicious/noExplicitAny: the contract check has validated it; tests look into it freely
export type Event = Record<string, any>;

/** The environment of a service on this database, without a limit on the calls of a test. */
export function environmentFor(connection: pg.PoolConfig): Record<string, string> {
  return { ...environmentOf(connection), RATE_LIMIT_PER_MINUTE: '1000000', MIGRATE: 'off' };
}

/**
 * Clients of a service on a new database, with records and writes that all of them have seen.
 * @param through where the service connects to instead, such as a proxy
 */
export async function startClients(
  t: Test,
  connection: pg.PoolConfig,
  through?: pg.PoolConfig,
): Promise<Clients> {
  const credentials = await createClient({ ...environmentFor(connection), MIGRATE: 'on' }, 'Acme');
  const clients = new Clients(t, { ...credentials, account_id: 1 });
  await clients.serve(connection, through);
  await clients.begin();
  return clients;
}

/** One that stores where it stopped, and what it has seen so far. */
class Reader {
  readonly name: string;
  seen: Event[] = [];
  readonly #by: 'cursor' | 'after_event_id';
  readonly filter: string;
  #position: string | undefined;

  constructor(by: 'cursor' | 'after_event_id', filter = '') {
    this.name = `the reader by ${by}${filter && ` of ${filter}`}`;
    this.#by = by;
    this.filter = filter;
  }

  /** Reads to the end, in small pages. @returns what it was given */
  async read(api: Api): Promise<Event[]> {
    const given: Event[] = [];
    let from = this.#position && `${this.#by}=${this.#position}`;
    for (;;) {
      const { status, text, body } = await api.get(`/events?limit=7&${this.filter}&${from ?? ''}`);
      if (status !== 200) throw new Error(`${this.name} is refused: ${text}`);
      given.push(...body.data);
      this.#position = this.#by === 'cursor' ? body.resume_cursor : (given.at(-1)?.['id'] ?? this.#position);
      if (body.next_cursor === null) break;
      from = `cursor=${body.next_cursor}`;
    }
    this.seen.push(...given);
    return given;
  }
}

const rare = 'type=category.created';

export class Clients {
  readonly #t: Test;
  readonly #credentials: Api['credentials'];
  #connection: pg.PoolConfig = {};
  #service: RunningService | undefined;
  #api: Api | undefined;
  #menuId = 0;
  #paths: string[] = [];
  /** Who stop where the database was copied, and who go on to the end of what is lost. */
  readonly #early = [new Reader('cursor'), new Reader('after_event_id'), new Reader('cursor', rare)];
  readonly #late = [new Reader('cursor'), new Reader('after_event_id'), new Reader('cursor', rare)];
  /** By path and ETag. */
  readonly #kept = new Map<string, string>();
  /** What was acknowledged since the database was copied: paths with ETags and versions. */
  #lost: { path: string; etag: string; version: number }[] = [];

  constructor(t: Test, credentials: Api['credentials']) {
    this.#t = t;
    this.#credentials = credentials;
  }

  get api(): Api {
    if (!this.#api) throw new Error('no service runs');
    return this.#api;
  }

  get menuPath(): string {
    return `/menus/${this.#menuId}`;
  }

  /** The environment of the service, for the operator's commands. */
  get env(): Record<string, string> {
    return environmentFor(this.#connection);
  }

  /** Starts the service on a database. */
  async serve(connection: pg.PoolConfig, through = connection): Promise<void> {
    this.#connection = connection;
    this.#service = await startProcess(this.#t, environmentFor(through));
    this.#api = createApi(this.#service.url, this.#credentials);
  }

  async stop(): Promise<void> {
    this.#t.equal((await this.#service?.stop('SIGTERM'))?.ended, 0);
    this.#api = undefined;
  }

  /** Another database is below the service from now on. Resolves when the service uses it. */
  async follow(connection: pg.PoolConfig): Promise<void> {
    this.#connection = connection;
    await eventually('the service is ready', async () => {
      const { status } = await fetch(`${this.#service?.url}/health/ready`);
      return status === 200;
    });
  }

  async begin(): Promise<void> {
    const { api } = this;
    const { location, menu, category, item } = await makeTree(api);
    const other = await makeItem(api, category);
    // Of what never happens, so that nothing is sent.
    const endpoint = { url: 'https://receiver.example/', event_types: ['location.deleted'] };
    const { webhook_id } = requireStatus(await api.post('/webhooks', endpoint), 201).body.data;
    this.#menuId = menu.menu_id;
    this.#paths = [
      `/locations/${location.location_id}`,
      this.menuPath,
      `${this.menuPath}/categories/${category.category_id}`,
      `${this.menuPath}/items/${item.item_id}`,
      `${this.menuPath}/items/${other.item_id}`,
      `/webhooks/${webhook_id}`,
    ];
    await this.write();
    await this.look();
  }

  /** Changes every record, so that each has a version more. */
  async write(): Promise<void> {
    for (const path of this.#paths) requireStatus(await this.api.put(path, changeOf(path)), 200);
  }

  /** All readers read to the end; all bodies are kept. */
  async look(): Promise<void> {
    await this.listed();
    for (const reader of this.#early) await reader.read(this.api);
    await this.#lookAgain();
  }

  /** Writes whatever the copy of the database will not have; early readers do not come to read of it. */
  async writeWhatIsLost(): Promise<void> {
    for (let n = 0; n < 3; n += 1) await this.write();
    await this.#lookAgain();
    this.#lost = await this.#current();
    const location_id = Number(this.#paths[0]?.split('/').at(-1));
    requireStatus(await this.api.post('/menus', { location_id, name: 'Never to be seen again' }), 201);
    await this.#lookAgain();
  }

  async #lookAgain(): Promise<void> {
    await this.listed();
    for (const reader of this.#late) await reader.read(this.api);
    await this.#keepBodies();
  }

  /**
   * Holds what clients have seen and kept against the database that is there now, before further writes and after
   * them, which are as many as were lost unless told otherwise.
   */
  async verify({ writes = 3 } = {}): Promise<void> {
    const t = this.#t;
    const readers = [...this.#early, ...this.#late];
    await this.listed();
    for (const reader of readers) await this.#verifyReader(reader);
    await this.#verifyBodies();
    for (let n = 0; n < writes; n += 1) {
      await this.write();
      await this.listed();
      for (const reader of readers) await this.#verifyReader(reader);
      await this.#verifyBodies();
    }
    for (const [index, now] of (await this.#current()).entries()) {
      const lost = this.#lost[index];
      if (!lost) continue;
      t.equal(now.version, lost.version, `${now.path}: the number of the lost version was given again`);
      t.not(now.etag, lost.etag);
      const headers = { 'if-match': lost.etag };
      const { status } = await this.api.call('PUT', now.path, {
        json: changeOf(now.path),
        headers,
      });
      t.equal(status, 412, `${now.path}: nobody changes what was lost`);
    }
    requireStatus(await this.api.post(`${this.menuPath}/categories`, { name: 'Rare' }), 201);
    await this.listed();
    for (const reader of readers) {
      const given = await this.#verifyReader(reader);
      t.equal(given.at(-1)?.['type'], 'category.created', `${reader.name} gets the last event of all`);
    }
    this.#lost = [];
    const kept = await this.#allIds();
    for (const reader of readers) reader.seen = reader.seen.filter(({ id }) => kept.has(id));
    await this.#keepBodies();
  }

  /** Every event is still there that anybody has seen, but for those that were lost before the last `verify`. */
  async verifyNothingLost(): Promise<void> {
    const all = await this.#allIds();
    const seen = this.#late.flatMap((reader) => reader.seen.map(({ id }) => id));
    this.#t.same(
      seen.filter((id) => !all.has(id)),
      [],
      'nothing is lost',
    );
  }

  async #allIds(): Promise<Set<string>> {
    return new Set((await new Reader('cursor').read(this.api)).map(({ id }) => id));
  }

  async #verifyReader(reader: Reader): Promise<Event[]> {
    const t = this.#t;
    const given = await reader.read(this.api);
    const all = await new Reader('cursor', reader.filter).read(this.api);
    const seen = new Set(reader.seen.map(({ id }) => id));
    t.same(
      all.filter(({ id }) => !seen.has(id)),
      [],
      `${reader.name} has got everything`,
    );
    const order = new Map(all.map(({ id }, place) => [id, place]));
    const last = new Map<string, number>();
    const disordered = given.filter((event) => {
      const place = order.get(event['id']) ?? -1;
      const before = last.get(recordOf(event)) ?? -1;
      last.set(recordOf(event), place);
      return place <= before;
    });
    t.same(disordered, [], `${reader.name} gets the changes of a record in their order`);
    return given;
  }

  async #keepBodies(): Promise<void> {
    for (const path of this.#paths) {
      const { headers, text } = requireStatus(await this.api.get(path), 200);
      const key = `${path} ${headers['etag']}`;
      const known = this.#kept.get(key);
      if (known !== undefined) this.#t.equal(text, known, `${key} stands for one body`);
      this.#kept.set(key, text);
    }
  }

  async #verifyBodies(): Promise<void> {
    await this.#keepBodies();
    for (const [key, kept] of this.#kept) {
      const [path = '', etag = ''] = key.split(' ');
      const { status } = await this.api.get(path, { headers: { 'if-none-match': etag } });
      const current = requireStatus(await this.api.get(path), 200);
      const isCurrent = current.headers['etag'] === etag && current.text === kept;
      this.#t.equal(status, isCurrent ? 304 : 200, `${key} is current only if its body is`);
    }
  }

  #current() {
    return Promise.all(
      this.#paths.map(async (path) => {
        const { headers, body } = requireStatus(await this.api.get(path), 200);
        return { path, etag: String(headers['etag']), version: body.data.version as number };
      }),
    );
  }

  /** Waits until every event is in the feed. */
  async listed(): Promise<void> {
    const database = openDatabase(this.#connection, { max: 1 });
    try {
      await eventually('every event is listed', async () => {
        const waiting = await database.selectFrom('outbox').select('sequence').limit(1).execute();
        return waiting.length === 0;
      });
    } finally {
      await database.destroy();
    }
  }
}

function changeOf(path: string): object {
  const text = `${Math.random()}`;
  return path.startsWith('/webhooks') ? { url: `https://receiver.example/${text}` } : { name: text };
}

/** 'item 17' */
function recordOf({ type, data }: Event): string {
  const [kind] = type.split('.');
  return `${kind} ${data[`${kind}_id`]}`;
}

function requireStatus(response: ApiResponse, status: number): ApiResponse {
  if (response.status !== status) throw new Error(`${response.status} ${response.text}`);
  return response;
}
