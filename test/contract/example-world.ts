/*
 * The restaurant group that the examples of the contract tell of, made to exist: the records of the example lists,
 * under the ids they have there. Each example request can then be sent as it is written, and its answer be laid
 * beside the example answers.
 */
import { sql } from 'kysely';
import type { Test } from 'tap';
import document from '../../generated/openapi.json' with { type: 'json' };
import { type OperationId, operations } from '../../generated/operations.ts';
import type { Api, ApiResponse } from '../support/api.ts';
import { listAllEvents } from '../support/events.ts';
import { keepRecords } from '../support/kept-records.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type Ids, inFuture } from './example-calls.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON of the document, looked into freely
export type Json = any;

const contract: Json = document;

/** What stands at the end of a node's references. */
export function resolve(node: Json): Json {
  if (typeof node?.$ref !== 'string') return node;
  return resolve(
    node.$ref
      .slice(2)
      .split('/')
      .reduce((from: Json, key: string) => from[key], contract),
  );
}

/** The operation as the contract describes it. */
export function describedOperation(id: OperationId): Json {
  const { path, method } = operations[id];
  return contract.paths[path][method.toLowerCase()];
}

export interface ExampleRequest {
  /** The example's name; empty for a request without a body. */
  name: string;
  mediaType?: string;
  value?: Json;
}

/** One request for each example of the operation's body, or the one without a body. */
export function exampleRequests(id: OperationId): ExampleRequest[] {
  const { requestBody } = describedOperation(id);
  if (!requestBody) return [{ name: '' }];
  return Object.entries<Json>(requestBody.content).flatMap(([mediaType, { examples }]) =>
    Object.entries<Json>(examples).map(([name, example]) => ({
      name,
      mediaType,
      value: resolve(example).value,
    })),
  );
}

export interface ExampleWorld {
  service: TestService;
  /** Puts every record back to what the examples say. */
  restore(): Promise<void>;
  /**
   * Sends the operation with the body of an example.
   * @param parameters of the path and the query, in place of those that the examples name
   * @param through another way to the service
   */
  send(
    id: OperationId,
    request: ExampleRequest,
    parameters?: Ids,
    through?: Pick<Api, 'call'>,
  ): Promise<ApiResponse>;
}

export async function startExampleWorld(t: Test): Promise<ExampleWorld> {
  const lookup = async () => [{ address: '127.0.0.1', family: 4 }];
  const [service, receiver] = await Promise.all([startTestService(t, { lookup }), startReceiver(t)]);
  const ids = await makeRecords(service, receiver.url);
  const restore = await keepRecords(service.database);

  const send: ExampleWorld['send'] = async (
    id,
    { mediaType, value },
    parameters = {},
    through = service.api,
  ) => {
    if (id === 'listEvents') await listAllEvents(service.database);
    if (id.startsWith('create')) await freeExternalId(service, value.external_id);
    const { credentials } = service.api;
    const takesSecret = operations[id].security.length === 0;
    const own = takesSecret && value.client_id ? { ...value, ...credentialsOf(credentials) } : value;
    const body = value === undefined ? undefined : bodyText(mediaType, own, ids);
    // The last location has no menu on which something could be switched.
    const isOfMenus = /ModifierGroup|Modifier|setLocationAvailability/.test(id);
    const place = {
      ...(isOfMenus && { location_id: page('Menu')[0].location_id }),
      ...(id === 'listModifierGroupUses' && page('ModifierGroup')[0]),
    };
    const path = pathOf(id, { ...ids, ...place, ...respondedIds(id), ...parameters });
    const inQuery = Object.entries(parameters).filter(([name]) => !operations[id].path.includes(`{${name}}`));
    const query = new URLSearchParams(inQuery);
    return through.call(operations[id].method, query.size > 0 ? `${path}?${query}` : path, {
      ...(body !== undefined && { body }),
      headers: {
        ...(mediaType && { 'content-type': mediaType }),
        ...(own === value && takesSecret && { authorization: basic(credentials) }),
      },
      ...(takesSecret && { token: null }),
    });
  };
  return { service, restore, send };
}

/** An example of the contract by its name among the components. */
export function namedExample(name: string): Json {
  return contract.components.examples[name].value;
}

const page = (name: string): Json[] => namedExample(`${name}Page`).data;

/** Everything is made through the API, so that its events and versions are real, but for what only time would bring. */
async function makeRecords({ api, database }: TestService, receiver: string): Promise<Ids> {
  await sql`truncate event, delivery, replay, webhook, modifier_group, item, category, menu, location cascade`.execute(
    database,
  );
  const [delivery] = page('Delivery');
  const firstIds: Ids = { replay_id: String(namedExample('ReplayAccepted').data.replay_id) };
  for (const kind of ['Location', 'Menu', 'Category', 'Item', 'Webhook', 'Delivery']) {
    const name = `${kind.toLowerCase()}_id`;
    firstIds[name] = String(page(kind)[0][name]);
  }
  const groups = page('ModifierGroup');
  firstIds['modifier_group_id'] = String(groups[0].modifier_group_id);
  firstIds['modifier_id'] = String(groups[0].modifiers[0].modifier_id);
  for (const [name, id] of Object.entries(firstIds)) {
    const table = sql.table(name.replace('_id', ''));
    await sql`alter table ${table} alter column ${sql.ref(name)} restart with ${sql.lit(Number(id))}`.execute(
      database,
    );
  }

  for (const location of page('Location')) await make('createLocation', location);
  for (const menu of page('Menu')) await make('createMenu', menu);
  for (const category of page('Category')) await make('createCategory', category);
  for (const item of page('Item')) await make('createItem', item);
  for (const group of groups) {
    const modifiers = group.modifiers.map((modifier: Json) => fieldsOf('createModifier', modifier));
    await make('createModifierGroup', { ...group, modifiers });
  }
  await api.put('/menus/7/items/42/modifier-groups', { modifier_groups: [{ modifier_group_id: 5 }] });
  for (const webhook of page('Webhook')) await make('createWebhook', webhook);
  await database.updateTable('webhook').set({ url: receiver }).execute();
  await api.put('/menus/7/items/42', { is_available: false });
  await api.put('/menus/7/items/42', { is_available: true });
  const event = await database
    .selectFrom('event')
    .selectAll()
    .where('type', '=', 'item.toggled')
    .orderBy('event_id')
    .executeTakeFirstOrThrow();
  const { account_id, event_id } = event;
  await database
    .insertInto('delivery')
    .values({
      account_id,
      event_id,
      event_sequence: 1,
      event_type: event.type,
      record: event.record,
      webhook_id: delivery.webhook_id,
      state: 'pending',
      attempts: delivery.attempt_count,
      next_attempt_at: new Date().toISOString(),
    })
    .execute();
  const { attempts } = namedExample('OneDelivery').data;
  await database
    .insertInto('attempt')
    .values(attempts.map((one: Json) => ({ ...one, account_id, delivery_id: delivery.delivery_id })))
    .execute();
  await database
    .insertInto('replay')
    .values({ account_id, webhook_id: delivery.webhook_id, position: event_id, until: event_id })
    .execute();

  // The last location has no menu, so that it can be deleted; the first item has a category in the second menu; the last
  // modifier group is not in use.
  return {
    ...firstIds,
    modifier_group_id: String(groups.at(-1).modifier_group_id),
    modifier_id: String(groups.at(-1).modifiers[0].modifier_id),
    location_id: String(page('Location').at(-1).location_id),
    menu_id: String(page('Item')[0].menu_id),
    event_id: `evt_${event_id.replaceAll('-', '')}`,
  };

  async function make(id: OperationId, shown: Json): Promise<void> {
    const text = inFuture(JSON.stringify(fieldsOf(id, shown)));
    const reply = await api.call('POST', pathOf(id, shown), {
      body: text,
      headers: { 'content-type': 'application/json' },
    });
    if (reply.status !== 201) throw new Error(`${id} ${text}: ${reply.status} ${reply.text}`);
  }
}

/** What the body of a creation takes of a record. */
function fieldsOf(id: OperationId, shown: Json): object {
  const { properties } = resolve(describedOperation(id).requestBody.content['application/json'].schema);
  return Object.fromEntries(Object.entries(shown).filter(([key]) => key in properties));
}

/** A record that exists has the example's external id; it makes way for the new one. */
async function freeExternalId({ database }: TestService, external_id: unknown): Promise<void> {
  if (typeof external_id !== 'string') return;
  for (const table of ['location', 'menu', 'category', 'item', 'modifier_group', 'modifier'] as const)
    await database
      .updateTable(table)
      .set({ external_id: null })
      .where('external_id', '=', external_id)
      .execute();
}

/** The ids that the operation's own example answer has. */
function respondedIds(id: OperationId): Ids {
  const data = successExamples(id)[0]?.value?.data ?? {};
  const names = Object.keys(data).filter((name) => name.endsWith('_id') && data[name] !== null);
  return Object.fromEntries(
    names.filter((name) => name !== 'event_id').map((name) => [name, String(data[name])]),
  );
}

/** The status of the operation's success and the examples of its JSON answer. */
export function successExamples(id: OperationId): { status: number; name: string; value: Json }[] {
  return Object.entries<Json>(describedOperation(id).responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([status, response]) =>
      Object.entries<Json>(resolve(response).content?.['application/json']?.examples ?? {}).map(
        ([name, example]) => ({ status: Number(status), name, value: resolve(example).value }),
      ),
    );
}

function pathOf(id: OperationId, parameters: Record<string, unknown>): string {
  return operations[id].path.replaceAll(/{(\w+)}/g, (_, name: string) => String(parameters[name]));
}

function bodyText(mediaType: string | undefined, value: Json, ids: Ids): string {
  if (mediaType === 'application/json')
    return JSON.stringify(value).replaceAll(/"evt_[^"]*"/g, `"${ids['event_id']}"`);
  return mediaType === 'application/x-www-form-urlencoded'
    ? new URLSearchParams(value).toString()
    : String(value);
}

interface Credentials {
  client_id: string;
  client_secret: string;
}

const credentialsOf = ({ client_id, client_secret }: Credentials) => ({ client_id, client_secret });
const basic = ({ client_id, client_secret }: Credentials) =>
  `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`;
