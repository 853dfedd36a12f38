import { type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import { columns, type Json, jsonObject, rfc3339, spacedDateTime } from '../db/json.ts';
import { stamped } from '../http/conditional.ts';
import { ApiError, notFound } from '../http/errors.ts';
import { externalIdTaken } from '../records/constraints.ts';
import { type RecordKind, requireRecord } from '../records/record-kind.ts';
import type { FieldTypes } from '../records/update.ts';
import type { GroupKey } from './keys.ts';
import { type Modifier, modifierJson } from './modifier.ts';

export type ModifierGroup = components['schemas']['ModifierGroup'];
export type Summary = components['schemas']['ModifierGroupSummary'];

/** What callers may say of a modifier group: each field is a column, here with its SQL type. */
export const groupFields = {
  name: 'text',
  description: 'text',
  min_selections: 'integer',
  max_selections: 'integer',
  max_per_modifier: 'integer',
  free_selections: 'integer',
  external_id: 'text',
} as const satisfies FieldTypes<components['schemas']['ModifierGroupUpdate']>;

/** The values of a new group for fields that the body lacks. */
export const groupDefaults = {
  description: '',
  min_selections: 0,
  max_selections: null,
  max_per_modifier: 1,
  free_selections: 0,
  external_id: null,
};

/** Modifier groups that a location may have. */
export const groupLimit = 500;

function shownGroup(row: string) {
  const group = columns('modifier_group', row);
  return {
    modifier_group_id: group.modifier_group_id,
    location_id: group.location_id,
    name: group.name,
    description: group.description,
    min_selections: group.min_selections,
    max_selections: group.max_selections,
    max_per_modifier: group.max_per_modifier,
    free_selections: group.free_selections,
    external_id: group.external_id,
    created: spacedDateTime(group.created_at),
    updated_at: rfc3339(group.updated_at),
    version: group.version,
  };
}

/** A row of `modifier_group` with its modifiers in display order. */
export function groupJson(): RawBuilder<Json<ModifierGroup>> {
  const modifiers = sql<Json<Modifier[]>>`(
    select coalesce(json_agg(${modifierJson()} order by modifier.sort_order, modifier.modifier_id), '[]')
    from modifier where modifier.modifier_group_id = modifier_group.modifier_group_id
      and modifier.account_id = modifier_group.account_id)`;
  return jsonObject<ModifierGroup>({ ...shownGroup('modifier_group'), modifiers });
}

/**
 * The ETag of a group with its modifiers, quotes included. Like that of a menu it counts the changes inside and the
 * modifiers whose `unavailable_until` has passed.
 */
export function groupETag(row = 'modifier_group'): RawBuilder<string> {
  const group = columns('modifier_group', row);
  return sql`'"' || ${stamped(group.content_version, group.stamp)} || '-' || (
    select count(*) from modifier where modifier.modifier_group_id = ${group.modifier_group_id}
      and modifier.account_id = ${group.account_id} and modifier.unavailable_until <= now()) || '"'`;
}

/** Without its modifiers, which have events of their own. */
export const groups: RecordKind<GroupKey, Summary> = {
  table: 'modifier_group',
  path: ['modifier_group_id', 'location_id'],
  json: (row = 'modifier_group') => jsonObject<Summary>(shownGroup(row)),
  compared: shownGroup,
  eTag: groupETag,
  constraints: {
    modifier_group_external_id: externalIdTaken,
    modifier_group_used: groupInUse,
    modifier_group_location: () => notFound('There is no such location.'),
  },
};

function groupInUse(): ApiError {
  const detail = 'Items or modifiers use this modifier group. End the uses first, or send detach=true.';
  return new ApiError(409, 'Conflict', 'modifier_group_in_use', detail);
}

/** @throws 404 or 403 when the caller finds no such modifier group at this location. */
export const requireGroup = requireRecord<GroupKey>('modifierGroups.requireGroup', groups);
