import { sql } from 'kysely';
import { type Database, inTransaction } from '../db/database.ts';
import { data } from '../db/json.ts';
import type { Param } from '../db/statement.ts';
import { type FieldError, parameterError } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { created } from '../http/reply.ts';
import { priceErrors, priceText } from '../locations/currency.ts';
import { type LocationKey, locationKey, requireLocation } from '../locations/location.ts';
import { absenceErrors } from '../records/absence.ts';
import { onConstraint } from '../records/constraints.ts';
import { largestSortOrder } from '../records/sort-order.ts';
import { firstNotes } from '../records/switches.ts';
import { type ChangeRow, change, list, type Written, write, written } from '../records/write.ts';
import { readGroup } from './get-modifier-group.ts';
import { missingItems } from './items-of-modifiers.ts';
import { takeTurn } from './lock.ts';
import { type Modifier, modifierDefaults, modifiers, newModifierFields } from './modifier.ts';
import { groupDefaults, groupFields, groupLimit, groups, type Summary } from './modifier-group.ts';
import { unmetRules } from './rules.ts';

/** Creates a group, and then its modifiers, in one transaction with an event for each. */
export async function createModifierGroup(
  call: Call<'createModifierGroup'>,
): Promise<Reply<'createModifierGroup'>> {
  const { database, params, caller, body, requestId } = call;
  const key = locationKey(params, caller);
  const { modifiers: bodies = [], ...own } = body;
  const group = { ...groupDefaults, ...own, name: own.name.trim() };
  const errors = [
    ...unmetRules(
      group,
      bodies.map(({ default_quantity = 0 }) => default_quantity),
    ),
    ...bodies.flatMap((one, place) => absenceErrors(one, `/modifiers/${place}`)),
    ...repeatedIds(bodies),
  ];
  if (errors.length > 0) throw parameterError(errors);

  const { etag, resource, location } = await inTransaction(database, async (transaction) => {
    await requireLocation(transaction, key);
    const currency = await takeTurn(transaction, key);
    await requireFitting(transaction, key, bodies, currency);
    const change = written(requestId);
    const [row] = await insertGroup(transaction, { ...key, ...group, ...change });
    if (!row) throw tooMany();
    const rows = bodies.map((one, place) => {
      const is_available = one.is_available ?? one.unavailable_until == null;
      return {
        ...modifierDefaults,
        ...one,
        is_available,
        ...firstNotes(is_available, caller.clientId),
        name: one.name.trim(),
        price: priceText(one.price ?? modifierDefaults.price, currency),
        sort_order: one.sort_order ?? Math.min(place, largestSortOrder),
      };
    });
    const place = { account_id: key.account_id, location_id: key.location_id, modifier_group_id: row.id };
    if (rows.length > 0)
      await insertModifiers(transaction, { ...place, rows: JSON.stringify(rows), ...change });
    const found = await readGroup(transaction, { ...key, modifier_group_id: row.id });
    return { ...found, location: `/api/v1/locations/${key.location_id}/modifier-groups/${row.id}` };
  });
  return created(data(resource), { ETag: etag, Location: location });
}

type Bodies = NonNullable<Call<'createModifierGroup'>['body']['modifiers']>;

function repeatedIds(bodies: Bodies): FieldError[] {
  const seen = new Set<string>();
  return bodies.flatMap(({ external_id }, place) => {
    if (external_id == null) return [];
    const isRepeated = seen.has(external_id);
    seen.add(external_id);
    const field = `/modifiers/${place}/external_id`;
    return isRepeated ? [{ field, code: 'taken', message: 'is already used by another record' }] : [];
  });
}

/** @throws 422 for items that are not of the location, and prices that its currency has no places for. */
async function requireFitting(
  transaction: Database,
  key: LocationKey,
  bodies: Bodies,
  currency: string,
): Promise<void> {
  const ids = bodies.flatMap(({ item_id }) => item_id ?? []);
  const missing = await missingItems(transaction, key, ids);
  const errors = bodies.flatMap(({ item_id, price }, place) => {
    const pointer = `/modifiers/${place}`;
    const isMissing = item_id != null && missing.has(item_id);
    const message = 'is not an item of this location';
    return [
      ...(isMissing ? [{ field: `${pointer}/item_id`, code: 'not_found', message }] : []),
      ...priceErrors(price ?? modifierDefaults.price, currency, `${pointer}/price`),
    ];
  });
  if (errors.length > 0) throw parameterError(errors);
}

function tooMany() {
  const message = `the location has ${groupLimit} modifier groups, and may not have more`;
  return parameterError([{ field: '', code: 'too_many', message }]);
}

type NewGroup = LocationKey & Written & { [F in keyof typeof groupFields]: string | number | null };

const groupColumns = Object.entries<string>(groupFields);

const insertGroup = onConstraint(
  write(
    'modifierGroups.createModifierGroup',
    (p: Param<NewGroup>) => sql<ChangeRow<Summary> & { id: number }>`
      insert into modifier_group (account_id, location_id, ${sql.join(groupColumns.map(([name]) => sql.ref(name)))})
      select ${p('account_id', 'bigint')}, ${p('location_id', 'bigint')},
        ${sql.join(groupColumns.map(([name, type]) => p(name as keyof typeof groupFields, type)))}
      where (select count(*) from modifier_group
        where account_id = ${p('account_id', 'bigint')} and location_id = ${p('location_id', 'bigint')}) < ${groupLimit}
      returning ${list([
        ...change(groups, 'modifier_group.created'),
        sql.ref('modifier_group.modifier_group_id').as('id'),
      ])}`,
    ['id'],
    { touchesMenu: false },
  ),
  groups.constraints,
);

type NewModifiers = Written & {
  account_id: number;
  location_id: number;
  modifier_group_id: number;
  /** JSON. */
  rows: string;
};

const modifierColumns = Object.entries<string>(newModifierFields);

// In the order of the body, which the identifiers and the events then have.
const insertModifiers = write(
  'modifierGroups.createModifierGroup.modifiers',
  (p: Param<NewModifiers>) => {
    const names = sql.join(modifierColumns.map(([name]) => sql.ref(name)));
    return sql<ChangeRow<Modifier>>`
    insert into modifier (account_id, location_id, modifier_group_id, ${names})
    select ${p('account_id', 'bigint')}, ${p('location_id', 'bigint')}, ${p('modifier_group_id', 'bigint')}, ${names}
    from json_to_recordset(${p('rows', 'json')}) as wanted (${sql.join(
      modifierColumns.map(([name, type]) => sql`${sql.ref(name)} ${sql.raw(type)}`),
    )})
    returning ${list(change(modifiers, 'modifier.created'))}`;
  },
  ['record'],
  { touchesMenu: false },
);
