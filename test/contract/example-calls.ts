/*
 * One well-formed call of each operation, built from the contract alone, so that the tests beside this file cover a
 * new operation without being edited.
 */
import document from '../../generated/openapi.json' with { type: 'json' };
import { type OperationFacts, type OperationId, operations } from '../../generated/operations.ts';
import type { Api } from '../support/api.ts';
import type { TestService } from '../support/service.ts';

export interface ExampleCall extends OperationFacts {
  id: OperationId;
  /** Names of the path parameters, in the order of the path. */
  parameters: string[];
  /** Names of the headers that the contract describes, in lower case. */
  headers: string[];
  /** The first example of the request body, with its dates in the future; undefined when the operation takes none. */
  example: { mediaType: string; text: string } | undefined;
  /** Names of the text fields of a JSON body. */
  textFields: string[];
}

/** Every operation of the contract. */
export const exampleCalls: ExampleCall[] = Object.entries(operations).map(([id, facts]) => ({
  ...facts,
  id: id as OperationId,
  parameters: [...facts.path.matchAll(/{(\w+)}/g)].map(([, name]) => name ?? ''),
  headers: headersOf(facts),
  example: exampleOf(facts),
  textFields: textFieldsOf(facts),
}));

export const securedCalls = exampleCalls.filter(({ security }) => security.length > 0);
export const callsOnRecords = exampleCalls.filter(({ parameters }) => parameters.length > 0);
export const callsWithBody = exampleCalls.filter(({ body }) => body !== null);

/** Values of path parameters by name. */
export type Ids = Record<string, string>;

/** Sends the call with its example body, and with further headers. */
export function callWith(api: Api, call: ExampleCall, ids: Ids, headers: Record<string, string> = {}) {
  return api.call(call.method, pathOf(call, ids), {
    ...(call.example && { body: call.example.text }),
    headers: { ...(call.example && { 'content-type': call.example.mediaType }), ...headers },
  });
}

/** The call's path below the base path. @throws for a parameter that `ids` lacks */
export function pathOf({ id, path }: ExampleCall, ids: Ids): string {
  return path.replaceAll(/{(\w+)}/g, (_, name: string) => {
    const value = ids[name];
    if (value === undefined) throw new Error(`${id}: test/contract/example-calls.ts knows no ${name}`);
    return value;
  });
}

/** Ids of records that exist and belong together, by the name of the path parameter that takes them. */
export async function existingRecords({ api, database }: TestService): Promise<Ids> {
  const menus = await api.get('/menus?limit=1');
  const { menu_id, location_id } = menus.body.data[0];
  const menu = await api.get(`/menus/${menu_id}`);
  const { category_id, items } = menu.body.data.categories[0];
  const { item_id } = items[0];
  const webhook = await api.post('/webhooks', { url: 'https://127.0.0.1:9/', enabled: false });
  const { webhook_id } = webhook.body.data;
  await api.post(`/menus/${menu_id}/items/${item_id}/toggle`);
  const event = await database
    .selectFrom('event')
    .select(['event_id', 'account_id', 'type', 'record'])
    .executeTakeFirstOrThrow();
  const { delivery_id } = await database
    .insertInto('delivery')
    .values({
      account_id: event.account_id,
      event_id: event.event_id,
      event_sequence: 1,
      event_type: event.type,
      record: event.record,
      webhook_id,
      state: 'failed',
    })
    .returning('delivery_id')
    .executeTakeFirstOrThrow();
  const { replay_id } = await database
    .insertInto('replay')
    .values({ account_id: event.account_id, webhook_id, position: event.event_id, until: event.event_id })
    .returning('replay_id')
    .executeTakeFirstOrThrow();
  const group = await api.post(`/locations/${location_id}/modifier-groups`, {
    name: 'Sauce',
    modifiers: [{ name: 'Soy sauce' }],
  });
  const { modifier_group_id, modifiers } = group.body.data;
  const [{ modifier_id }] = modifiers;
  const event_id = `evt_${event.event_id.replaceAll('-', '')}`;
  const inMenus = { location_id, menu_id, category_id, item_id, modifier_group_id, modifier_id };
  const ids = { ...inMenus, webhook_id, event_id, delivery_id, replay_id };
  return Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, String(id)]));
}

/** Values that are well-formed and name no record. */
export const unknownIds: Ids = {
  location_id: '9007199254740991',
  menu_id: '9007199254740991',
  category_id: '9007199254740991',
  item_id: '9007199254740991',
  modifier_group_id: '9007199254740991',
  modifier_id: '9007199254740991',
  webhook_id: '9007199254740991',
  event_id: 'evt_00000000000070008000000000000000',
  delivery_id: '9007199254740991',
  replay_id: '9007199254740991',
};

interface Node {
  $ref?: string;
  name?: string;
  in?: string;
  type?: string | string[];
  value?: unknown;
  schema?: Node;
  examples?: Record<string, Node>;
  properties?: Record<string, Node>;
}

function exampleOf(facts: OperationFacts): ExampleCall['example'] {
  const [mediaType] = facts.body?.mediaTypes ?? [];
  const { examples = {} } = contentOf(facts);
  const [first] = Object.values(examples);
  if (mediaType === undefined || !first) return undefined;
  const { value } = resolve(first);
  return { mediaType, text: asText(mediaType, value) };
}

function asText(mediaType: string, value: unknown): string {
  if (mediaType === 'application/json') return inFuture(JSON.stringify(value));
  if (mediaType === 'application/x-www-form-urlencoded')
    return new URLSearchParams(value as Record<string, string>).toString();
  return String(value);
}

/** The date of an example passes, and is then refused. */
export function inFuture(text: string): string {
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  return text.replaceAll(/("unavailable_until":)"[^"]+"/g, `$1"${tomorrow}"`);
}

function textFieldsOf(facts: OperationFacts): string[] {
  const { schema = {} } = contentOf(facts);
  return Object.entries(resolve(schema).properties ?? {})
    .filter(([, property]) => [resolve(property).type].flat().includes('string'))
    .map(([name]) => name);
}

/** The schema of the body in a media type. */
export function schemaOf(call: OperationFacts, mediaType: string): object {
  return described(call).requestBody?.content[mediaType]?.schema ?? {};
}

function headersOf(facts: OperationFacts): string[] {
  const { parameters = [] } = described(facts);
  return parameters
    .map(resolve)
    .filter((parameter) => parameter.in === 'header')
    .map(({ name = '' }) => name.toLowerCase());
}

function contentOf(facts: OperationFacts): Node {
  return described(facts).requestBody?.content[facts.body?.mediaTypes[0] ?? ''] ?? {};
}

interface Described {
  parameters?: Node[];
  requestBody?: { content: Record<string, Node> };
}

function described({ method, path }: OperationFacts): Described {
  const paths = document.paths as unknown as Record<string, Record<string, Described>>;
  return paths[path]?.[method.toLowerCase()] ?? {};
}

function resolve(node: Node): Node {
  if (!node.$ref) return node;
  const steps = node.$ref.slice(2).split('/');
  return resolve(
    steps.reduce((from: unknown, key) => (from as Record<string, unknown>)[key], document) as Node,
  );
}
