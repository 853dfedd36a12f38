import { type Reach, reachOf } from '../records/reach.ts';
import { build, statement } from '../db/statement.ts';
import type { Call, Reply } from '../http/handler.ts';
import { data, type Json } from '../db/json.ts';
import { created } from '../http/reply.ts';
import { newSecret } from './delivery/signature.ts';
import { requireUsable } from './settings.ts';
import { type Webhook, webhookJson, webhookTag, withSecret } from './webhook.ts';

export async function createWebhook(call: Call<'createWebhook'>): Promise<Reply<'createWebhook'>> {
  const { database, body, caller, seal } = call;
  const reach = reachOf(caller);
  await requireUsable(call, body, reach);

  const secret = newSecret();
  const [row] = await insert(database, {
    ...reach,
    url: body.url,
    description: body.description ?? '',
    event_types: body.event_types ?? [],
    wanted_locations: body.location_ids ?? [],
    wanted_menus: body.menu_ids ?? [],
    enabled: body.enabled ?? true,
    sealed_secret: seal.close(secret),
  });
  if (!row) throw new Error('insert returned no row');
  return created(data(withSecret(row.webhook, secret)), {
    ETag: row.etag,
    Location: `/api/v1/webhooks/${row.webhook_id}`,
  });
}

interface NewWebhook extends Reach {
  wanted_locations: number[];
  wanted_menus: number[];
  url: string;
  description: string;
  event_types: string[];
  enabled: boolean;
  sealed_secret: Buffer;
}

const insert = statement<NewWebhook, { webhook_id: number; etag: string; webhook: Json<Webhook> }>((p) =>
  build
    .with('webhook', (db) =>
      db
        .insertInto('webhook')
        .values({
          account_id: p('account_id', 'bigint'),
          url: p('url', 'text'),
          description: p('description', 'text'),
          event_types: p('event_types', 'text[]'),
          location_ids: p('wanted_locations', 'bigint[]'),
          menu_ids: p('wanted_menus', 'bigint[]'),
          granted_location_ids: p('location_ids', 'bigint[]'),
          enabled: p('enabled', 'boolean'),
        })
        .returningAll(),
    )
    .with('secret', (db) =>
      db
        .insertInto('webhook_secret')
        .columns(['webhook_id', 'account_id', 'sealed_secret'])
        .expression((eb) =>
          eb
            .selectFrom('webhook')
            .select(['webhook_id', 'account_id', p('sealed_secret', 'bytea').as('sealed_secret')]),
        ),
    )
    .selectFrom('webhook')
    .select(['webhook_id', webhookTag().as('etag'), webhookJson().as('webhook')]),
);
