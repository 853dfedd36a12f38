import type { FieldError } from '../../http/errors.ts';
import { hasPlaces, priceErrors } from '../../locations/currency.ts';

/**
 * The errors in the price of a record of a document. A price that does not change is accepted, whatever the currency
 * has become.
 */
export function newPriceErrors(
  { price }: { price?: number },
  pointer: string,
  stored: { price: number } | undefined,
  currency: string | undefined,
): FieldError[] {
  if (currency === undefined || typeof price !== 'number' || price === stored?.price) return [];
  // The schema refuses more decimal places than any currency has.
  return hasPlaces(price, 3) ? priceErrors(price, currency, `${pointer}/price`) : [];
}
