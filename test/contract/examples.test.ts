import { readFile } from 'node:fs/promises';
import { Ajv } from 'ajv';
import t from 'tap';
import document from '../../generated/openapi.json' with { type: 'json' };
import { type OperationId, operations } from '../../generated/operations.ts';
import { withChecks } from '../../src/contract/checks.ts';
import { withFormats } from '../../src/contract/formats.ts';
import { exampleFaults } from '../support/contract.ts';
import { followEvents } from '../support/events.ts';
import { inFuture } from './example-calls.ts';
import {
  describedOperation,
  type ExampleRequest,
  exampleRequests,
  type Json,
  namedExample,
  startExampleWorld,
  successExamples,
} from './example-world.ts';

/*
 * The examples of the contract tell the truth: each is what its schema says, each request does what it says on the
 * live service, and each answer and event has the keys and the kinds of values that the service really sends.
 */

const contract: Json = document;
const edition30 = JSON.parse(
  await readFile(new URL('../../generated/openapi-3.0.json', import.meta.url), 'utf8'),
);

t.test('every body has an example, and every example matches its schema', async (t) => {
  const bodies = mediaTypesOf(contract);
  t.ok(bodies.length > 300, `${bodies.length} bodies`);
  for (const { place, schema, examples } of bodies) {
    const values = Object.values<Json>(examples ?? {});
    t.ok(values.length > 0, `${place} has an example`);
    for (const { value } of values) t.equal(exampleFaults(schema, value), '', place);
  }
  t.match(
    exampleFaults({ $ref: '#/components/schemas/Item' }, { colour: 'red' }),
    /colour additionalProperties/,
  );
});

t.test('the examples also match the schemas of the 3.0 edition', async (t) => {
  const ajv = withChecks(withFormats(new Ajv({ strict: false, allErrors: true })));
  ajv.addSchema({ $id: 'edition', components: nullsAllowed(edition30.components) });
  const bodies = mediaTypesOf(edition30);
  t.ok(bodies.length > 300, `${bodies.length} bodies`);
  const faults = (schema: Json, value: unknown) => {
    const validate = ajv.compile(withReferencesInto('edition', nullsAllowed(schema)));
    return validate(value) ? '' : ajv.errorsText(validate.errors);
  };
  for (const { place, schema, examples } of bodies)
    for (const { value } of Object.values<Json>(examples)) t.equal(faults(schema, value), '', place);
  t.match(faults({ $ref: '#/components/schemas/Item' }, namedExample('OneItem')), /required property/);
  t.match(faults({ $ref: '#/components/schemas/Item' }, null), /must be object/);
  for (const [name, property] of [
    ['Location', 'address'],
    ['AvailabilityResult', 'item'],
    ['Webhook', 'disabled_reason'],
    ['Delivery', 'last_attempt'],
  ])
    t.equal(faults({ $ref: `#/components/schemas/${name}/properties/${property}` }, null), '', `${property}`);
});

t.test('every example request gets a response like its example from the live service', async (t) => {
  const world = await startExampleWorld(t);
  for (const id of Object.keys(operations) as OperationId[]) {
    const examples = successExamples(id);
    const unseen = new Set(examples);
    for (const request of exampleRequests(id)) {
      await world.restore();
      const response = await world.send(id, request);
      const what = `${id} ${request.name}`;
      t.match(String(response.status), /^2/, `${what}: ${response.text.slice(0, 500)}`);
      const fits = examples.filter(
        ({ status, value }) => status === response.status && differences(value, response.body).length === 0,
      );
      for (const example of fits) unseen.delete(example);
      const told = examples.map(({ name, value }) => [name, ...differences(value, response.body)]);
      t.ok(fits.length > 0 || examples.length === 0, what, { told });
    }
    t.strictSame(
      [...unseen].map(({ name }) => name),
      [],
      `${id}: an answer is like each of the examples`,
    );
  }
});

t.test('every operation fires the events that its description names, and no others', async (t) => {
  const world = await startExampleWorld(t);
  const { database } = world.service;
  for (const id of Object.keys(operations) as OperationId[]) {
    const named = eventsNamed(id);
    const fired = new Set<string>();
    for (const request of changing(id)) {
      await world.restore();
      const events = await followEvents(database);
      await world.send(id, request);
      for (const type of await events.nextTypes()) fired.add(type);
    }
    const unnamed = [...fired].filter((type) => !named.includes(type));
    t.strictSame(unnamed, [], `${id} names all that it fires`);
    if (operations[id].method !== 'GET')
      t.equal(fired.size > 0, named.length > 0, `${id} fires: ${[...fired]}`);
  }
  t.strictSame(eventsNamed('toggleItem'), ['item.toggled']);
});

t.test('the example of a menu as CSV is the menu, byte for byte', async (t) => {
  const { service } = await startExampleWorld(t);
  const { text } = await service.api.get('/menus/7/content', { headers: { accept: 'text/csv' } });
  t.equal(text, `\ufeff${namedExample('MenuCsvExample')}`);
});

t.test('every example of a webhook request is like an event that the service sends', async (t) => {
  const { service, restore } = await startExampleWorld(t);
  const { api, database } = service;
  const examples = Object.values<Json>(contract.webhooks).flatMap(({ post }) =>
    Object.values<Json>(post.requestBody.content['application/json'].examples).map((one) =>
      namedExample(one.$ref.split('/').at(-1)),
    ),
  );
  t.ok(examples.length >= 21);
  for (const example of examples) {
    await restore();
    const { type, data, previous } = example;
    const [kind, verb] = type.split('.');
    const path = {
      location: `/locations/${data.location_id}`,
      menu: `/menus/${data.menu_id}`,
      category: `/menus/${data.menu_id}/categories/${data.category_id}`,
      item: `/menus/${data.menu_id}/items/${data.item_id}`,
      modifier_group: `/locations/${example.location_id}/modifier-groups/${data.modifier_group_id}`,
      modifier: `/locations/${example.location_id}/modifier-groups/${data.modifier_group_id}/modifiers/${data.modifier_id}`,
    }[kind as 'item'];
    if (verb === 'deleted') await api.delete(kind === 'modifier_group' ? `${path}?detach=true` : path);
    if (previous) {
      const after = Object.fromEntries(Object.keys(previous).map((key) => [key, data[key]]));
      const dates = (fields: object) => inFuture(JSON.stringify(fields));
      const headers = { 'content-type': 'application/json' };
      await api.call('PUT', path, { body: dates(previous), headers });
      await api.call('PUT', path, { body: dates(after), headers });
    }
    const { payload } = await database
      .selectFrom('event')
      .select('payload')
      .where('type', '=', type)
      .where('record', '=', `${kind}:${data[`${kind}_id`]}`)
      .orderBy('event_id', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow();
    t.strictSame(differences(example, JSON.parse(payload)), [], type);
  }
});

t.test('a false example is found', async (t) => {
  const { data } = namedExample('OneItem');
  const live = namedExample('OneItem');
  const { price: _, ...without } = data;
  for (const [lie, where] of [
    [without, '/data lacks price'],
    [{ ...data, colour: 'red' }, '/data has colour'],
    [{ ...data, price: '4.50' }, '/data/price is a string'],
    [{ ...data, allergens: [1] }, '/data/allergens/0 is a number'],
    [{ ...data, created: '2026-01-12T09:30:00Z' }, '/data/created has another form'],
  ]) {
    t.strictSame(differences({ data: lie }, live), [where]);
  }
  t.strictSame(differences({ data: [data, without] }, { data: [data] }), ['/data/1 lacks price']);
  t.strictSame(differences({ data: [data] }, { data: [] }), ['/data/0 is like nothing there']);
  t.strictSame(differences({ data }, live), []);
  t.strictSame(differences({ data: { ...data, unavailable_until: null } }, live), [], 'null is a state');
});

/** The kinds of events that stand in the description. */
function eventsNamed(id: OperationId): string[] {
  const { description } = describedOperation(id);
  const kinds = description.matchAll(
    /`((?:location|menu|category|item|modifier_group|modifier)\.(?:created|updated|deleted|toggled))`/g,
  );
  return [...kinds].map(([, type]) => type);
}

/** The example requests; those of an update also with another name, as an example may set what is there already. */
function changing(id: OperationId): ExampleRequest[] {
  const requests = exampleRequests(id);
  if (!/^update(Location|Menu|Category|Item|ModifierGroup|Modifier)$/.test(id)) return requests;
  return [
    ...requests,
    { name: 'anotherName', mediaType: 'application/json', value: { name: 'Another name' } },
  ];
}

/**
 * What an example has otherwise than the live value: other keys, other types, another form of a date or an id. `null`
 * goes with everything, as it is a state, and the schema has judged it. Each element of a list must be like one that
 * is there.
 */
function differences(example: Json, live: Json, at = ''): string[] {
  if (example === null || live === null) return [];
  if (kindOf(example) !== kindOf(live)) return [`${at} is a ${kindOf(example)}`];
  if (Array.isArray(example))
    return example.flatMap((one, index) => {
      const told = live.map((other: Json) => differences(one, other, `${at}/${index}`));
      const closest = told.sort((a: string[], b: string[]) => a.length - b.length)[0];
      return closest ?? [`${at}/${index} is like nothing there`];
    });
  if (typeof example === 'object') {
    const has = Object.keys(example);
    return [
      ...has.filter((key) => !(key in live)).map((key) => `${at} has ${key}`),
      ...Object.keys(live)
        .filter((key) => !has.includes(key))
        .map((key) => `${at} lacks ${key}`),
      ...has
        .filter((key) => key in live)
        .flatMap((key) => differences(example[key], live[key], `${at}/${key}`)),
    ];
  }
  return formOf(example) === formOf(live) ? [] : [`${at} has another form`];
}

function kindOf(value: Json): string {
  return Array.isArray(value) ? 'list' : typeof value;
}

/** Dates and event ids with their digits masked; the same for all other values. */
function formOf(value: Json): string {
  if (/^\d{4}-\d\d-\d\d/.test(value)) return value.replaceAll(/\d/g, '0');
  return /^evt_/.test(value) ? value.replaceAll(/[0-9a-f]/g, '0') : '';
}

interface Body {
  place: string;
  schema: Json;
  examples: Record<string, Json>;
}

/** Every media type of every request and answer, those of webhooks included, with its examples resolved. */
function mediaTypesOf(document: Json): Body[] {
  const follow = (node: Json): Json =>
    node.$ref
      ? follow(
          node.$ref
            .slice(2)
            .split('/')
            .reduce((from: Json, key: string) => from[key], document),
        )
      : node;
  const methods = { ...document.paths, ...document.webhooks };
  return Object.entries<Json>(methods).flatMap(([path, operations]) =>
    Object.entries<Json>(operations).flatMap(([method, { requestBody, responses }]) =>
      Object.entries<Json>({ ...(requestBody && { request: requestBody }), ...responses }).flatMap(
        ([part, body]) =>
          Object.entries<Json>(follow(body).content ?? {}).map(([mediaType, { schema, examples = {} }]) => ({
            place: `${method} ${path} ${part} ${mediaType}`,
            schema,
            examples: Object.fromEntries(
              Object.entries<Json>(examples).map(([name, example]) => [name, follow(example)]),
            ),
          })),
      ),
    ),
  );
}

/** Says `nullable` of 3.0 as JSON Schema does: it adds null to the type beside it, and to nothing else. */
function nullsAllowed(node: Json): Json {
  if (Array.isArray(node)) return node.map(nullsAllowed);
  if (node === null || typeof node !== 'object') return node;
  const { nullable, ...rest } = node;
  const plain = Object.fromEntries(Object.entries(rest).map(([key, one]) => [key, nullsAllowed(one)]));
  return nullable === true && plain['type'] ? { ...plain, type: [plain['type'], 'null'] } : plain;
}

function withReferencesInto(id: string, schema: Json): Json {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', `"$ref":"${id}#/`));
}
