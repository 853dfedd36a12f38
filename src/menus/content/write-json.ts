import type { components } from '../../../generated/api.ts';
import type { Json } from '../../db/json.ts';
import { priceText } from '../../locations/currency.ts';
import type { MenuContent } from './document.ts';

declare global {
  interface JSON {
    /** Text that `stringify` writes unchanged (ECMAScript, JSON.parse source text access). */
    rawJSON(text: string): number;
  }
}

/** The document as JSON; a price has the decimal places of the currency, as in every other response. */
export function writeJson(
  { categories, modifier_groups = [], ...menu }: MenuContent,
  currency: string,
): Json<components['schemas']['MenuDocument']> {
  const written = categories.map(({ items, ...category }) => ({
    ...category,
    items: items.map((item) => withDecimals(item, currency)),
  }));
  const groups = modifier_groups.map(({ modifiers = [], ...group }) => ({
    ...group,
    modifiers: modifiers.map((modifier) => withDecimals(modifier, currency)),
  }));
  const text = JSON.stringify({ data: { ...menu, categories: written, modifier_groups: groups } });
  return text as Json<components['schemas']['MenuDocument']>;
}

/** The same values, so that `JSON.stringify` writes the price with the decimal places of the currency. */
export function withDecimals<T extends { price?: number }>(values: T, currency: string): T {
  if (values.price === undefined) return values;
  return { ...values, price: JSON.rawJSON(priceText(values.price, currency)) };
}
