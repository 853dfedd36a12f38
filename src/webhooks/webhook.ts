import { type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import type { Reach } from '../accounts/reach.ts';
import type { Param } from '../db/statement.ts';
import { columns, created, type Json, jsonObject, rfc3339 } from '../http/json.ts';

export type Webhook = components['schemas']['Webhook'];

/** The fields of a webhook as the API shows them; its secrets are not among them. */
export function webhookFields(row = 'webhook') {
  const webhook = columns('webhook', row);
  return {
    webhook_id: webhook.webhook_id,
    url: webhook.url,
    description: webhook.description,
    event_types: sql<Webhook['event_types']>`${webhook.event_types}`,
    location_ids: webhook.location_ids,
    menu_ids: webhook.menu_ids,
    enabled: webhook.enabled,
    disabled_reason: sql<Webhook['disabled_reason']>`${webhook.disabled_reason}`,
    disabled_at: rfc3339(webhook.disabled_at),
    created: created(webhook.created_at),
    updated_at: rfc3339(webhook.updated_at),
    version: webhook.version,
  };
}

export function webhookJson(row = 'webhook'): RawBuilder<Json<Webhook>> {
  return jsonObject<Webhook>(webhookFields(row));
}

/** Its ETag, quotes included. */
export function webhookTag(row = 'webhook'): RawBuilder<string> {
  return sql`'"' || ${columns('webhook', row).version} || '"'`;
}

/** A client manages the webhooks whose grant lies within its own: it must not tap events it may not read. */
export function manageable(p: Param<Reach>): RawBuilder<boolean> {
  const ids = p('location_ids', 'bigint[]');
  return sql`(webhook.account_id = ${p('account_id', 'bigint')}
    and (${ids} is null or coalesce(webhook.granted_location_ids <@ ${ids}, false)))`;
}
