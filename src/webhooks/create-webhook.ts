import { sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import { type Reach, reachOf, withinReach } from '../accounts/reach.ts';
import type { Database } from '../db/database.ts';
import { build, statement } from '../db/statement.ts';
import { type FieldError, parameterError } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { data, type Json, jsonObject } from '../http/json.ts';
import { created } from '../http/reply.ts';
import { newSecret } from './delivery/signature.ts';
import { webhookFields, webhookTag } from './webhook.ts';

type WebhookWithSecret = components['schemas']['WebhookWithSecret'];

export async function createWebhook(call: Call<'createWebhook'>): Promise<Reply<'createWebhook'>> {
  const { database, body, caller, seal, destination } = call;
  const { url, location_ids = [], menu_ids = [] } = body;
  const reach = reachOf(caller);
  const errors = await foreignIds(database, {
    ...reach,
    wanted_locations: location_ids,
    wanted_menus: menu_ids,
  });
  const fault = await destination.check(url);
  if (fault) errors.push({ field: '/url', code: fault.code, message: fault.message });
  if (errors.length > 0) throw parameterError(errors);

  const secret = newSecret();
  const [row] = await insert(database, {
    ...reach,
    url,
    description: body.description ?? '',
    event_types: body.event_types ?? [],
    wanted_locations: location_ids,
    wanted_menus: menu_ids,
    enabled: body.enabled ?? true,
    secret,
    sealed_secret: seal.close(secret),
  });
  if (!row) throw new Error('insert returned no row');
  return created(data(row.webhook), { ETag: row.etag, Location: `/api/v1/webhooks/${row.webhook_id}` });
}

/** Ids that the caller cannot filter by; whether they exist elsewhere is not told. */
async function foreignIds(database: Database, wanted: Wanted): Promise<FieldError[]> {
  if (wanted.wanted_locations.length + wanted.wanted_menus.length === 0) return [];
  const [found] = await selectKnown(database, wanted);
  const missing = (field: string, ids: number[], known: number[] = []) =>
    ids.flatMap((id, index) =>
      known.includes(id)
        ? []
        : [{ field: `/${field}/${index}`, code: 'not_found', message: 'is not within reach' }],
    );
  return [
    ...missing('location_ids', wanted.wanted_locations, found?.locations),
    ...missing('menu_ids', wanted.wanted_menus, found?.menus),
  ];
}

type Wanted = Reach & { wanted_locations: number[]; wanted_menus: number[] };

const selectKnown = statement<Wanted, { locations: number[]; menus: number[] }>((p) =>
  build.selectNoFrom([
    sql<number[]>`array(select location_id::float8 from location
      where location_id = any (${p('wanted_locations', 'bigint[]')}) and ${withinReach(p, 'location')})`.as(
      'locations',
    ),
    sql<number[]>`array(select menu_id::float8 from menu
      where menu_id = any (${p('wanted_menus', 'bigint[]')}) and ${withinReach(p, 'menu')})`.as('menus'),
  ]),
);

interface NewWebhook extends Wanted {
  url: string;
  description: string;
  event_types: string[];
  enabled: boolean;
  secret: string;
  sealed_secret: Buffer;
}

const insert = statement<NewWebhook, { webhook_id: number; etag: string; webhook: Json<WebhookWithSecret> }>(
  (p) =>
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
      .select([
        'webhook_id',
        webhookTag().as('etag'),
        jsonObject<WebhookWithSecret>({ ...webhookFields(), secret: p('secret', 'text') }).as('webhook'),
      ]),
);
