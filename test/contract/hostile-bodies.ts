/*
 * The worst bodies of each operation, built from the contract alone: as large as its limit allows, and deep, wide, long
 * or repeated at each place that its schema has. All of them are wrong.
 */
import document from '../../generated/openapi.json' with { type: 'json' };
import { type ExampleCall, schemaOf } from './example-calls.ts';

export interface HostileBody {
  what: string;
  mediaType: string;
  /** Makes the body. */
  body: () => string;
}

/** @param limit of the body in bytes */
export function* hostileBodies(call: ExampleCall, limit: number): Iterable<HostileBody> {
  for (const mediaType of call.body?.mediaTypes ?? []) {
    const shapes = shapesOf[mediaType];
    if (!shapes) throw new Error(`test/contract/hostile-bodies.ts knows no hostile ${mediaType}`);
    for (const { what, body } of shapes(call, limit)) yield { what: `${call.id} ${what}`, mediaType, body };
  }
}

type Shape = Omit<HostileBody, 'mediaType'>;

const shapesOf: Record<string, (call: ExampleCall, limit: number) => Iterable<Shape>> = {
  'application/json': jsonShapes,
  'application/x-www-form-urlencoded': formShapes,
  'text/csv': csvShapes,
};

/** A value that fills so many bytes, as JSON. */
const values: Record<string, (bytes: number) => string> = {
  'brackets never closed': (bytes) => '['.repeat(bytes),
  'nested arrays': (bytes) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2),
  'nested objects': (bytes) => `${'{"a":'.repeat(bytes / 6)}1${'}'.repeat(bytes / 6)}`,
  'two deep arrays': (bytes) => `[${[1, 2].map(() => '['.repeat(bytes / 5) + ']'.repeat(bytes / 5)).join()}]`,
  'wrong values': (bytes) => filled(bytes, () => '1'),
  'empty arrays': (bytes) => filled(bytes, () => '[]'),
  'empty objects': (bytes) => filled(bytes, () => '{}'),
  'pairs of a few values': (bytes) => filled(Math.min(bytes, 1_000_000), () => '[{},{}]'),
  'fewer values than are counted': (bytes) => filled(Math.min(bytes, 1_040_000), () => '1'),
  'distinct texts': (bytes) => filled(bytes, (index) => `"${index}"`),
  'as many distinct texts as are counted': (bytes) => filled(Math.min(bytes, 4_500_000), (n) => `"${n}"`),
  'equal texts': (bytes) => filled(bytes, () => '"x"'),
  'distinct numbers': (bytes) => filled(Math.min(bytes, 3_500_000), String),
  'a wide object': (bytes) => wide(bytes, 12),
  'a wide object of as many fields as are counted': (bytes) => wide(Math.min(bytes, 5_000_000), 10),
  'a long text': (bytes) => JSON.stringify('x'.repeat(bytes - 2)),
  'long blanks': (bytes) => JSON.stringify(' '.repeat(bytes - 2)),
  'a long URL': (bytes) => JSON.stringify(`https://x/${'a'.repeat(bytes - 12)}`),
  'a long URL of escapes': (bytes) => JSON.stringify(`https://x/${'%4'.repeat(bytes / 2 - 6)}`),
  'escaped quotes': (bytes) => `"${'\\"'.repeat(bytes / 2 - 1)}"`,
  'a long number': (bytes) => '9'.repeat(bytes),
};

/** Each value in place of the body, and of each field at each level. */
function* jsonShapes(call: ExampleCall, limit: number): Iterable<Shape> {
  for (const { where, wrap } of placesIn(schemaOf(call, 'application/json'))) {
    for (const [what, value] of Object.entries(values)) {
      const room = limit - wrap('').length;
      yield { what: `${where} ${what}`, body: () => wrap(value(room)).slice(0, limit) };
    }
  }
}

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
}

interface Place {
  where: string;
  wrap: (value: string) => string;
}

/** @param within the references that the schema lies within: one that contains itself is looked into once. */
function* placesIn(
  schema: Schema,
  place: Place = { where: 'body:', wrap: (value) => value },
  within: readonly string[] = [],
): Iterable<Place> {
  yield place;
  if (schema.$ref && within.includes(schema.$ref)) return;
  const inside = schema.$ref ? [...within, schema.$ref] : within;
  const { properties = {}, items } = resolve(schema);
  for (const [name, property] of Object.entries(properties)) {
    const wrap = (value: string) => place.wrap(`{"${name}":${value}}`);
    yield* placesIn(property, { where: `${place.where}${name}.`, wrap }, inside);
  }
  const wrap = (value: string) => place.wrap(`[${value}]`);
  if (items) yield* placesIn(items, { where: `${place.where}[].`, wrap }, inside);
}

function resolve(schema: Schema): Schema {
  if (!schema.$ref) return schema;
  const steps = schema.$ref.slice(2).split('/');
  return resolve(
    steps.reduce((from: unknown, key) => (from as Record<string, unknown>)[key], document) as Schema,
  );
}

function* formShapes(_call: ExampleCall, limit: number): Iterable<Shape> {
  yield { what: 'many fields', body: () => 'a=1&'.repeat(limit / 4) };
  yield { what: 'ampersands', body: () => '&'.repeat(limit) };
  yield { what: 'escapes', body: () => '%'.repeat(limit) };
  yield { what: 'one field many times', body: () => 'scope=x&'.repeat(limit / 8) };
  yield { what: 'a long field', body: () => `grant_type=${'x'.repeat(limit - 11)}` };
}

const header = 'record,category_external_id,external_id,name,price,allergens,photo_url';

function* csvShapes(_call: ExampleCall, limit: number): Iterable<Shape> {
  const rows = (row: (index: number) => string, count: number) =>
    Array.from({ length: count }, (_, index) => row(index))
      .join('\n')
      .slice(0, limit);
  const columns = (count: number) => rows((index) => `c${index}`, count).replaceAll('\n', ',');
  yield { what: '160,000 columns', body: () => columns(160_000) };
  yield { what: '500,000 columns', body: () => columns(500_000) };
  yield { what: 'wide and long', body: () => `record,${columns(250_000)}\n${'x\n'.repeat(250_000)}` };
  yield { what: '40,000 wrong rows', body: () => `${header}\n${rows((n) => `item,N,${n},,x,;,x`, 40_000)}` };
  yield { what: 'rows of no kind', body: () => `${header}\n${rows((n) => `dish${n}`, 500_000)}` };
  yield { what: 'many menus', body: () => `${header}\n${'menu\n'.repeat(400_000)}` };
  yield { what: 'items of no category', body: () => `${header}\n${rows((n) => `item,Q${n}`, 200_000)}` };
  const labels = () => rows((n) => `l${n}`, 400_000).replaceAll('\n', ';');
  yield { what: '400,000 labels in a cell', body: () => `${header}\nitem,N,1,x,1,${labels()},` };
  yield { what: 'quoted labels', body: () => `${header}\nitem,N,1,x,1,"""a"";${labels()}",` };
  yield { what: 'a cell', body: () => `${header}\nitem,N,1,${'x'.repeat(limit - 100)}` };
  yield { what: 'blank cells', body: () => `${header}\nitem,N,1,${' '.repeat(limit - 100)}x` };
  yield { what: 'an open quote', body: () => `${header}\nitem,N,1,"${'x\n'.repeat(limit / 2 - 100)}` };
  yield { what: 'a quote at the end', body: () => `${header}\n${rows(() => 'x,y', 250_000)}\n"` };
  yield { what: 'quotes', body: () => '"'.repeat(limit) };
  yield { what: 'line breaks', body: () => '\r'.repeat(limit) };
  yield { what: 'line breaks that are counted', body: () => `${header}${'\r\n'.repeat(250_000)}x` };
  yield { what: 'separators', body: () => ','.repeat(500_000) };
}

function filled(bytes: number, element: (index: number) => string): string {
  const parts: string[] = [];
  for (let length = 2; length < bytes; length += (parts.at(-1)?.length ?? 0) + 1)
    parts.push(element(parts.length));
  parts.pop();
  return `[${parts.join()}]`;
}

function wide(bytes: number, width: number): string {
  return `{${Array.from({ length: Math.max(1, bytes / width - 1) }, (_, index) => `"f${index}":1`).join()}}`.slice(
    0,
    bytes,
  );
}
