/**
 * The contract as OpenAPI 3.0.3, for generators that do not read 3.1. It says the same about every request and
 * response, but for what 3.0 cannot say: see the rules below.
 */
type Json = null | boolean | number | string | Json[] | Node;
interface Node {
  [key: string]: Json;
}
type Schema = Node & { type?: Json; anyOf?: Schema[]; enum?: Json[]; required?: string[] };
interface Document extends Node {
  info: Node & { license: Node & { name: string; identifier: string } };
  paths: Node;
  components: Record<string, Record<string, Schema>> & { schemas: Record<string, Schema> };
}

/**
 * - Webhooks do not exist in 3.0; the payload schemas stay, as the event feed returns them.
 * - A property that is always `null` has no type in 3.0 and is left out; responses may have fields not listed.
 * - `null` is `nullable`, a constant is an enumeration of one value.
 * - `nullable` says nothing beside a `$ref`, nor for what is in `allOf`. A component that can be null wherever it is used
 *   says so itself; of one that cannot, there is another that can, as ItemOrNull of Item.
 * - 3.0 ignores what stands beside a `$ref`: a scalar is written out, an object or enumeration is referred to
 *   inside `allOf`, so that generators keep its name.
 * - A default of `null` is left out, as openapi-generator fails on it; an absent field means the same.
 * - A number says that Go should hold it in 64 bits: in 32, the default of Go's generators, a price loses its cents.
 * - An optional list says `x-nullable`: for openapi-generator's Java, a list that was not set is otherwise an empty
 *   one, and a change of the price would clear the allergens.
 * @param document the bundled contract, OpenAPI 3.1; not changed
 * @throws on a part of JSON Schema that is not known here to have a form in 3.0
 */
export function edition30(document: object): object {
  const { openapi, webhooks, info, components, ...rest } = structuredClone(document) as Document;
  const { summary, license, ...about } = info;
  const { schemas, ...parts } = components;
  const nullable = namesOrNull({ ...rest, components });
  const convert = converter(schemas, nullable);
  const kept = Object.entries(schemas).filter(([, schema]) => isNamedInClients(schema));
  const named = kept.map(([name, schema]) => [name, convert.schema(schema)] as const);
  const orNull = named.map(([name, schema]) => [nullable.get(name), withNull(schema)] as const);
  const url = `https://spdx.org/licenses/${license.identifier}.html`;
  return withoutUnused({
    openapi: '3.0.3',
    info: { ...about, license: { name: license.name, url } },
    ...(convert.outside(rest) as Pick<Document, 'paths'>),
    components: {
      ...(convert.outside(parts) as typeof parts),
      schemas: Object.fromEntries([...named, ...orNull.filter(([name]) => name !== undefined)]),
    },
  });
}

/** Objects, unions and enumerations are types of a client; other schemas are written where they are used. */
function isNamedInClients(schema: Schema): boolean {
  return schema.type === 'object' || 'oneOf' in schema || 'enum' in schema;
}

/** The names, in 3.0, of what a component or null is: its own, unless it is somewhere referred to without null. */
function namesOrNull(document: Node): Map<string, string> {
  const [withNull, without] = [new Set<string>(), new Set<string>()];
  const note = (value: Json): void => {
    if (value === null || typeof value !== 'object') return;
    const { $ref, anyOf } = value as Schema;
    if (typeof $ref === 'string') without.add(refersTo($ref));
    const variants = anyOf?.some(isNull) ? anyOf.filter(({ $ref }) => $ref) : [];
    for (const { $ref } of variants) withNull.add(refersTo($ref));
    for (const [key, part] of Object.entries(value)) if (key !== 'anyOf' || variants.length === 0) note(part);
  };
  note(document);
  return new Map([...withNull].map((name) => [name, without.has(name) ? `${name}OrNull` : name]));
}

function withNull(schema: Schema): Schema {
  return { ...schema, nullable: true, ...(schema.enum && { enum: [...schema.enum, null] }) };
}

const refersTo = (ref: Json | undefined) => String(ref).split('/').at(-1) as string;
const isNull = (schema: Schema) => schema.type === 'null';

/** Keywords whose meaning is the same in both editions. */
const same = new Set(
  [
    ['title', 'description', 'default', 'example', 'deprecated', 'readOnly', 'writeOnly', 'format', 'enum'],
    [
      'minimum',
      'maximum',
      'multipleOf',
      'minLength',
      'maxLength',
      'pattern',
      'x-check',
      'minItems',
      'maxItems',
    ],
    ['uniqueItems', 'minProperties', 'maxProperties', 'required', 'discriminator', 'nullable'],
  ].flat(),
);

/** What stands under these is data; a key in it means nothing. */
const data = new Set(['example', 'value', 'x-request-body']);

function converter(named: Record<string, Schema>, namesOrNull: Map<string, string>) {
  return { schema, outside };

  /** Everything but schemas: the same in both editions, save for the schemas within. */
  function outside(value: Json): Json {
    if (Array.isArray(value)) return value.map(outside);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, part]) => {
        if (key === 'schema') return [key, schema(part as Schema)];
        return [key, data.has(key) ? part : outside(part)];
      }),
    );
  }

  function schema(source: Schema): Schema {
    if ('$ref' in source) return reference(source);
    const variants = source.anyOf;
    if (variants?.some(isNull)) return nullable(source, variants);
    const result: Schema = {};
    for (const [keyword, value] of Object.entries(source))
      Object.assign(result, translated(keyword, value, source));
    return result;
  }

  function translated(keyword: string, value: Json, source: Schema): Schema {
    if (keyword === 'default' && value === null) return {};
    if (same.has(keyword)) return { [keyword]: value };
    switch (keyword) {
      case 'type':
        return type(value);
      case 'const':
        return { enum: [value] };
      case 'items':
        return { items: schema(value as Schema) };
      case 'additionalProperties':
        return { additionalProperties: typeof value === 'object' ? schema(value as Schema) : value };
      case 'oneOf':
      case 'anyOf':
      case 'allOf':
        return { [keyword]: (value as Schema[]).map(schema) };
      case 'properties':
        return properties(value as Record<string, Schema>, source.required);
    }
    throw new Error(`no form in OpenAPI 3.0 is known for ${keyword}: ${JSON.stringify(source)}`);
  }

  function type(value: Json): Schema {
    if (value === 'number') return { type: value, 'x-go-type': 'float64' };
    if (!Array.isArray(value)) return { type: value };
    const [kind, ...others] = value.filter((name) => name !== 'null') as string[];
    if (!kind || others.length > 0)
      throw new Error(`no form in OpenAPI 3.0 for type ${JSON.stringify(value)}`);
    return { type: kind, nullable: true };
  }

  function properties(all: Record<string, Schema>, required: string[] = []): Schema {
    const entries = Object.entries(all).filter(([, property]) => !isNull(property));
    const names = required.filter((name) => entries.some(([kept]) => kept === name));
    const converted = ([name, property]: [string, Schema]): [string, Schema] => [
      name,
      names.includes(name) ? schema(property) : optional(schema(property)),
    ];
    return {
      properties: Object.fromEntries(entries.map(converted)),
      ...(names.length > 0 && { required: names }),
    };
  }

  function optional(property: Schema): Schema {
    return property.type === 'array' && !('default' in property)
      ? { ...property, 'x-nullable': true }
      : property;
  }

  function reference(source: Schema): Schema {
    const { $ref, ...beside } = source;
    const target = named[refersTo($ref)];
    if (!target) throw new Error(`nothing is at ${$ref}`);
    if (!isNamedInClients(target)) return schema({ ...target, ...beside });
    return Object.keys(beside).length === 0
      ? source
      : { ...schema(beside), allOf: [{ $ref: $ref as string }] };
  }

  function nullable(source: Schema, variants: Schema[]): Schema {
    const { anyOf: _, ...beside } = source;
    const [only, ...others] = variants.filter((variant) => !isNull(variant));
    if (!only || others.length > 0) throw new Error(`no form in OpenAPI 3.0 for ${JSON.stringify(source)}`);
    const target = named[refersTo(only['$ref'])] ?? {};
    if (!isNamedInClients(target)) return withNull(reference({ ...only, ...beside }));
    const name = namesOrNull.get(refersTo(only['$ref']));
    // The type is repeated for generators that look no further.
    const kind = { type: target.type ?? 'object', nullable: true };
    return { ...schema(beside), ...kind, allOf: [{ $ref: `#/components/schemas/${name}` }] };
  }
}

/** Without the components that only webhooks refer to. */
function withoutUnused<D extends Pick<Document, 'paths' | 'components'>>(document: D): D {
  const { components } = document;
  const reachable = new Set<string>();
  const follow = (value: Json): void => {
    if (value === null || typeof value !== 'object') return;
    for (const [key, part] of Object.entries(value)) {
      if (key !== '$ref' || typeof part !== 'string' || reachable.has(part)) follow(part);
      else {
        reachable.add(part);
        const [kind, name] = part.split('/').slice(-2) as [string, string];
        follow(components[kind]?.[name] ?? null);
      }
    }
  };
  follow(document.paths);
  const used = ([kind, parts]: [string, Record<string, Schema>]) => [
    kind,
    kind === 'securitySchemes'
      ? parts
      : Object.fromEntries(
          Object.entries(parts).filter(([name]) => reachable.has(`#/components/${kind}/${name}`)),
        ),
  ];
  return { ...document, components: Object.fromEntries(Object.entries(components).map(used)) };
}
