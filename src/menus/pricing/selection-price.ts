/**
 * What selections add to the price of one item, and what is wrong with them. Prices are in thousandths of the
 * currency's unit: whole numbers, and therefore exact.
 */
import type { components } from '../../../generated/api.ts';
import type { Uses } from '../../modifier-groups/modifier.ts';
import { mostLevels } from '../../modifier-groups/nesting.ts';
import type { AbsenceRules } from '../required-groups.ts';
import type { PricedGroup, PricedModifier } from './kept-prices.ts';
import type { PriceList } from './price-list.ts';

type Schemas = components['schemas'];
type Selection = Schemas['ModifierSelection'];
type Problem = Schemas['SelectionProblem'];

export interface SelectionPrice {
  /** The sum of all lines. */
  added: bigint;
  lines: PricedLine[];
  problems: Problem[];
}

/** Amounts in thousandths. */
export type PricedLine = Omit<Schemas['SelectionLine'], 'price' | 'total_price'> & {
  price: bigint;
  total_price: bigint;
};

/**
 * @param selections of one item
 * @param uses the groups that the item offers
 * @param at the moment, in Unix milliseconds
 */
export function priceOf(
  selections: readonly Selection[],
  uses: Uses,
  list: Pick<PriceList, 'modifiers' | 'groups' | 'itemAbsences'>,
  at: number,
): SelectionPrice {
  const lines: PricedLine[] = [];
  const problems: Problem[] = [];
  addList({ selections, uses, pointer: '/selections', level: 1, times: 1n });
  return { added: lines.reduce((sum, { total_price }) => sum + total_price, 0n), lines, problems };

  function addList({ selections, uses, pointer, level, times }: List): void {
    if (level > mostLevels) {
      if (selections.length > 0) problems.push(tooDeep(pointer));
      return;
    }
    const chosen = selections.map((selection, place) => chosenAt(`${pointer}/${place}`, selection));
    const free = new Map<Chosen, number>();
    for (const use of uses) {
      const group = groupOf(use);
      if (!group) continue;
      const inGroup = chosen.filter((one) => one.modifier?.modifier_group_id === group.modifier_group_id);
      problems.push(...countProblems(group, inGroup, pointer));
      for (const [one, quantity] of freeOnes(inGroup, group.free_selections)) free.set(one, quantity);
    }
    for (const one of chosen) {
      const { modifier, quantity } = one;
      const freeQuantity = free.get(one);
      if (!modifier || freeQuantity === undefined) {
        problems.push(notInGroup(one.pointer));
        continue;
      }
      const price = BigInt(modifier.price);
      lines.push({
        pointer: one.pointer,
        modifier_id: modifier.modifier_id,
        modifier_group_id: modifier.modifier_group_id,
        name: modifier.name,
        quantity,
        free_quantity: freeQuantity,
        price,
        total_price: price * BigInt(quantity - freeQuantity) * times,
      });
      problems.push(
        ...offProblems(modifier, list.itemAbsences.get(modifier.modifier_id) ?? null, one.pointer, at),
      );
      addList({
        selections: one.within,
        uses: modifier.modifier_groups,
        pointer: `${one.pointer}/selections`,
        level: level + 1,
        times: times * BigInt(quantity),
      });
    }
  }

  function chosenAt(pointer: string, { modifier_id, quantity = 1, selections = [] }: Selection): Chosen {
    return { pointer, modifier: list.modifiers.get(modifier_id), quantity, within: selections };
  }

  /** The group, with the limits of the use where it has its own. */
  function groupOf({ modifier_group_id, min_selections, max_selections }: Uses[number]) {
    const group = list.groups.get(modifier_group_id);
    return (
      group && {
        ...group,
        min_selections: min_selections ?? group.min_selections,
        max_selections: max_selections ?? group.max_selections,
      }
    );
  }
}

/** Selections from what is offered in one place: with the item, or with one modifier. */
interface List {
  selections: readonly Selection[];
  uses: Uses;
  pointer: string;
  /** How deep the groups are nested. */
  level: number;
  /** How often there is such a list for one item. */
  times: bigint;
}

interface Chosen {
  pointer: string;
  /** Undefined if there is no such modifier. */
  modifier: PricedModifier | undefined;
  quantity: number;
  within: readonly Selection[];
}

/** How many of each are free: the cheapest first, and among equal prices the first in the list. */
function freeOnes(inGroup: readonly Chosen[], most: number): [Chosen, number][] {
  let left = most;
  return inGroup
    .toSorted((one, other) => (one.modifier?.price ?? 0) - (other.modifier?.price ?? 0))
    .map((one) => {
      const free = Math.min(left, one.quantity);
      left -= free;
      return [one, free];
    });
}

function countProblems(
  { modifier_group_id, min_selections: least, max_selections: most, max_per_modifier: each }: PricedGroup,
  inGroup: readonly Chosen[],
  pointer: string,
): Problem[] {
  const problems: Problem[] = [];
  const tell = (code: string, limit: number, message: string, at = pointer) =>
    problems.push({ pointer: at, code, message, modifier_group_id, limit });
  const quantity = quantityOf(inGroup);
  if (quantity < least)
    tell('too_few', least, `needs at least ${selectionsIn(least)} in this group, and has ${quantity}`);
  if (most !== null && quantity > most)
    tell('too_many', most, `permits at most ${selectionsIn(most)} in this group, and has ${quantity}`);
  if (quantity <= each) return problems;
  for (const ofModifier of Map.groupBy(inGroup, ({ modifier }) => modifier).values()) {
    const beyond = ofModifier.find((_, index) => quantityOf(ofModifier.slice(0, index + 1)) > each);
    const message = `can be selected ${times(each)}, and is selected ${times(quantityOf(ofModifier))}`;
    if (beyond) tell('too_many_of_modifier', each, message, beyond.pointer);
  }
  return problems;
}

function quantityOf(chosen: readonly Chosen[]): number {
  return chosen.reduce((sum, { quantity }) => sum + quantity, 0);
}

function offProblems(
  { modifier_group_id, absence }: PricedModifier,
  itemAbsence: AbsenceRules | null,
  pointer: string,
  at: number,
): Problem[] {
  const returns = [absence, itemAbsence].flatMap((one) =>
    one && (one.until === null || one.until > at) ? [one.until ?? Infinity] : [],
  );
  if (returns.length === 0) return [];
  const last = Math.max(...returns);
  const unavailable_until = last === Infinity ? null : new Date(last).toISOString();
  return [{ pointer, code: 'off', message: 'is not available', modifier_group_id, unavailable_until }];
}

function notInGroup(pointer: string): Problem {
  return { pointer, code: 'not_in_group', message: 'is not a modifier of a group that is offered here' };
}

function tooDeep(pointer: string): Problem {
  return { pointer, code: 'too_deep', message: `lies deeper than ${mostLevels} levels` };
}

function selectionsIn(count: number): string {
  return count === 1 ? '1 selection' : `${count} selections`;
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
