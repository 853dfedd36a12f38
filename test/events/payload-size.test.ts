import { sql } from 'kysely';
import t from 'tap';
import document from '../../generated/openapi.json' with { type: 'json' };
import { readExamples } from '../../src/process/examples.ts';
import { makeLocation, makeMenu, makeModifierGroup, makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const { api, database } = await startTestService(t);
const requestId = 'r'.repeat(128);

interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  maxLength?: number;
  maxItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  anyOf?: Schema[];
}

// By what a text may be filled with: escapes of two and six bytes, and the longest in UTF-8; then what URLs and codes take.
const fillings = ['"', '\n', '\u0001', '\u007f', '𝒳', 'x'];

t.test('the largest event that the contract allows has no more than 64 kB', async (t) => {
  const { location, menu, category, item } = await makeTree(api);
  const groups = `/locations/${location.location_id}/modifier-groups`;
  const group = await makeModifierGroup(api, location.location_id);
  const groupPath = `${groups}/${group.modifier_group_id}`;
  const modifierPath = `${groupPath}/modifiers/${group.modifiers[0].modifier_id}`;
  // As many uses as may be, each with the longest numbers that there are.
  await sql`alter table modifier_group alter column modifier_group_id restart with 9007199254740900`.execute(
    database,
  );
  const modifier_groups: object[] = [];
  for (let count = 0; count < 20; count += 1) {
    const { modifier_group_id } = await makeModifierGroup(api, location.location_id, {
      max_per_modifier: 1_000,
    });
    modifier_groups.push({ modifier_group_id, min_selections: 1_000, max_selections: 1_000 });
  }
  for (const user of [`/menus/${menu.menu_id}/items/${item.item_id}`, modifierPath])
    t.equal((await api.put(`${user}/modifier-groups`, { modifier_groups })).status, 200);
  const records = [
    { table: 'location', path: `/locations/${location.location_id}`, schema: 'LocationUpdate' },
    { table: 'menu', path: `/menus/${menu.menu_id}`, schema: 'MenuUpdate' },
    {
      table: 'category',
      path: `/menus/${menu.menu_id}/categories/${category.category_id}`,
      schema: 'CategoryUpdate',
    },
    { table: 'item', path: `/menus/${menu.menu_id}/items/${item.item_id}`, schema: 'ItemUpdate' },
    { table: 'modifier_group', path: groupPath, schema: 'ModifierGroupUpdate' },
    { table: 'modifier', path: modifierPath, schema: 'ModifierUpdate' },
  ];
  const first: Record<string, object> = {};
  for (const { table, path, schema } of records) {
    const largest: Record<string, { values: unknown[]; bytes: number }> = {};
    for (const [name, field] of Object.entries(
      resolve({ $ref: `#/components/schemas/${schema}` }).properties ?? {},
    ))
      for (const filling of fillings) {
        const values = [0, 1].map((variant) =>
          name === 'hours' ? fullHours(field, variant) : filled(field, filling, variant),
        );
        const { status, body } = await api.put(path, { [name]: values[0] });
        const bytes = status === 200 ? Buffer.byteLength(JSON.stringify(body.data[name])) : 0;
        if (bytes > (largest[name]?.bytes ?? 0)) largest[name] = { values, bytes };
      }
    t.same(
      ['name', 'hours'].map((name) => name in largest),
      [true, !table.startsWith('modifier')],
      `${table}: ${Object.keys(largest).join(', ')}`,
    );
    // Every field changes, so the event holds each of them twice.
    for (const variant of [0, 1]) {
      const fields = Object.entries(largest).map(([name, { values }]) => [name, values[variant]]);
      const response = await api.put(path, Object.fromEntries(fields), {
        headers: { 'x-request-id': requestId },
      });
      t.equal(response.status, 200, response.text.slice(0, 500));
    }
    first[table] = Object.fromEntries(Object.entries(largest).map(([name, { values }]) => [name, values[0]]));
    const { bytes, previous } = await lastEvent(table);
    t.same(
      Object.keys(largest).filter((name) => !(name in JSON.parse(previous))),
      [],
      'all were changed',
    );
    t.comment(`${table}: ${bytes} bytes`);
    t.ok(bytes <= 65_536, `${table}: ${bytes} bytes`);
    if (table === 'item')
      t.ok(bytes > 60_000, 'the item is the largest, and no limit is tighter than need be');
  }

  // An import changes all of them, and the uses too.
  const fewer = modifier_groups.map((use) => ({ ...use, min_selections: 999 }));
  const contentOf = (table: string) => {
    const {
      external_id: _,
      unavailable_until: _absence,
      ...fields
    } = first[table] as Record<string, unknown>;
    return { ...fields, modifier_groups: fewer };
  };
  const [own, other] = group.modifiers.map(({ modifier_id }: { modifier_id: number }) => ({ modifier_id }));
  const data = {
    categories: [
      {
        category_id: category.category_id,
        items: [{ item_id: item.item_id, ...contentOf('item') }],
      },
    ],
    modifier_groups: [
      {
        modifier_group_id: group.modifier_group_id,
        modifiers: [{ ...own, ...contentOf('modifier') }, other],
      },
    ],
  };
  const imported = await api.put(
    `/menus/${menu.menu_id}/content`,
    { data },
    { headers: { 'x-request-id': requestId } },
  );
  t.equal(imported.status, 200, imported.text.slice(0, 500));
  for (const [table, count] of Object.entries({ item: 2, modifier: 1 })) {
    const { rows } = await sql<{ bytes: number }>`
      select octet_length(payload::text) as bytes from event
      where record like ${`${table}:%`} order by event_id desc limit ${count}`.execute(database);
    for (const { bytes } of rows) t.ok(bytes <= 65_536, `${table}: ${bytes} bytes by an import`);
    t.comment(`${table}: ${rows.map(({ bytes }) => bytes)} bytes by an import`);
  }

  async function lastEvent(table: string) {
    const { rows } = await sql<{ bytes: number; previous: string }>`
      select octet_length(payload::text) as bytes, payload -> 'previous' as previous
      from event where record like ${`${table}:%`} order by event_id desc limit 1`.execute(database);
    return rows[0] ?? { bytes: 0, previous: '{}' };
  }
});

t.test('every event of the demo menus has less than the 20 kB that Standard Webhooks advises', async (t) => {
  const { location_id } = await makeLocation(api);
  for (const { menus } of await readExamples())
    for (const { content } of menus) {
      const { menu_id } = await makeMenu(api, location_id);
      const dearer = content.categories.map(({ items, ...category }) => ({
        ...category,
        items: items.map((item) => ({ ...item, name: `${item.name} *`, description: '', allergens: [] })),
      }));
      for (const data of [content, { ...content, categories: dearer }])
        t.equal((await api.put(`/menus/${menu_id}/content`, { data })).status, 200);
    }
  const { rows } = await sql<{ bytes: number; count: string }>`
    select max(octet_length(payload::text)) as bytes, count(*) from event
    where location_id = ${location_id}`.execute(database);
  const [{ bytes, count } = { bytes: 0, count: 0 }] = rows;
  t.ok(Number(count) > 300, `${count} events`);
  t.ok(bytes <= 20_000, `${bytes} bytes at most`);
  t.comment(`${count} events of ${bytes} bytes at most`);
});

/** As many days and windows as the schema allows. */
function fullHours(declared: Schema, variant: number): object {
  const [{ properties = {} } = {}] = (declared.anyOf ?? []).map(resolve);
  const most = (list: Schema = {}) => resolve(list).maxItems ?? 0;
  const windows = most(resolve(properties['dates']?.items ?? {}).properties?.['windows']);
  const window = { from: '12:30', minutes: 1440 };
  return {
    weekly: Array.from({ length: most(properties['weekly']) }, () => ({
      days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
      ...window,
    })),
    dates: Array.from({ length: most(properties['dates']) }, (_, place) => ({
      date: new Date(Date.UTC(2026 + variant, 0, 1 + place)).toISOString().slice(0, 10),
      windows: Array.from({ length: windows }, () => window),
    })),
    valid_from: '2026-01-01',
    valid_until: '2099-12-31',
  };
}

/** As large as the schema allows, without regard to what else it says of the value. */
function filled(declared: Schema, filling: string, variant: number): unknown {
  const { type, format, maxLength = 0, maxItems = 0, items = {}, properties } = resolve(declared);
  const [kind] = [type].flat();
  // Of labels each is another.
  const text = (length: number, place = 0) =>
    filling.repeat(Math.max(0, length - 1)) + String.fromCodePoint(0x1d400 + 400 * variant + place);
  if (kind === 'array') {
    const { maxLength: length = 0 } = resolve(items);
    return Array.from({ length: maxItems }, (_, place) => text(length, place));
  }
  if (kind === 'object')
    return Object.fromEntries(
      Object.entries(properties ?? {}).map(([name, field]) => [
        name,
        name === 'country' ? ['JP', 'FR'][variant] : filled(field, filling, variant),
      ]),
    );
  if (format === 'uri') return `https://x/${variant}`.padEnd(maxLength, 'x');
  return kind === 'string' ? text(maxLength) : undefined;
}

function resolve(schema: Schema): Schema {
  if (!schema.$ref) return schema;
  const steps = schema.$ref.slice(2).split('/');
  const found = steps.reduce((from: unknown, key) => (from as Record<string, unknown>)[key], document);
  return { ...resolve(found as Schema), ...schema, $ref: '' };
}
