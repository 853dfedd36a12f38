/**
 * The price of a selection as one would work it out at a table: every single thing on a pile of its own, one after the
 * other, in whole thousandths.
 */
export interface ModelGroup {
  id: number;
  min: number;
  max: number | null;
  each: number;
  free: number;
  modifiers: ModelModifier[];
}

export interface ModelModifier {
  id: number;
  /** Thousandths. */
  price: number;
  isOn: boolean;
  offers: ModelUse[];
}

/** Null keeps the number of the group. */
export interface ModelUse {
  group: ModelGroup;
  min: number | null;
  max: number | null;
}

export interface ModelSelection {
  modifier_id: number;
  quantity: number;
  selections: ModelSelection[];
}

/** @returns what one item costs with its selections, in thousandths, and the problems as `pointer code group`, sorted */
export function modelPrice(price: number, offers: ModelUse[], selections: ModelSelection[]) {
  const problems = new Set<string>();
  const added = priceList(offers, selections, '/selections', problems);
  return { unit: price + added, problems: [...problems].sort() };
}

function priceList(
  offers: ModelUse[],
  selections: ModelSelection[],
  at: string,
  problems: Set<string>,
): number {
  let sum = 0;
  const homeless = new Set(selections.keys());
  for (const { group, min, max } of offers) {
    const pile: ModelModifier[] = [];
    for (const [place, { modifier_id, quantity, selections: within }] of selections.entries()) {
      const modifier = group.modifiers.find(({ id }) => id === modifier_id);
      if (!modifier) continue;
      homeless.delete(place);
      const here = `${at}/${place}`;
      if (!modifier.isOn) problems.add(`${here} off ${group.id}`);
      for (let n = 0; n < quantity; n += 1) {
        pile.push(modifier);
        sum += priceList(modifier.offers, within, `${here}/selections`, problems);
        if (pile.filter((one) => one === modifier).length === group.each + 1)
          problems.add(`${here} too_many_of_modifier ${group.id}`);
      }
    }
    if (pile.length < (min ?? group.min)) problems.add(`${at} too_few ${group.id}`);
    if (pile.length > (max ?? group.max ?? Infinity)) problems.add(`${at} too_many ${group.id}`);
    pile.sort((one, other) => other.price - one.price);
    for (let n = 0; n < group.free; n += 1) pile.pop();
    for (const { price } of pile) sum += price;
  }
  for (const place of homeless) problems.add(`${at}/${place} not_in_group`);
  return sum;
}
