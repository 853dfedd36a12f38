import fc from 'fast-check';
import { type RawBuilder, sql } from 'kysely';
import t, { type Test } from 'tap';
import { jsonObject } from '../../src/db/json.ts';
import { items, previousOfItem } from '../../src/items/item.ts';
import { seenAvailability } from '../../src/records/absence.ts';
import { previousOfSwitch } from '../../src/records/switches.ts';
import { changedFields } from '../../src/records/write.ts';
import { startTestService } from '../support/service.ts';

const { database } = await startTestService(t);

const text = fc
  .oneof(
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.constantFrom(
      '',
      'null',
      'NULL',
      '"',
      '\\',
      '{}',
      'a,b',
      'サーモン',
      'سلمون',
      '𝒮\u0001\u2028',
      '\u001f\u007f',
    ),
  )
  .filter((text) => text.isWellFormed() && !text.includes('\0'));
const moment = fc.oneof(
  fc.constantFrom(
    'infinity',
    '-infinity',
    '4713-01-01 12:00:00 BC',
    '0044-03-15 BC',
    '0001-01-01',
    '9999-12-31 23:59:59.999-12',
    '294276-12-31 23:59:59.999',
    '2026-11-22 10:00:00+14',
  ),
  fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(8e12) }).map((date) => date.toISOString()),
);
const orNull = <T>(values: fc.Arbitrary<T>) => fc.option(values);
const labels = fc.array(orNull(text), { maxLength: 3 });
const fields = {
  category_id: fc.constantFrom('1', '9007199254740993', '-9223372036854775808'),
  name: text,
  description: text,
  price: fc.constantFrom(
    '0',
    '0.00',
    '12.5',
    '12.50',
    '999999999.999',
    '1e-3',
    '00012.5',
    '12345678901234567890.1',
  ),
  photo_url: orNull(text),
  allergens: labels,
  dietary_tags: labels,
  is_available: fc.boolean(),
  unavailable_until: orNull(moment),
  sort_order: fc.constantFrom(0, -2147483648, 2147483647),
  external_id: orNull(text),
  hours: orNull(fc.constantFrom('{}', '{"a": 1.0}', '{"a": 1}', '{"b":[null,"\\u00e9"],"a":{}}')),
  modifier_groups: fc.constantFrom('[]', '[ ]', '[{"modifier_group_id":1,"min_selections":null}]', '[1,  2]'),
};
const unchanging = { item_id: 1, menu_id: 2, created_at: '2026-11-22', updated_at: '2026-11-22', version: 1 };
const item = fc.record(fields);
type Rows = [before: object, after: object];
const someChange = fc
  .tuple(item, item, fc.subarray(Object.keys(fields) as (keyof typeof fields)[]))
  .map(([before, other, changed]): Rows => {
    const values = changed.map((field) => [field, other[field]]);
    return [before, { ...before, ...Object.fromEntries(values) }];
  });

/** The old values of what differs, found by comparing the two resources as JSON. */
function byResources(before: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`changed_fields(${before}, ${jsonObject(items.compared('new'))})`;
}

const stored = jsonObject(items.compared('old'));
const seen = jsonObject({ ...items.compared('old'), ...seenAvailability('old') });
const beforeUpdate = sql`case when new.is_available then ${stored} else ${seen} end`;

const runs = { numRuns: 300 };

t.test(
  'the old values in an event are those in which the resources differ, to the last digit and zero',
  async (t) => {
    await fc.assert(
      fc.asyncProperty(someChange, async (rows) => {
        await same(t, rows, changedFields(items), byResources(stored));
        await same(t, rows, previousOfItem, byResources(beforeUpdate));
      }),
      runs,
    );
  },
);

t.test('a switch reports the same old values as an update', async (t) => {
  const switched = fc
    .tuple(
      item,
      fc.record({ is_available: fields.is_available, unavailable_until: fields.unavailable_until }),
    )
    .map(([before, after]): Rows => [before, { ...before, ...after }]);
  await fc.assert(
    fc.asyncProperty(switched, (rows) => same(t, rows, previousOfSwitch, byResources(beforeUpdate))),
    runs,
  );
});

/** Compares two forms of `previous`, field by field as text, for a row that becomes another. */
async function same(
  t: Test,
  [before, after]: Rows,
  one: RawBuilder<unknown>,
  other: RawBuilder<unknown>,
): Promise<void> {
  const row = (values: object) =>
    sql`json_populate_record(null::item, ${JSON.stringify({ ...values, ...unchanging })}::json)`;
  const listed = (json: RawBuilder<unknown>) =>
    sql`(select json_agg(key || ' ' || value::text order by key) from json_each(${json}))`;
  const { rows } = await sql<{ one: string[]; other: string[] }>`
    select ${listed(one)} as one, ${listed(other)} as other from ${row(before)} as old, ${row(after)} as new`.execute(
    database,
  );
  t.strictSame(rows[0]?.one, rows[0]?.other, JSON.stringify([before, after]));
}
