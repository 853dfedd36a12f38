import { sql } from 'kysely';
import { data } from '../db/json.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { acceptedETags, eTagMatches, type IfMatch, newStamp, type Stamped } from '../http/conditional.ts';
import { preconditionFailed } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { ok } from '../http/reply.ts';
import { differs } from '../records/update.ts';
import type { Destination } from './delivery/destination.ts';
import { goodHealth } from './delivery/endpoint-health.ts';
import { requireUsable } from './settings.ts';
import {
  manageable,
  requireWebhook,
  type WebhookKey,
  webhookETag,
  webhookJson,
  webhookKey,
} from './webhook.ts';

/** Changes the settings present in the body; one that changes nothing leaves the version alone. */
export function updateWebhook({ destination }: { destination: Destination }) {
  return async (call: Call<'updateWebhook'>): Promise<Reply<'updateWebhook'>> => {
    const { database, params, body, caller, headers } = call;
    const key = webhookKey(params, caller);
    const { account_id, granted_location_ids } = await requireWebhook(database, key);
    await requireUsable(database, destination, body, { account_id, location_ids: granted_location_ids });
    const [row] = await update(database, {
      ...key,
      url: body.url ?? null,
      description: body.description ?? null,
      event_types: body.event_types ?? null,
      wanted_locations: body.location_ids ?? null,
      wanted_menus: body.menu_ids ?? null,
      enabled: body.enabled ?? null,
      if_match: acceptedETags(headers['if-match']),
      stamp: newStamp(),
    });
    if (!row) throw preconditionFailed();
    return ok(data(row.resource), { ETag: row.etag });
  };
}

interface Values extends WebhookKey, IfMatch, Stamped {
  url: string | null;
  description: string | null;
  event_types: string[] | null;
  wanted_locations: number[] | null;
  wanted_menus: number[] | null;
  enabled: boolean | null;
}

const update = statement('webhooks.updateWebhook', (p: Param<Values>) => {
  const next = nextValues(p);
  const changes = differs('webhook', next);
  return (
    build
      .with('changed', (db) =>
        db
          .updateTable('webhook')
          .set({
            ...next,
            ...healthAfter(p),
            version: sql`version + (${changes})::int`,
            stamp: sql`case when ${changes} then ${p('stamp', 'integer')} else stamp end`,
            updated_at: sql`case when ${changes} then clock_timestamp() else updated_at end`,
          })
          .where('webhook_id', '=', p('webhook_id', 'bigint'))
          .where(manageable(p))
          .where(eTagMatches(p, webhookETag()))
          .returning([
            'webhook.webhook_id',
            'webhook.account_id',
            webhookETag('new').as('etag'),
            webhookJson('new').as('resource'),
          ]),
      )
      // What waited while it was disabled, asked for quiet or failed may be due.
      .with('noted', (db) =>
        db
          .updateTable('endpoint_due')
          .from('changed')
          .set({ look_at: sql`now()` })
          .whereRef('endpoint_due.webhook_id', '=', 'changed.webhook_id')
          .whereRef('endpoint_due.account_id', '=', 'changed.account_id'),
      )
      .selectFrom('changed')
      .select(['etag', 'resource'])
  );
});

/** What each column becomes; to enable an endpoint is to forget why it was off. */
function nextValues(p: Param<Values>) {
  const enabled = p('enabled', 'boolean');
  return {
    url: sql<string>`coalesce(${p('url', 'text')}, url)`,
    description: sql<string>`coalesce(${p('description', 'text')}, description)`,
    event_types: sql<string[]>`coalesce(${p('event_types', 'text[]')}, event_types)`,
    location_ids: sql<number[]>`coalesce(${p('wanted_locations', 'bigint[]')}, location_ids)`,
    menu_ids: sql<number[]>`coalesce(${p('wanted_menus', 'bigint[]')}, menu_ids)`,
    enabled: sql<boolean>`coalesce(${enabled}, enabled)`,
    disabled_reason: sql<string | null>`case when ${enabled} is not true then disabled_reason end`,
    disabled_at: sql<Date | null>`case when ${enabled} is not true then disabled_at end`,
  };
}

/**
 * Whoever enables an endpoint, or gives it another address, has repaired it: its failures no longer count, and
 * deliveries that they deferred need not wait (delivery/recovery.ts).
 */
function healthAfter(p: Param<Values>) {
  const startsAnew = sql`(${p('enabled', 'boolean')} is true or ${p('url', 'text')} <> url)`;
  const { failing_since, consecutive_failures, probe_at, quiet_until } = goodHealth;
  return {
    failing_since: sql<Date | null>`case when ${startsAnew} then ${failing_since} else failing_since end`,
    consecutive_failures: sql<number>`case when ${startsAnew} then ${consecutive_failures}
      else consecutive_failures end`,
    probe_at: sql<Date | null>`case when ${startsAnew} then ${probe_at} else probe_at end`,
    quiet_until: sql<Date | null>`case when ${startsAnew} then ${quiet_until} else quiet_until end`,
    recovered_at: sql<Date | null>`case when ${startsAnew} then now() else recovered_at end`,
  };
}
