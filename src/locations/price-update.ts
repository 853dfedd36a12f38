import { type RawBuilder, sql } from 'kysely';
import type { Param } from '../db/statement.ts';
import { parameterError } from '../http/errors.ts';
import type { Reach } from '../records/reach.ts';
import { isReachable, type RecordKind } from '../records/record-kind.ts';
import { type Fields, isPresent, type Terms } from '../records/update.ts';
import { hasDecimals, heldCurrency, tooPrecise } from './currency.ts';

type Values<Key> = Key & Fields<{ price: number }>;

/**
 * What an update does with the price of a record: a new price has at most the decimal places of the currency, and is
 * stored with all of them; the same number stays unchanged, whatever the currency has become.
 * @returns `terms` of the update, and its assignments; the currency is locked until the commit.
 */
export function priceUpdate<Key extends Reach>(
  kind: Pick<RecordKind<Key, unknown>, 'table' | 'path'>,
): {
  terms: Terms<Values<Key>>;
  assigned: (p: Param<Values<Key>>) => RawBuilder<unknown>;
} {
  const { table } = kind;
  const stored = sql.ref(`${table}.price`);
  const price = (p: Param<Values<Key>>) => p('price', 'numeric');
  return {
    terms: {
      find: (p) =>
        heldCurrency(
          sql`select location_id, account_id from ${sql.table(table)} where ${isReachable(kind, p)}`,
        ),
      allow: (p) => sql`(not ${isPresent(p, 'price')} or ${price(p)} = ${stored}
        or ${hasDecimals(price(p), sql.ref('terms.decimals'))})`,
      show: sql.ref('terms.currency'),
      refusal: (currency) => parameterError([tooPrecise('/price', currency)]),
    },
    assigned: (p) => sql`case when ${isPresent(p, 'price')} and ${price(p)} <> ${stored}
      then round(${price(p)}, terms.decimals) else ${stored} end`,
  };
}
