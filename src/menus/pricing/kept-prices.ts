import { type Database, wholeOf } from '../../db/database.ts';
import type { Uses } from '../../modifier-groups/modifier.ts';
import type { Rules } from '../../modifier-groups/rules.ts';
import type { MenuRules } from '../orderability.ts';
import type { AbsenceRules } from '../required-groups.ts';

/** Prices are in thousandths of the currency's unit. */
export interface PricedItem {
  item_id: number;
  menu_id: number;
  price: number;
  modifier_groups: Uses;
  currency: string;
  /** The rules of its menu, without other items. */
  rules: MenuRules;
}

export interface PricedModifier {
  modifier_id: number;
  modifier_group_id: number;
  name: string;
  price: number;
  modifier_groups: Uses;
  /** Null while it is available. */
  absence: AbsenceRules | null;
  /** The item that it stands for, which may be on another menu; whether that is available is not included. */
  item_id: number | null;
}

export interface PricedGroup extends Rules {
  modifier_group_id: number;
  free_selections: number;
}

/** By their ids. */
export interface Prices {
  items: ReadonlyMap<number, PricedItem>;
  modifiers: ReadonlyMap<number, PricedModifier>;
  /** All groups that these items and modifiers use. */
  groups: ReadonlyMap<number, PricedGroup>;
}

/** What calls have named in one menu, as it was under a tag. */
export interface MenuPrices extends Prices {
  tag: string;
}

/** An item, and the modifiers that are selected with it. */
export interface Named {
  menu_id: number;
  item_id: number;
  modifier_ids: readonly number[];
}

/** Prices of menus, cached in this process. */
export interface KeptPrices {
  /** What is cached of the menu, if that includes everything named. */
  allOf(named: Named): MenuPrices | undefined;
  /** Caches what is named, from what was found under the tag. */
  add(named: Named, tag: string, found: Prices): void;
}

/** One for each database, since one may be behind another. */
export function keptPrices(database: Database): KeptPrices {
  const whole = wholeOf(database);
  const kept = byDatabase.get(whole) ?? createKept();
  byDatabase.set(whole, kept);
  return kept;
}

const byDatabase = new WeakMap<Database, KeptPrices>();

// Characters of JSON; objects take some four times as much. The second is for a menu of which nothing is cached yet.
const mostCharacters = 8 * 1024 * 1024;
const emptyCharacters = 500;

interface Kept extends MenuPrices {
  items: Map<number, PricedItem>;
  modifiers: Map<number, PricedModifier>;
  groups: Map<number, PricedGroup>;
  characters: number;
}

function createKept(): KeptPrices {
  const menus = new Map<number, Kept>();
  let characters = 0;

  return {
    allOf({ menu_id, item_id, modifier_ids }) {
      const prices = menus.get(menu_id);
      return prices?.items.has(item_id) && modifier_ids.every((id) => prices.modifiers.has(id))
        ? prices
        : undefined;
    },
    add({ menu_id, item_id, modifier_ids }, tag, found) {
      const prices = keptUnder(menu_id, tag);
      const users = [
        copy(prices, found.items, prices.items, item_id),
        ...modifier_ids.map((id) => copy(prices, found.modifiers, prices.modifiers, id)),
      ];
      for (const user of users)
        for (const { modifier_group_id } of user?.modifier_groups ?? [])
          copy(prices, found.groups, prices.groups, modifier_group_id);
      makeRoom();
    },
  };

  function keptUnder(menuId: number, tag: string): Kept {
    const prices = menus.get(menuId);
    if (prices?.tag === tag) return prices;
    drop(menuId);
    const empty = { tag, items: new Map(), modifiers: new Map(), groups: new Map(), characters: 0 };
    menus.set(menuId, empty);
    count(empty, emptyCharacters);
    return empty;
  }

  /** @returns what was not cached before */
  function copy<T>(prices: Kept, from: ReadonlyMap<number, T>, to: Map<number, T>, id: number) {
    const one = from.get(id);
    if (one === undefined || to.has(id)) return undefined;
    to.set(id, one);
    count(prices, JSON.stringify(one).length);
    return one;
  }

  function count(prices: Kept, more: number): void {
    prices.characters += more;
    characters += more;
  }

  // Those cached longest make room.
  function makeRoom(): void {
    for (const oldest of menus.keys()) {
      if (characters <= mostCharacters) return;
      drop(oldest);
    }
  }

  function drop(menuId: number): void {
    characters -= menus.get(menuId)?.characters ?? 0;
    menus.delete(menuId);
  }
}
