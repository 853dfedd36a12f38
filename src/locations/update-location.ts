import { sql } from 'kysely';
import { type Database, inTransaction } from '../db/database.ts';
import { data } from '../db/json.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { withCompleteHours } from '../hours/hours.ts';
import { parameterError } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { ok } from '../http/reply.ts';
import { isReachable } from '../records/record-kind.ts';
import { partialUpdate } from '../records/update.ts';
import { completeAddress } from './address.ts';
import { decimalsOf, hasDecimals } from './currency.ts';
import { type LocationKey, locationFields, locationKey, locations, requireLocation } from './location.ts';

/** Changes the fields present in the body, in one statement with its event. */
export async function updateLocation(call: Call<'updateLocation'>): Promise<Reply<'updateLocation'>> {
  const { database, params, caller } = call;
  const body = withCompleteHours(call.body);
  const { address } = body;
  const fields = address === undefined ? body : { ...body, address: completeAddress(address) };
  const key = locationKey(params, caller);
  const { currency } = body;
  const updated =
    currency === undefined
      ? await update(call, key, fields)
      : await inTransaction(database, async (transaction) => {
          await holdCurrency(transaction, key);
          await requireFittingPrices(transaction, key, currency);
          return update({ ...call, database: transaction }, key, fields);
        });
  return ok(data(updated.resource), { ETag: updated.etag });
}

const update = partialUpdate({
  name: 'locations.updateLocation',
  kind: locations,
  fields: locationFields,
  require: requireLocation,
  eventTypes: 'location.updated',
});

// Whoever writes a price locks the currency: that writer has either committed by now, or waits until this one has.
const holdCurrency = statement('locations.updateLocation.holdCurrency', (p: Param<LocationKey>) =>
  build.selectFrom('location').select('currency').where(isReachable(locations, p)).forUpdate(),
);

/** @throws 422 when there are prices with more decimal places than the currency has. */
async function requireFittingPrices(database: Database, key: LocationKey, currency: string): Promise<void> {
  const [found] = await countFinerPrices(database, { ...key, currency, decimals: decimalsOf(currency) });
  const { items = 0, modifiers = 0 } = found ?? {};
  if (items + modifiers === 0) return;
  const records = [counted(items, 'item'), counted(modifiers, 'modifier')].flat().join(' and ');
  const whose = items + modifiers === 1 ? 'whose price has' : 'whose prices have';
  const message = `does not fit ${records}, ${whose} more decimal places than ${currency}`;
  throw parameterError([{ field: '/currency', code: 'precision', message }]);
}

function counted(count: number, noun: string): string[] {
  return count === 0 ? [] : [`${count} ${noun}${count === 1 ? '' : 's'}`];
}

const countFinerPrices = statement(
  'locations.updateLocation.countFinerPrices',
  (p: Param<LocationKey & { currency: string; decimals: number }>) => {
    const finerIn = (priced: 'item' | 'modifier', holder: 'menu' | 'modifier_group') => {
      const id = sql.ref(`${holder}_id`);
      return sql<number>`(
        select count(*) from ${sql.table(priced)} as priced
        where priced.account_id = ${p('account_id', 'bigint')} and ${id} = any (array(
          select ${id} from location join ${sql.table(holder)} using (account_id, location_id)
          where ${isReachable(locations, p)} and currency <> ${p('currency', 'text')}
        )) and not ${hasDecimals(sql.ref('price'), p('decimals', 'integer'))})`;
    };
    return sql<{ items: number; modifiers: number }>`
      select ${finerIn('item', 'menu')} as items, ${finerIn('modifier', 'modifier_group')} as modifiers`;
  },
);
