import { type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import { columns, type Json, jsonObject, rfc3339, spacedDateTime } from '../db/json.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { notFound } from '../http/errors.ts';
import { describingFields, notedAbsence, seenAvailability, switchedETag } from '../records/absence.ts';
import type { SwitchedKind } from '../records/availability-rows.ts';
import { externalIdTaken } from '../records/constraints.ts';
import { isReachable, type RecordKind, requireRecord } from '../records/record-kind.ts';
import { previousOfUpdate, updateEventTypes } from '../records/switches.ts';
import type { FieldTypes } from '../records/update.ts';
import type { ModifierKey } from './keys.ts';

export type Modifier = components['schemas']['Modifier'];
export type Uses = Modifier['modifier_groups'];

/** What callers may say of a modifier: each field is a column, here with its SQL type. */
export const modifierFields = {
  name: 'text',
  description: 'text',
  price: 'numeric',
  is_available: 'boolean',
  unavailable_until: 'timestamptz',
  default_quantity: 'integer',
  item_id: 'bigint',
  allergens: 'text[]',
  dietary_tags: 'text[]',
  sort_order: 'integer',
  external_id: 'text',
} as const satisfies FieldTypes<Omit<components['schemas']['ModifierUpdate'], 'restore'>>;

/** The same of a new one, with what is noted when it is created off. */
export const newModifierFields = {
  ...modifierFields,
  unavailable_since: 'timestamptz',
  unavailable_by: 'text',
} as const;

/** Modifiers that a group may have. */
export const modifierLimit = 100;

/** The values of a new modifier for fields that the body lacks; without a `sort_order` it comes last in its group. */
export const modifierDefaults = {
  description: '',
  price: 0,
  unavailable_until: null,
  default_quantity: 0,
  item_id: null,
  allergens: [],
  dietary_tags: [],
  sort_order: null,
  external_id: null,
};

/** The fields of a row of `modifier`, with its availability as stored, which is what the last event said. */
function storedModifier(row: string) {
  const modifier = columns('modifier', row);
  return {
    modifier_id: modifier.modifier_id,
    modifier_group_id: modifier.modifier_group_id,
    location_id: modifier.location_id,
    name: modifier.name,
    description: modifier.description,
    price: modifier.price,
    is_available: modifier.is_available,
    unavailable_until: rfc3339(modifier.unavailable_until),
    default_quantity: modifier.default_quantity,
    item_id: modifier.item_id,
    allergens: modifier.allergens,
    dietary_tags: modifier.dietary_tags,
    sort_order: modifier.sort_order,
    external_id: modifier.external_id,
    created: spacedDateTime(modifier.created_at),
    updated_at: rfc3339(modifier.updated_at),
    version: modifier.version,
    modifier_groups: sql<Json<Uses>>`${modifier.modifier_groups}`,
  };
}

/** As readers see it: one whose `unavailable_until` has passed is available, also before a worker has written so. */
export function shownModifier(row: string) {
  const { created, updated_at, version, modifier_groups, ...fields } = storedModifier(row);
  return {
    ...fields,
    ...seenAvailability(row),
    ...notedAbsence(row),
    created,
    updated_at,
    version,
    modifier_groups,
  };
}

/** A row of `modifier` as the API shows it, built by the database. */
export function modifierJson(row = 'modifier'): RawBuilder<Json<Modifier>> {
  return jsonObject<Modifier>(shownModifier(row));
}

/** The events of an update that may change any field, and what they say of before. */
export const modifierEventTypes = updateEventTypes('modifier', describingFields(modifierFields));
export const previousOfModifier = previousOfUpdate(storedModifier);

/** Modifiers, as calls that switch many at once know them. */
export const switchedModifiers: SwitchedKind<'modifier', Modifier> = {
  table: 'modifier',
  rows: 'modifiers',
  json: modifierJson,
};

export const modifiers: RecordKind<ModifierKey, Modifier> = {
  table: 'modifier',
  path: ['modifier_id', 'modifier_group_id', 'location_id'],
  json: modifierJson,
  // Without what goes with the switch.
  compared: storedModifier,
  eTag: (row = 'modifier') => switchedETag(row),
  constraints: {
    modifier_external_id: externalIdTaken,
    modifier_of_group: () => notFound('There is no such modifier group.'),
  },
};

/** @throws 404 or 403 when the caller finds no such modifier in this group. */
export const requireModifier = requireRecord<ModifierKey>('modifierGroups.requireModifier', modifiers);

/** Locks the modifier; returns nothing when there is none within reach. */
export const lockModifier = statement('modifierGroups.lockModifier', (p: Param<ModifierKey>) =>
  build
    .selectFrom('modifier')
    .select([modifiers.eTag().as('etag'), 'modifier_groups', modifierJson().as('resource')])
    .where(isReachable(modifiers, p))
    .forUpdate(),
);
