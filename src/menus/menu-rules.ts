import { type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import type { Database } from '../db/database.ts';
import { columns, type EncodedJson, type Json, jsonObject, rfc3339 } from '../db/json.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { inSlices } from '../hours/slices.ts';
import { stamped } from '../http/conditional.ts';
import { groupsOfMenu } from '../modifier-groups/shown-groups.ts';
import type { MenuKey } from '../records/menu-reach.ts';
import { isAtPath } from '../records/record-kind.ts';
import { sharedRead } from '../records/shared-read.ts';
import { keptByTag } from './kept-by-tag.ts';
import { menus } from './menu.ts';
import { type MenuRules, orderabilityAt } from './orderability.ts';
import type { AbsenceRules } from './required-groups.ts';

/** What decides which parts of a menu can be ordered, as it was under a tag. */
export interface KeptRules {
  /** Without quotes. */
  etag: string;
  rules: MenuRules;
  bytes: number;
  /** The last result, for as long as it holds. */
  told?: ToldBody;
  /** The result being computed now, for all who wait. */
  telling?: Promise<ToldBody> | undefined;
}

/** What can be ordered at a given moment, as the body of the response. Instants are Unix milliseconds. */
export interface ToldBody {
  at: number;
  /** When this changes; null for never. */
  until: number | null;
  body: EncodedJson<{ data: components['schemas']['MenuAvailability'] }>;
}

/** A tag that changes with everything that decides except the time; and the time. */
export const selectRulesTag = sharedRead('menus.getAvailability.tag', menus, {
  etag: rulesTag(),
  now: sql<number>`floor(extract(epoch from now()) * 1000)`,
});

export const keptRules = keptByTag<KeptRules>(64 * 1024 * 1024, ({ bytes }) => bytes);

/** The lists that may have thousands of entries. */
type List = 'category_hours' | 'items' | 'modifier_groups';

/** Independent of the reader: the grant of whoever asked first does not apply. */
export async function readRules(database: Database, key: MenuKey): Promise<KeptRules | undefined> {
  const [found] = await selectRules(database, { ...key, location_ids: null });
  if (!found) return undefined;
  const { etag, rules, ...lists } = found;
  const sizeOf = (text: string | null) => text?.length ?? 0;
  return {
    etag,
    rules: {
      ...JSON.parse(rules),
      category_hours: await parsedLines(lists.category_hours),
      items: await parsedLines(lists.items),
      modifier_groups: await parsedLines(lists.modifier_groups),
    },
    // Objects take some four times the bytes of their text; the body that is cached with them takes as much again.
    bytes: 4 * sizeOf(lists.category_hours) + 8 * (sizeOf(lists.items) + sizeOf(lists.modifier_groups)),
  };
}

/** Parses a list that may be megabytes of JSON. */
function parsedLines<T>(lines: string | null): Promise<T[]> {
  return inSlices(lines?.split('\n') ?? [], (line): T => JSON.parse(line));
}

/** What can be ordered at a given moment; the same body for as long as nothing changes. */
export async function toldAt(kept: KeptRules, at: number, { keep }: { keep: boolean }): Promise<ToldBody> {
  if (!keep) return tell(kept.rules, at);
  const { told } = kept;
  if (told && told.at <= at && holds(told, at)) return told;
  kept.telling ??= tell(kept.rules, at).finally(() => {
    kept.telling = undefined;
  });
  const fresh = await kept.telling;
  kept.told = fresh;
  return holds(fresh, at) ? fresh : tell(kept.rules, at);
}

function holds({ until }: ToldBody, at: number): boolean {
  return until === null || at < until;
}

async function tell(rules: MenuRules, at: number): Promise<ToldBody> {
  const { availability, until } = await orderabilityAt(rules, at);
  const body = Buffer.from(JSON.stringify({ data: availability })) as unknown as ToldBody['body'];
  return { at, until, body };
}

function rulesTag(): RawBuilder<string> {
  return sql`${contentTag()} || ${standingFor()}`;
}

/** A tag of a row of `menu` that changes with its content, and with everything that its location decides. */
export function contentTag(): RawBuilder<string> {
  const [menu, location] = [columns('menu'), columns('location')];
  return sql`${stamped(menu.content_version, menu.stamp)} || '-' || (
    select ${stamped(location.version, location.stamp)} from location
    where location.location_id = menu.location_id and location.account_id = menu.account_id)`;
}

/**
 * The part of the tag that shows which modifiers stand for unavailable items: these items may be on other menus, and
 * then change only the tags of those. Empty when there are none. One look-up for each such modifier, whatever the
 * planner estimates.
 */
function standingFor(): RawBuilder<string> {
  const stood = columns('item', 'stood');
  return sql`coalesce('-' || (
    select md5(string_agg(modifier.modifier_id || coalesce('-' || ${stamped(stood.version, stood.stamp)}, ''), ' '
      order by modifier.modifier_id))
    from modifier
      cross join lateral (
        select menu_ids from modifier_group
        where modifier_group.modifier_group_id = modifier.modifier_group_id
          and modifier_group.account_id = modifier.account_id
        limit 1
      ) as shown
      left join lateral (
        select is_available, version, stamp from item
        where item.item_id = modifier.item_id and item.account_id = modifier.account_id
        limit 1
      ) as stood on true
    where modifier.account_id = menu.account_id and modifier.location_id = menu.location_id
      and modifier.item_id is not null and menu.menu_id = any (shown.menu_ids)
      and stood.is_available is not true), '')`;
}

const selectRules = statement('menus.getAvailability.rules', (p: Param<MenuKey>) =>
  build
    .selectFrom('menu')
    .innerJoin('location', (join) =>
      join
        .onRef('location.location_id', '=', 'menu.location_id')
        .onRef('location.account_id', '=', 'menu.account_id'),
    )
    .where(isAtPath(menus, p))
    .select([
      rulesTag().as('etag'),
      jsonObject<{ [Field in Exclude<keyof MenuRules, List>]: MenuRules[Field] }>({
        menu_id: sql<number>`menu.menu_id`,
        timezone: sql<string>`location.timezone`,
        is_active: sql<boolean>`menu.is_active`,
        location_hours: sql<never>`location.hours`,
        menu_hours: sql<never>`menu.hours`,
      }).as('rules'),
      lines(
        'category_id',
        sql`hours`,
        sql`category where category.menu_id = menu.menu_id and hours is not null`,
      ).as('category_hours'),
      lines(
        'item_id',
        sql`category_id, hours, ${absence('item')}, modifier_groups`,
        sql`item where item.menu_id = menu.menu_id`,
      ).as('items'),
      lines(
        'modifier_group_id',
        sql`min_selections, max_per_modifier, ${modifiersOfGroup()}`,
        sql`${groupsOfMenu()} as modifier_group`,
      ).as('modifier_groups'),
    ]),
);

/**
 * A JSON array for each row, on a line of its own, ordered by the id that it begins with; null when there are no rows.
 */
function lines(
  id: string,
  others: RawBuilder<unknown>,
  rows: RawBuilder<unknown>,
): RawBuilder<string | null> {
  const line = sql`json_build_array(${sql.ref(id)}, ${others})::text`;
  return sql<string | null>`(select string_agg(${line}, e'\\n' order by ${sql.ref(id)}) from ${rows})`;
}

function modifiersOfGroup(): RawBuilder<unknown> {
  return sql`(
    select coalesce(json_agg(json_build_array(
      modifier_id, ${absence('modifier')}, ${absenceOfItem()}, modifier_groups)), '[]')
    from modifier
    where modifier.modifier_group_id = modifier_group.modifier_group_id
      and modifier.account_id = modifier_group.account_id)`;
}

/** The absence of the item that the row of `modifier` stands for; a deleted item is never available. */
export function absenceOfItem(): RawBuilder<Json<AbsenceRules | null>> {
  const gone = sql`json_build_object('until', null, 'since', null, 'by', null)`;
  return sql`case when modifier.item_id is not null then coalesce((
    select coalesce(${absence('stood')}, 'null') from item as stood
    where stood.item_id = modifier.item_id and stood.account_id = modifier.account_id), ${gone}) end`;
}

/**
 * Since when and until when a row of `item` or `modifier` is unavailable, and who made it so; null while it is
 * available.
 */
export function absence(row: string): RawBuilder<Json<AbsenceRules | null>> {
  const { is_available, unavailable_until, unavailable_since, unavailable_by } = columns('item', row);
  return sql`case when not ${is_available} then json_build_object(
    'until', floor(extract(epoch from ${unavailable_until}) * 1000),
    'since', ${rfc3339(unavailable_since)}, 'by', ${unavailable_by}) end`;
}
