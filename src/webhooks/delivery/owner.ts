/**
 * A webhook belongs to the client that registered it, and sends what that client may read at the time. This is
 * checked whenever something is queued, sent or shown, so that a change of the client takes effect at once.
 */
import { type RawBuilder, sql } from 'kysely';
import type { components } from '../../../generated/api.ts';

type Objection = Extract<components['schemas']['DisabledReason'], 'client_disabled' | 'scope_removed'>;

/** Why a row of `webhook` may send nothing, for the sake of its client; null when it may. */
export function ownerObjection(row = 'webhook'): RawBuilder<Objection | null> {
  return sql`(
    select case
      when client.disabled_at is not null then 'client_disabled'
      when not client.scopes && array['menus:read', 'menus:write'] then 'scope_removed'
    end
    from client where ${isOwner(row)})`;
}

/** When the client of a row of `webhook` was disabled; null when it is not. */
export function ownerDisabledAt(row = 'webhook'): RawBuilder<Date | null> {
  return sql`(select client.disabled_at from client where ${isOwner(row)})`;
}

/** Whether the grant of the client of a row of `webhook` has this location. */
export function ownerMayRead(location: RawBuilder<number>): RawBuilder<boolean> {
  return sql`coalesce((
    select client.location_ids is null or ${location} = any (client.location_ids)
    from client where ${isOwner('webhook')}), true)`;
}

function isOwner(row: string): RawBuilder<boolean> {
  return sql`client.client_id = ${sql.ref(`${row}.client_id`)}
    and client.account_id = ${sql.ref(`${row}.account_id`)}`;
}
