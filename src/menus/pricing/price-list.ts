import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { type Json, jsonObject } from '../../db/json.ts';
import { type Calls, shared } from '../../db/shared-statement.ts';
import { type Param, statement } from '../../db/statement.ts';
import { unplanned } from '../../db/unplanned.ts';
import type { ItemKey } from '../../items/item.ts';
import type { Uses } from '../../modifier-groups/modifier.ts';
import { type Reach, reachKey, withinReach } from '../../records/reach.ts';
import { absence, absenceOfItem, contentTag } from '../menu-rules.ts';
import type { MenuRules } from '../orderability.ts';
import type { AbsenceRules } from '../required-groups.ts';
import {
  keptPrices,
  type MenuPrices,
  type PricedGroup,
  type PricedItem,
  type PricedModifier,
  type Prices,
} from './kept-prices.ts';

/** What decides the price of some selections, as it was at one moment; other calls may have asked for parts of it. */
export interface PriceList extends Omit<Prices, 'items'> {
  within_reach: boolean;
  /** Unix milliseconds. */
  now: number;
  item: PricedItem;
  /**
   * The absences of the items that modifiers stand for, by the ids of the modifiers; null while the item is available.
   */
  itemAbsences: ReadonlyMap<number, AbsenceRules | null>;
}

/** The item, and the modifiers that are selected. */
interface PriceKey extends ItemKey {
  modifier_ids: number[];
}

/**
 * Undefined when there is no such item. Concurrent calls share a statement: one that looks up the tags of their menus
 * if everything they name is cached; otherwise, or if a tag has changed, one that reads everything.
 */
export const readPriceList = shared<PriceKey, PriceList | undefined>({
  key: reachKey,
  alone: async (database, call) => (await readPriceLists(database, [call]))[0],
  isRead: true,
  together: readPriceLists,
});

async function readPriceLists(
  database: Database,
  calls: Calls<PriceKey>,
): Promise<(PriceList | undefined)[]> {
  return (await keptPriceLists(database, calls)) ?? (await foundPriceLists(database, calls));
}

/** Undefined when not everything is cached, or something has changed since. */
async function keptPriceLists(database: Database, calls: Calls<PriceKey>): Promise<PriceList[] | undefined> {
  const kept = keptPrices(database);
  const known = new Map<number, MenuPrices>();
  for (const call of calls) {
    const prices = kept.allOf(call);
    if (!prices) return undefined;
    known.set(call.menu_id, prices);
  }
  const [{ account_id, location_ids }] = calls;
  const [row] = await selectTags(database, {
    account_id,
    location_ids,
    menu_ids: [...known.keys()],
    standing_ids: distinct(calls.flatMap((call) => standingIds(call, known.get(call.menu_id)))),
  });
  const { now, menus, itemAbsences } = read(row);
  const lists = calls.map((call): PriceList | undefined => {
    const menu = menus.get(call.menu_id);
    const prices = known.get(call.menu_id);
    const item = prices?.items.get(call.item_id);
    if (!menu || !prices || !item || menu.tag !== prices.tag) return undefined;
    const { modifiers, groups } = prices;
    return { within_reach: menu.within_reach, now, item, modifiers, groups, itemAbsences };
  });
  return lists.includes(undefined) ? undefined : (lists as PriceList[]);
}

async function foundPriceLists(
  database: Database,
  calls: Calls<PriceKey>,
): Promise<(PriceList | undefined)[]> {
  const [{ account_id, location_ids }] = calls;
  const [row] = await selectPrices(database, {
    account_id,
    location_ids,
    menu_ids: distinct(calls.map(({ menu_id }) => menu_id)),
    item_ids: distinct(calls.map(({ item_id }) => item_id)),
    modifier_ids: distinct(calls.flatMap(({ modifier_ids }) => modifier_ids)),
  });
  const { now, menus, itemAbsences } = read(row);
  const found = pricesIn(JSON.parse((row as PricesRow).found));
  const { modifiers, groups } = found;
  const kept = keptPrices(database);
  return calls.map((call) => {
    const menu = menus.get(call.menu_id);
    const item = found.items.get(call.item_id);
    if (!menu || item?.menu_id !== call.menu_id) return undefined;
    const { tag, within_reach } = menu;
    // A caller from another account finds no modifiers, although they exist.
    if (within_reach) kept.add(call, tag, found);
    return { within_reach, now, item, modifiers, groups, itemAbsences };
  });
}

function read(row: TagsRow | undefined) {
  if (!row) throw new Error('a statement of priceSelection gave no row');
  const menus = byId(JSON.parse(row.menus) as MenuRow[], ({ menu_id }) => menu_id);
  return { now: row.now, menus, itemAbsences: new Map(JSON.parse(row.item_absences) as ItemAbsences) };
}

function distinct(ids: number[]): number[] {
  return [...new Set(ids)];
}

/** The selected modifiers that stand for items. */
function standingIds({ modifier_ids }: PriceKey, prices: MenuPrices | undefined): number[] {
  return modifier_ids.filter((id) => typeof prices?.modifiers.get(id)?.item_id === 'number');
}

function pricesIn({ items, modifiers, groups }: FoundRows): Prices {
  return {
    items: byId(items, ({ item_id }) => item_id),
    modifiers: byId(modifiers, ({ modifier_id }) => modifier_id),
    groups: byId(groups, ({ modifier_group_id }) => modifier_group_id),
  };
}

function byId<T>(rows: readonly T[], idOf: (row: T) => number): Map<number, T> {
  return new Map(rows.map((row) => [idOf(row), row]));
}

interface WantedMenus extends Reach {
  menu_ids: number[];
}

interface WantedTags extends WantedMenus {
  /** Modifiers that stand for items. */
  standing_ids: number[];
}

interface WantedPrices extends WantedMenus {
  item_ids: number[];
  modifier_ids: number[];
}

interface MenuRow {
  menu_id: number;
  tag: string;
  within_reach: boolean;
}

interface FoundRows {
  items: PricedItem[];
  modifiers: PricedModifier[];
  groups: PricedGroup[];
}

type ItemAbsences = [modifier_id: number, AbsenceRules | null][];

interface TagsRow {
  now: number;
  menus: Json<MenuRow[]>;
  item_absences: Json<ItemAbsences>;
}

interface PricesRow extends TagsRow {
  found: Json<FoundRows>;
}

// Neither contains the other: setting up the parts of a statement that are not needed costs as much as the rest of it.
const selectTags = statement(
  'menus.priceSelection.tags',
  (p: Param<WantedTags>) => sql<TagsRow>`
    select ${tagsOf(p, p('standing_ids', 'bigint[]'))}`,
);

const selectPrices = statement(
  'menus.priceSelection.prices',
  (p: Param<WantedPrices>) => sql<PricesRow>`
    select ${tagsOf(p, p('modifier_ids', 'bigint[]'))}, ${foundJson(p)} as found`,
);

function tagsOf(p: Param<WantedMenus>, modifierIds: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`floor(extract(epoch from now()) * 1000) as now,
    (select coalesce(json_agg(menu.*), '[]')
      from unnest(${unplanned(p('menu_ids', 'bigint[]'))}) as wanted (id)
      cross join lateral (
        select menu.menu_id, ${withinReach(p, 'menu')} as within_reach, ${contentTag()} as tag
        from menu where menu.menu_id = wanted.id limit 1
      ) as menu) as menus,
    (select coalesce(json_agg(json_build_array(modifier.modifier_id, ${absenceOfItem()})), '[]')
      from modifier
      where modifier.account_id = ${p('account_id', 'bigint')} and modifier.item_id is not null
        and modifier.modifier_id = any (${unplanned(modifierIds)})) as item_absences`;
}

function foundJson(p: Param<WantedPrices>): RawBuilder<Json<FoundRows>> {
  const account = p('account_id', 'bigint');
  const items = unplanned(p('item_ids', 'bigint[]'));
  const modifiers = unplanned(p('modifier_ids', 'bigint[]'));
  return jsonObject<{ [Rows in keyof FoundRows]: FoundRows[Rows] }>({
    items: sql<never>`(
      select coalesce(json_agg(found.*), '[]')
      from unnest(${items}) as wanted (id) cross join lateral (
        select item.item_id, item.menu_id, ${thousandths('item')} as price,
          item.modifier_groups, location.currency, ${rulesOfItem()} as rules
        from item
        join category on (category.category_id, category.account_id) = (item.category_id, item.account_id)
        join menu on (menu.menu_id, menu.account_id) = (item.menu_id, item.account_id)
        join location on (location.location_id, location.account_id) = (item.location_id, item.account_id)
        where item.item_id = wanted.id limit 1
      ) as found)`,
    modifiers: sql<never>`(
      select coalesce(json_agg(${jsonObject<PricedModifier>({
        modifier_id: sql<number>`modifier.modifier_id`,
        modifier_group_id: sql<number>`modifier.modifier_group_id`,
        name: sql<string>`modifier.name`,
        price: thousandths('modifier'),
        modifier_groups: sql<Json<Uses>>`modifier.modifier_groups`,
        absence: absence('modifier'),
        item_id: sql<number | null>`modifier.item_id`,
      })}), '[]')
      from modifier
      where modifier.account_id = ${account} and modifier.modifier_id = any (${modifiers}))`,
    groups: sql<never>`(
      select coalesce(json_agg(${jsonObject<PricedGroup>({
        modifier_group_id: sql<number>`own.modifier_group_id`,
        min_selections: sql<number>`own.min_selections`,
        max_selections: sql<number | null>`own.max_selections`,
        max_per_modifier: sql<number>`own.max_per_modifier`,
        free_selections: sql<number>`own.free_selections`,
      })}), '[]')
      from modifier_group as own
      where own.account_id = ${account} and own.modifier_group_id = any (array(
        select modifier_group_id from modifier_group_use
        where account_id = ${account} and item_id = any (${items})
        union all
        select modifier_group_id from modifier_group_use
        where account_id = ${account} and modifier_id = any (${modifiers}))))`,
  });
}

function thousandths(row: 'item' | 'modifier'): RawBuilder<number> {
  return sql`(${sql.ref(`${row}.price`)} * 1000)::bigint`;
}

function rulesOfItem(): RawBuilder<Json<MenuRules>> {
  return jsonObject<{ [Field in keyof MenuRules]: MenuRules[Field] }>({
    menu_id: sql<number>`menu.menu_id`,
    timezone: sql<string>`location.timezone`,
    is_active: sql<boolean>`menu.is_active`,
    location_hours: sql<never>`location.hours`,
    menu_hours: sql<never>`menu.hours`,
    category_hours: sql<never>`case when category.hours is null then '[]'
      else json_build_array(json_build_array(category.category_id, category.hours)) end`,
    items: sql<never>`json_build_array(json_build_array(
      item.item_id, item.category_id, item.hours, ${absence('item')}, '[]'::json))`,
    // What is missing from the selections is reported as their problems.
    modifier_groups: sql<never>`'[]'::json`,
  });
}
