import { sql } from 'kysely';
import type { Call, Reply } from '../http/handler.ts';
import { ok } from '../http/reply.ts';
import {
  type AvailabilityValues,
  availabilityWrite,
  resultsOf,
  rowsOf,
  type Scope,
} from '../records/availability-rows.ts';
import { type MenuKey, requireMenu } from '../records/menu-reach.ts';
import { requireSense } from '../records/named-rows.ts';
import { reachOf } from '../records/reach.ts';
import { written } from '../records/write.ts';
import { type Item, switchedItems } from './item.ts';
import { returnsIn } from './planned-return.ts';
import { sharedSwitch } from './shared-switch.ts';

/** Sets the availability of many items, in one statement with its events. */
export async function setAvailability(call: Call<'setAvailability'>): Promise<Reply<'setAvailability'>> {
  const { database, params, body, caller, requestId } = call;
  requireSense(switchedItems, body.items);
  const key = { ...params, ...reachOf(caller) };
  const rows = await set(database, {
    ...key,
    ...rowsOf('item', body.items),
    ...(await returnsOf(database, key, body.items)),
    client_id: caller.clientId,
    ...written(requestId),
  });
  const results = resultsOf(switchedItems, rows);
  if (rows.every(({ outcome }) => outcome === 'not_found')) await requireMenu(database, key);
  return ok(results);
}

const inMenu: Scope<MenuKey> = {
  contains: (p, row) => sql`${sql.ref(`${row}.menu_id`)} = ${p('menu_id', 'bigint')}`,
};

const returnsOf = returnsIn('items.setAvailability.hours', inMenu);
const set = sharedSwitch(
  availabilityWrite<MenuKey & AvailabilityValues, 'item', Item>(
    'items.setAvailability',
    switchedItems,
    inMenu,
  ),
);
