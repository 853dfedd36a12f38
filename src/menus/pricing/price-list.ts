import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { type Json, jsonObject } from '../../db/json.ts';
import { shared } from '../../db/shared-statement.ts';
import { type Param, statement } from '../../db/statement.ts';
import type { ItemKey } from '../../items/item.ts';
import type { Uses } from '../../modifier-groups/modifier.ts';
import type { Rules } from '../../modifier-groups/rules.ts';
import { type Reach, reachKey, withinReach } from '../../records/reach.ts';
import { absence, absenceOfItem } from '../menu-rules.ts';
import type { MenuRules } from '../orderability.ts';
import type { AbsenceRules } from '../required-groups.ts';

/**
 * What decides the price of some selections, as it was at one moment. Prices are in thousandths of the currency's unit,
 * instants Unix milliseconds.
 */
export interface PriceList {
  now: number;
  /** Undefined when there is no such item. */
  item: PricedItem | undefined;
  /** By their ids, as the groups. Some may have been asked for by others. */
  modifiers: ReadonlyMap<number, PricedModifier>;
  /** All that the item and the modifiers use. */
  groups: ReadonlyMap<number, PricedGroup>;
}

export interface PricedItem {
  item_id: number;
  menu_id: number;
  within_reach: boolean;
  price: number;
  modifier_groups: Uses;
  currency: string;
  /** Of its menu, without other items. */
  rules: MenuRules;
}

export interface PricedModifier {
  modifier_id: number;
  modifier_group_id: number;
  name: string;
  price: number;
  modifier_groups: Uses;
  /** Null while it is on. */
  absence: AbsenceRules | null;
  /** That of the item that it stands for; null while that is on, or if there is none. */
  item_absence: AbsenceRules | null;
}

export interface PricedGroup extends Rules {
  modifier_group_id: number;
  free_selections: number;
}

/** The item, and the modifiers that are selected. */
interface PriceKey extends ItemKey {
  modifier_ids: number[];
}

/** Calls that are under way at once share the statement; it looks up by primary key what the calls name. */
export const readPriceList = shared<PriceKey, PriceList>({
  key: reachKey,
  alone: async (database, call) => listOf(await readAll(database, [call]), call),
  isRead: true,
  async together(database, calls) {
    const found = await readAll(database, calls);
    return calls.map((call) => listOf(found, call));
  },
});

interface Found extends Omit<PriceList, 'item'> {
  items: ReadonlyMap<number, PricedItem>;
}

function listOf({ items, ...found }: Found, { item_id, menu_id }: PriceKey): PriceList {
  const item = items.get(item_id);
  return { ...found, item: item?.menu_id === menu_id ? item : undefined };
}

async function readAll(database: Database, calls: readonly [PriceKey, ...PriceKey[]]): Promise<Found> {
  const [{ account_id, location_ids }] = calls;
  const item_ids = [...new Set(calls.map(({ item_id }) => item_id))];
  const modifier_ids = [...new Set(calls.flatMap((call) => call.modifier_ids))];
  const [row] = await select(database, { account_id, location_ids, item_ids, modifier_ids });
  if (!row) throw new Error('menus.priceSelection gave no row');
  const items: PricedItem[] = JSON.parse(row.items);
  const modifiers: PricedModifier[] = JSON.parse(row.modifiers);
  const groups: PricedGroup[] = JSON.parse(row.groups);
  return {
    now: row.now,
    items: new Map(items.map((one) => [one.item_id, one])),
    modifiers: new Map(modifiers.map((one) => [one.modifier_id, one])),
    groups: new Map(groups.map((one) => [one.modifier_group_id, one])),
  };
}

interface Wanted extends Reach {
  item_ids: number[];
  modifier_ids: number[];
}

interface Row {
  now: number;
  items: Json<PricedItem[]>;
  modifiers: Json<PricedModifier[]>;
  groups: Json<PricedGroup[]>;
}

// The planner must not know how many ids there are: it would make a new plan for each call, at ten times the cost.
const select = statement('menus.priceSelection', (p: Param<Wanted>) => {
  const account = p('account_id', 'bigint');
  const items = sql`(select ${p('item_ids', 'bigint[]')})`;
  const modifiers = sql`(select ${p('modifier_ids', 'bigint[]')})`;
  return sql<Row>`
    select floor(extract(epoch from now()) * 1000) as now, (
      select coalesce(json_agg(found.*), '[]')
      from unnest(${items}) as wanted (id) cross join lateral (
        select item.item_id, item.menu_id, ${withinReach(p, 'item')} as within_reach, ${thousandths('item')} as price,
          item.modifier_groups, location.currency, ${rulesOfItem()} as rules
        from item
        join category on (category.category_id, category.account_id) = (item.category_id, item.account_id)
        join menu on (menu.menu_id, menu.account_id) = (item.menu_id, item.account_id)
        join location on (location.location_id, location.account_id) = (item.location_id, item.account_id)
        where item.item_id = wanted.id limit 1
      ) as found
    ) as items, (
      select coalesce(json_agg(${jsonObject<PricedModifier>({
        modifier_id: sql<number>`modifier.modifier_id`,
        modifier_group_id: sql<number>`modifier.modifier_group_id`,
        name: sql<string>`modifier.name`,
        price: thousandths('modifier'),
        modifier_groups: sql<Json<Uses>>`modifier.modifier_groups`,
        absence: absence('modifier'),
        item_absence: absenceOfItem(),
      })}), '[]')
      from modifier
      where modifier.account_id = ${account} and modifier.modifier_id = any ((${modifiers})::bigint[])
    ) as modifiers, (
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
        where account_id = ${account} and item_id = any ((${items})::bigint[])
        union all
        select modifier_group_id from modifier_group_use
        where account_id = ${account} and modifier_id = any ((${modifiers})::bigint[])))
    ) as groups`;
});

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
    // What selections lack is told as their problems.
    modifier_groups: sql<never>`'[]'::json`,
  });
}
