import { type Expression, type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import document from '../../generated/openapi.json' with { type: 'json' };
import { columns, type Json } from '../db/json.ts';

export type WebhookPayload = components['schemas']['WebhookPayload'];
export type EventList = components['schemas']['EventList'];

/** The types that these name, each exact or all of a resource: 'item.*'. */
export function typesNamed(wanted: readonly string[]): string[] {
  const types = document.components.schemas.EventType.enum;
  return types.filter((type) => wanted.includes(type) || wanted.includes(`${type.split('.', 1)}.*`));
}

/** Whether a type is one of these, each exact or all kinds of a resource: 'item.*'. An empty list is none. */
export function ofTypes(type: Expression<string>, wanted: Expression<unknown>): RawBuilder<boolean> {
  return sql`(${type} = any (${wanted}) or split_part(${type}, '.', 1) || '.*' = any (${wanted}))`;
}

/** 'evt_0196…' in the form in which the database stores it; undefined if it is not the id of an event. */
export function parseEventId(text: string): string | undefined {
  return /^evt_([0-9a-f]{32})$/.exec(text)?.[1];
}

/**
 * The event as the API shows it: events recorded by earlier releases get the fields that records have gained since,
 * with the values from the time when nobody could set them.
 */
export function toldPayload(row = 'event'): RawBuilder<Json<WebhookPayload>> {
  const { type, payload } = columns('event', row);
  const lacks = (field: string) => sql`${payload}::text not like ${sql.lit(`%"${field}":%`)}`;
  const completed = (gained: object) => sql`jsonb_set(${payload}::jsonb, '{data}',
    ${sql.lit(JSON.stringify(gained))}::jsonb || (${payload}::jsonb -> 'data'))::json`;
  return sql`case
    when ${type} like 'item.%' and ${lacks('unavailable_by')} then ${completed(gainedByItems)}
    when ${type} like 'modifier.%' and ${lacks('unavailable_by')} then ${completed(absence)}
    when ${type} ~ '^(location|menu|category)[.]' and ${lacks('hours')} then ${completed({ hours: null })}
    else ${payload} end`;
}

const absence = { unavailable_since: null, unavailable_by: null };
const gainedByItems = { modifier_groups: [], hours: null, ...absence };
