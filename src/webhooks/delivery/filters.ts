import { type RawBuilder, sql } from 'kysely';
import { ofTypes } from '../../events/event.ts';
import { ownerMayRead } from './owner.ts';

/** Whether a row of `webhook` wants a row of `feed`: its filters let it through, and its client may see it. */
export function wants(): RawBuilder<boolean> {
  return sql`(webhook.event_types = '{}' or ${ofTypes(sql.ref('feed.type'), sql.ref('webhook.event_types'))})
    and (webhook.location_ids = '{}' or feed.location_id = any (webhook.location_ids))
    and (webhook.menu_ids = '{}' or feed.menu_id = any (webhook.menu_ids))
    and (webhook.granted_location_ids is null or feed.location_id = any (webhook.granted_location_ids))
    and ${ownerMayRead(sql.ref('feed.location_id'))}`;
}
