import { type Expression, type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';

export type WebhookPayload = components['schemas']['WebhookPayload'];

/** Whether a type is one of these, each exact or all kinds of a resource: 'item.*'. An empty list is none. */
export function ofTypes(type: Expression<string>, wanted: Expression<unknown>): RawBuilder<boolean> {
  return sql`(${type} = any (${wanted}) or split_part(${type}, '.', 1) || '.*' = any (${wanted}))`;
}

/** 'evt_0196…' as the database keeps it; undefined for what is no id of an event. */
export function parseEventId(text: string): string | undefined {
  return /^evt_([0-9a-f]{32})$/.exec(text)?.[1];
}
