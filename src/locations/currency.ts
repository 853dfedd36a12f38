import { type RawBuilder, sql } from 'kysely';
import type { FieldError } from '../http/errors.ts';

// ISO 4217, list one of 2026-01-01, column "minor unit"; every other currency has two. What Intl says is CLDR's, which
// counts the places that are in daily use: none for COP, HUF and IDR, which have two by the standard.
const unusual: Record<number, string[]> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'.split(' '),
  3: 'BHD IQD JOD KWD LYD OMR TND'.split(' '),
};

const decimals = new Map(
  Object.entries(unusual).flatMap(([places, currencies]) => currencies.map((one) => [one, Number(places)])),
);

/** Decimal places of a currency, by its ISO 4217 code. */
export function decimalsOf(currency: string): number {
  return decimals.get(currency) ?? 2;
}

/** The same in SQL. */
export function currencyDecimals(currency: RawBuilder<string>): RawBuilder<number> {
  const cases = Object.entries(unusual).map(
    ([decimals, currencies]) =>
      sql`when ${currency} = any (${sql.lit(`{${currencies.join(',')}}`)}) then ${sql.lit(Number(decimals))}`,
  );
  return sql`case ${sql.join(cases, sql` `)} else 2 end`;
}

/**
 * The currency of one place with its decimals, held: it stays the place's until the commit, since whoever changes it
 * waits for those who hold it, and counts the prices then.
 * @param place a query of its location_id and account_id.
 */
export function heldCurrency(place: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select ${currencyAndDecimals} from location
    where (location_id, account_id) = (${place}) for key share`;
}

/**
 * The same of several places, without those whose currency another may change at the moment.
 * @param places a query of their location_ids, all of the account.
 */
export function heldCurrencies(
  places: RawBuilder<unknown>,
  account_id: RawBuilder<number>,
): RawBuilder<unknown> {
  return sql`
    select location_id, ${currencyAndDecimals} from location
    where location_id = any (array(${places})) and account_id = ${account_id} for key share skip locked`;
}

const currencyAndDecimals = sql`currency, ${currencyDecimals(sql.ref('currency'))} as decimals`;

/** Whether a price has no more decimal places than are given; zeros at its end do not count. */
export function hasDecimals(price: RawBuilder<unknown>, most: RawBuilder<number>): RawBuilder<boolean> {
  return sql`scale(trim_scale(${price})) <= ${most}`;
}

/** The error for a price with more decimal places; `field` is the pointer to the price. */
export function tooPrecise(field: string, currency: string): FieldError {
  const decimals = decimalsOf(currency);
  const places = ['no decimal places', 'one decimal place'][decimals] ?? `at most ${decimals} decimal places`;
  return { field, code: 'precision', message: `must have ${places} in ${currency}` };
}

/** The errors of a price in this currency, if any; `field` is the pointer to the price. */
export function priceErrors(price: number, currency: string, field: string): FieldError[] {
  return hasPlaces(price, decimalsOf(currency)) ? [] : [tooPrecise(field, currency)];
}

/** Whether a price has no more decimal places than are given. */
export function hasPlaces(price: number, most: number): boolean {
  return Number(price.toFixed(most)) === price;
}

/** The price as JSON and CSV show it: with the decimal places of the currency, and never rounded. */
export function priceText(price: number, currency: string): string {
  const decimals = decimalsOf(currency);
  return hasPlaces(price, decimals) ? price.toFixed(decimals) : String(price);
}

/**
 * A sum of prices as JSON shows it: with the decimal places of the currency, and never rounded.
 * @param thousandths of one unit of the currency
 */
export function amountText(thousandths: bigint, currency: string): string {
  const digits = String(thousandths).padStart(4, '0');
  const point = digits.length - 3;
  const least = point + decimalsOf(currency);
  let end = digits.length;
  while (end > least && digits[end - 1] === '0') end -= 1;
  return end === point ? digits.slice(0, point) : `${digits.slice(0, point)}.${digits.slice(point, end)}`;
}
