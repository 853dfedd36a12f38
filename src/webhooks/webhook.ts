import { type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import type { Database } from '../db/database.ts';
import { columns, type Json, jsonObject, rfc3339, spacedDateTime } from '../db/json.ts';
import { build, type Param, statement } from '../db/statement.ts';
import type { Caller } from '../http/caller.ts';
import { stamped } from '../http/conditional.ts';
import { type Reach, reachOf, requireReach } from '../records/reach.ts';
import { ownerDisabledAt, ownerObjection } from './delivery/owner.ts';

export type Webhook = components['schemas']['Webhook'];
export type WebhookWithSecret = components['schemas']['WebhookWithSecret'];

/** The path of one webhook, with what the caller may reach. */
export type WebhookKey = { webhook_id: number } & Reach;

/** The key that the path of a request names, with what its caller may reach. */
export function webhookKey({ webhook_id }: { webhook_id: number }, caller: Caller): WebhookKey {
  return { webhook_id, ...reachOf(caller) };
}

/** A row of `webhook` as the API shows it; its secrets are not part of it. */
export function webhookJson(row = 'webhook'): RawBuilder<Json<Webhook>> {
  const webhook = columns('webhook', row);
  return jsonObject<Webhook>({
    webhook_id: webhook.webhook_id,
    url: webhook.url,
    description: webhook.description,
    event_types: sql<Webhook['event_types']>`${webhook.event_types}`,
    location_ids: webhook.location_ids,
    menu_ids: webhook.menu_ids,
    client_id: webhook.client_id,
    enabled: sql<boolean>`(${webhook.enabled} and ${ownerObjection(row)} is null)`,
    disabled_reason: sql<
      Webhook['disabled_reason']
    >`coalesce(${ownerObjection(row)}, ${webhook.disabled_reason})`,
    disabled_at: rfc3339(sql<Date | null>`coalesce(${ownerDisabledAt(row)}, ${webhook.disabled_at})`),
    expired_deliveries: sql<
      Json<Webhook['expired_deliveries']>
    >`case when ${webhook.expired_deliveries} > 0 then ${expiredJson(row)} end`,
    created: spacedDateTime(webhook.created_at),
    updated_at: rfc3339(webhook.updated_at),
    version: webhook.version,
  });
}

function expiredJson(row: string): RawBuilder<Json<components['schemas']['ExpiredDeliveries']>> {
  const webhook = columns('webhook', row);
  return jsonObject<components['schemas']['ExpiredDeliveries']>({
    count: webhook.expired_deliveries,
    first_at: rfc3339(sql<Date>`${webhook.first_expired_at}`),
    last_at: rfc3339(sql<Date>`${webhook.last_expired_at}`),
  });
}

/** With the secret, which is shown once. It is added here, so that the database never sees it in clear. */
export function withSecret(webhook: Json<Webhook>, secret: string): Json<WebhookWithSecret> {
  return `${webhook.slice(0, -1)},"secret":${JSON.stringify(secret)}}` as Json<WebhookWithSecret>;
}

/** Its ETag, quotes included. */
export function webhookETag(row = 'webhook'): RawBuilder<string> {
  const { version, stamp, expired_deliveries } = columns('webhook', row);
  return sql`'"' || ${stamped(version, stamp)} || coalesce('-' || ${ownerObjection(row)}, '')
    || coalesce('-' || nullif(${expired_deliveries}, 0), '') || '"'`;
}

/** A client manages the webhooks whose grant lies within its own: it must not receive events that it may not read. */
export function manageable(p: Param<Reach>): RawBuilder<boolean> {
  const ids = p('location_ids', 'bigint[]');
  return sql`(webhook.account_id = ${p('account_id', 'bigint')}
    and (${ids} is null or coalesce(webhook.granted_location_ids <@ ${ids}, false)))`;
}

/** A webhook that the caller may manage, as far as other work needs it. */
export interface ManagedWebhook {
  webhook_id: number;
  account_id: number;
  url: string;
  /** The grant its events are limited to; null: every location. */
  granted_location_ids: number[] | null;
  /** Those that are still valid, the current one first. */
  sealed_secrets: Buffer[];
  /** By the clock of the database. */
  found_at: Date;
}

/** @throws 404 or 403 when the caller has no such webhook. */
export async function requireWebhook(database: Database, key: WebhookKey): Promise<ManagedWebhook> {
  const [row] = await selectManaged(database, key);
  return requireReach(row, 'webhook');
}

const selectManaged = statement('webhooks.requireWebhook', (p: Param<WebhookKey>) =>
  build
    .selectFrom('webhook')
    .select([
      manageable(p).as('within_reach'),
      'webhook_id',
      'account_id',
      'url',
      'granted_location_ids',
      sql<Buffer[]>`array(select sealed_secret from webhook_secret
        where webhook_secret.webhook_id = webhook.webhook_id and webhook_secret.account_id = webhook.account_id
          and (expires_at is null or expires_at > now())
        order by expires_at desc nulls first)`.as('sealed_secrets'),
      sql<Date>`clock_timestamp()`.as('found_at'),
    ])
    .where('webhook_id', '=', p('webhook_id', 'bigint')),
);
