import { sql } from 'kysely';
import { type Database, inTransaction } from '../db/database.ts';
import { data } from '../db/json.ts';
import type { Seal } from '../db/seal.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { parameterError } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { created } from '../http/reply.ts';
import { type Reach, reachOf } from '../records/reach.ts';
import type { Destination } from './delivery/destination.ts';
import { newSecret } from './delivery/signature.ts';
import { requireUsable } from './settings.ts';
import { webhookETag, webhookJson, withSecret } from './webhook.ts';

/**
 * Registers an endpoint; the response is the only one that shows its secret.
 * @throws 422 for its address, its filters or the number of endpoints
 */
export function createWebhook({ seal, destination, webhooksPerAccount }: Services) {
  return async ({ database, body, caller }: Call<'createWebhook'>): Promise<Reply<'createWebhook'>> => {
    const reach = reachOf(caller);
    await requireUsable(database, destination, body, reach);

    const secret = newSecret();
    const row = await insertWithin(database, webhooksPerAccount, {
      ...reach,
      client_id: caller.clientId,
      url: body.url,
      description: body.description ?? '',
      event_types: body.event_types ?? [],
      wanted_locations: body.location_ids ?? [],
      wanted_menus: body.menu_ids ?? [],
      enabled: body.enabled ?? true,
      sealed_secret: seal.close(secret),
    });
    return created(data(withSecret(row.resource, secret)), {
      'Cache-Control': 'no-store',
      ETag: row.etag,
      Location: `/api/v1/webhooks/${row.webhook_id}`,
    });
  };
}

interface Services {
  seal: Seal;
  destination: Destination;
  webhooksPerAccount: number;
}

/**
 * Endpoints are added to an account one after the other, so that each count sees what the previous call has
 * committed.
 */
function insertWithin(database: Database, most: number, webhook: NewWebhook) {
  return inTransaction(database, async (transaction) => {
    await lockAccount(transaction, webhook);
    const [found] = await countOthers(transaction, { ...webhook, most });
    if (!found || found.count >= most) throw tooMany(most);
    const [row] = await insert(transaction, webhook);
    if (!row) throw new Error('insert returned no row');
    return row;
  });
}

function tooMany(most: number) {
  const message = `would exceed the ${most} webhooks that an account can have`;
  return parameterError([{ field: '', code: 'too_many', message }]);
}

const lockAccount = statement('webhooks.createWebhook.lock', (p: Param<Reach>) =>
  build
    .selectFrom('account')
    .select('account_id')
    .where('account_id', '=', p('account_id', 'bigint'))
    .forNoKeyUpdate(),
);

const countOthers = statement(
  'webhooks.createWebhook.count',
  (p: Param<Reach & { most: number }>) => sql<{ count: number }>`
    select count(*) from (
      select from webhook where account_id = ${p('account_id', 'bigint')} limit ${p('most', 'bigint')}
    ) as other`,
);

interface NewWebhook extends Reach {
  client_id: string;
  wanted_locations: number[];
  wanted_menus: number[];
  url: string;
  description: string;
  event_types: string[];
  enabled: boolean;
  sealed_secret: Buffer;
}

const insert = statement('webhooks.createWebhook', (p: Param<NewWebhook>) =>
  build
    .with('webhook', (db) =>
      db
        .insertInto('webhook')
        .values({
          account_id: p('account_id', 'bigint'),
          client_id: p('client_id', 'text'),
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
    .select(['webhook_id', webhookETag().as('etag'), webhookJson().as('resource')]),
);
