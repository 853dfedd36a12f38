import { readFile } from 'node:fs/promises';
import { Validator } from '@seriousme/openapi-schema-validator';
import t from 'tap';
import { edition30 } from '../../scripts/generate/edition-3.0.ts';

const generated = async (name: string) =>
  JSON.parse(await readFile(new URL(`../../generated/${name}`, import.meta.url), 'utf8'));
const [contract, edition] = await Promise.all([generated('openapi.json'), generated('openapi-3.0.json')]);

/** A contract with one schema, as its edition says it. */
function convert(schema: object, others: Record<string, object> = {}): Record<string, unknown> {
  const Subject = { type: 'object', properties: { value: schema } };
  const result = edition30({
    openapi: '3.1.1',
    info: { title: 'T', version: '1', summary: 'S', license: { name: 'L', identifier: 'MIT' } },
    paths: { '/': { get: { responses: { 200: { schema: { $ref: '#/components/schemas/Subject' } } } } } },
    webhooks: {},
    components: { schemas: { Subject, ...others } },
  }) as { components: { schemas: { Subject: { properties: Record<string, Record<string, unknown>> } } } };
  return result.components.schemas.Subject.properties['value'] as Record<string, unknown>;
}

t.test('both editions are valid by the schemas of the OpenAPI Initiative', async (t) => {
  for (const [name, document, version] of [
    ['openapi.json', contract, '3.1'],
    ['openapi-3.0.json', edition, '3.0'],
  ]) {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(document));
    t.ok(valid, name, { errors });
    t.equal(validator.version, version);
  }
});

t.test('the validator finds what only one of the editions may say', async (t) => {
  const schema = structuredClone(edition);
  schema.components.schemas.Item.properties.name = { type: ['string', 'null'] };
  t.notOk((await new Validator().validate(schema)).valid, 'a list of types in 3.0');
  t.notOk(
    (await new Validator().validate({ ...structuredClone(contract), openapi: '3.0.3' })).valid,
    'webhooks',
  );
});

t.test('the editions have the same operations, parameters and responses', async (t) => {
  t.equal(edition.openapi, '3.0.3');
  t.equal(edition.info.version, contract.info.version);
  const shape = (document: typeof contract) =>
    Object.entries<Record<string, object>>(document.paths).flatMap(([path, methods]) =>
      Object.entries<Record<string, object>>(methods as never).map(([method, operation]) => [
        `${method} ${path}`,
        operation['operationId'],
        operation['security'],
        Object.keys(operation['responses'] ?? {}),
        (operation['parameters'] as unknown as object[] | undefined)?.length,
      ]),
    );
  t.strictSame(shape(edition), shape(contract));
  t.ok(shape(contract).length > 40);
});

t.test('every reference of the edition leads somewhere, and no component is left over', async (t) => {
  const text = JSON.stringify(edition);
  const refs = new Set(
    [...text.matchAll(/"#\/components\/(\w+)\/([\w-]+)"/g)].map(([, kind, name]) => `${kind}/${name}`),
  );
  const defined = Object.entries<object>(edition.components)
    .filter(([kind]) => kind !== 'securitySchemes')
    .flatMap(([kind, parts]) => Object.keys(parts).map((name) => `${kind}/${name}`));
  t.strictSame(
    [...refs].filter((ref) => !defined.includes(ref)),
    [],
  );
  t.strictSame(
    defined.filter((name) => !refs.has(name)),
    [],
  );
});

t.test('no link has a request body, which generators reject unless it is a string', async (t) => {
  for (const { components } of [contract, edition]) {
    const links = Object.values<object>(components.links);
    t.ok(links.some((link) => 'x-request-body' in link));
    t.notOk(links.some((link) => 'requestBody' in link));
  }
  t.strictSame(Object.keys(edition.components.links), Object.keys(contract.components.links));
});

t.test('a list that can be absent says so to Java', async (t) => {
  const { allergens, name } = edition.components.schemas.ItemUpdate.properties;
  t.equal(allergens['x-nullable'], true);
  t.notHas(allergens, { nullable: true });
  t.notHas(name, { 'x-nullable': true });
  const { Item, ItemCreate } = edition.components.schemas;
  t.notHas(Item.properties.allergens, { 'x-nullable': true }, 'never absent');
  t.notHas(ItemCreate.properties.allergens, { 'x-nullable': true }, 'empty by default');
});

t.test('what can be null says so where validators look: beside its type', async (t) => {
  const found: string[] = [];
  const look = (node: unknown, place: string): void => {
    if (node === null || typeof node !== 'object') return;
    const { nullable, type, enum: values, allOf } = node as Record<string, unknown>;
    if (nullable) {
      const target = (allOf as { $ref: string }[] | undefined)?.map(
        ({ $ref }) => $ref.split('/').at(-1) ?? '',
      );
      const isEffective =
        typeof type === 'string' &&
        (values === undefined || (values as unknown[]).includes(null)) &&
        (target ?? []).every((name) => edition.components.schemas[name].nullable);
      if (!isEffective) found.push(place);
    }
    for (const [key, part] of Object.entries(node)) look(part, `${place}/${key}`);
  };
  look(edition.components, '');
  t.strictSame(found, []);
  const { Address, DisabledReason, Item, ItemOrNull } = edition.components.schemas;
  t.equal(Address.nullable, true, 'an address can be null wherever it is');
  t.strictSame(DisabledReason.enum.at(-1), null);
  t.strictSame(ItemOrNull, { ...Item, nullable: true }, 'an item cannot');
});

t.test('each form of the contract has its form in the edition', async (t) => {
  const Name = { type: 'string', maxLength: 9, description: 'A name.' };
  const Kind = { type: 'string', enum: ['a'] };
  for (const [title, source, expected] of [
    ['null beside a type', { type: ['integer', 'null'] }, { type: 'integer', nullable: true }],
    ['a constant', { type: 'string', const: 'a' }, { type: 'string', enum: ['a'] }],
    ['a scalar by reference', ref('Name', { description: 'Yours.' }), { ...Name, description: 'Yours.' }],
    ['an enumeration by reference', ref('Kind'), ref('Kind')],
    [
      'words beside a reference',
      ref('Kind', { description: 'Its.' }),
      { description: 'Its.', allOf: [ref('Kind')] },
    ],
    [
      'an enumeration or null',
      { anyOf: [ref('Kind'), { type: 'null' }] },
      { type: 'string', nullable: true, allOf: [ref('Kind')] },
    ],
    [
      'a list of scalars, which can be absent',
      { type: 'array', items: ref('Name') },
      { type: 'array', items: Name, 'x-nullable': true },
    ],
    ['a default of null', { type: ['string', 'null'], default: null }, { type: 'string', nullable: true }],
    ['another default', { type: 'string', default: '' }, { type: 'string', default: '' }],
    [
      'a number',
      { type: 'number', 'x-check': 'thousandths' },
      { type: 'number', 'x-go-type': 'float64', 'x-check': 'thousandths' },
    ],
    ['a property that is always null', { type: 'null' }, undefined],
  ] as const) {
    t.strictSame(convert(source, { Name, Kind }), expected, title);
  }
  t.throws(() => convert({ prefixItems: [] }), /no form in OpenAPI 3.0 is known for prefixItems/);
  t.throws(() => convert({ type: ['string', 'integer'] }), /no form in OpenAPI 3.0 for type/);
  t.throws(() => convert(ref('Nowhere')), /nothing is at #\/components\/schemas\/Nowhere/);
});

function ref(name: string, beside = {}) {
  return { $ref: `#/components/schemas/${name}`, ...beside };
}
