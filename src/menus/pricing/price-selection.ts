import type { components } from '../../../generated/api.ts';
import { data, type Json } from '../../db/json.ts';
import { instantOf } from '../../hours/instant.ts';
import { parameterError } from '../../http/errors.ts';
import type { Call, Reply } from '../../http/handler.ts';
import { ok } from '../../http/reply.ts';
import { itemKey } from '../../items/item.ts';
import { amountText } from '../../locations/currency.ts';
import { requireReach } from '../../records/reach.ts';
import { orderabilityAt } from '../orderability.ts';
import { readPriceList } from './price-list.ts';
import { type PricedLine, priceOf } from './selection-price.ts';

type Schemas = components['schemas'];
type Selection = Schemas['ModifierSelection'];

// This limits the size of responses and the number of problems.
const mostSelections = 200;
const tooMany = {
  field: '/selections',
  code: 'too_many',
  message: `has more than ${mostSelections} selections, those within others included`,
};
// In thousandths; what a double still holds exactly.
const mostAmount = 999_999_999_999_999n;

/** One statement reads whatever the selections name; the price is computed here, in whole thousandths. */
export async function priceSelection({
  database,
  params,
  caller,
  body,
}: Call<'priceSelection'>): Promise<Reply<'priceSelection'>> {
  const { quantity = 1, selections = [] } = body;
  const modifier_ids = modifiersIn(selections);
  const found = await readPriceList(database, { ...itemKey(params, caller), modifier_ids });
  const list = requireReach(found, 'item');
  const { item } = list;
  const at = body.at === undefined ? list.now : instantOf(body.at, item.rules.timezone);
  const { added, lines, problems } = priceOf(selections, item.modifier_groups, list, at);
  const unitPrice = BigInt(item.price) + added;
  const totalPrice = unitPrice * BigInt(quantity);
  requireExact(unitPrice, '/selections');
  requireExact(totalPrice, '/quantity');

  const { availability } = await orderabilityAt(item.rules, at);
  const reasons = availability.items[0]?.reasons ?? [];
  const amount = (thousandths: bigint) => amountText(thousandths, item.currency);
  const unpriced: Omit<Schemas['ItemPrice'], 'item_price' | 'unit_price' | 'total_price' | 'lines'> = {
    menu_id: item.menu_id,
    item_id: item.item_id,
    at: availability.at,
    is_orderable: reasons.length === 0 && problems.length === 0,
    reasons,
    problems,
    currency: item.currency,
    quantity,
  };
  // As text, which costs less than half as much as JSON.rawJSON.
  const amounts =
    `"item_price":${amount(BigInt(item.price))},"unit_price":${amount(unitPrice)},` +
    `"total_price":${amount(totalPrice)},"lines":[${lines.map((line) => lineJson(line, amount))}]`;
  return ok(data(`${JSON.stringify(unpriced).slice(0, -1)},${amounts}}` as Json<Schemas['ItemPrice']>));
}

function lineJson(
  { price, total_price, ...unpriced }: PricedLine,
  amount: (thousandths: bigint) => string,
): string {
  const amounts = `"price":${amount(price)},"total_price":${amount(total_price)}`;
  return `${JSON.stringify(unpriced).slice(0, -1)},${amounts}}`;
}

/** The modifiers that are selected, including nested ones. @throws 422 for more selections than are priced */
function modifiersIn(selections: readonly Selection[]): number[] {
  const all = [...selections];
  for (const { selections: within = [] } of all) {
    all.push(...within);
    if (all.length > mostSelections) throw parameterError([tooMany]);
  }
  return all.map(({ modifier_id }) => modifier_id);
}

/** @throws 422 */
function requireExact(amount: bigint, field: string): void {
  if (amount <= mostAmount) return;
  const message = 'the price is beyond 999,999,999,999.999';
  throw parameterError([{ field, code: 'too_large', message }]);
}
