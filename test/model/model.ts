import assert from 'node:assert/strict';
import type { Event } from '../support/events.ts';

/*
 * What a menu is and does, said once more without a database: plain lists in display order, and the rules by which a
 * change of them is told in events. Ids and positions are the service's to choose, so they are taken over from it.
 */

export interface ModelItem {
  item_id: number;
  external_id: string | null;
  name: string;
  price: number;
  allergens: string[];
  is_available: boolean;
  unavailable_until: string | null;
  sort_order: number;
  version: number;
}

export interface ModelCategory {
  category_id: number;
  external_id: string | null;
  name: string;
  sort_order: number;
  version: number;
  items: ModelItem[];
}

export interface ModelMenu {
  menu_id: number;
  name: string;
  is_active: boolean;
  version: number;
  categories: ModelCategory[];
}

/** The id and position of a record that the service has yet to choose. */
export const unknown = 0;

/** A category as it is made. */
export function newCategory(fields: Partial<ModelCategory>): ModelCategory {
  return {
    category_id: unknown,
    external_id: null,
    name: '',
    sort_order: unknown,
    version: 1,
    items: [],
    ...fields,
  };
}

/** An item as it is made. */
export function newItem(fields: Partial<ModelItem>): ModelItem {
  const made = {
    item_id: unknown,
    external_id: null,
    name: '',
    price: 0,
    allergens: [],
    sort_order: unknown,
    version: 1,
  };
  return { ...made, is_available: true, unavailable_until: null, ...fields };
}

export interface Switch {
  is_available?: boolean;
  unavailable_until?: string | null;
}

/** Sets a switch and its time of return: a time turns the item off, and an item that is on has none. */
export function setSwitch(item: ModelItem, { is_available, unavailable_until: until }: Switch): void {
  item.is_available = is_available ?? (until ? false : item.is_available);
  if (item.is_available) item.unavailable_until = null;
  else if (until !== undefined) item.unavailable_until = until;
}

/** All items of the menu, in display order. */
export function itemsOf(menu: ModelMenu): ModelItem[] {
  return menu.categories.flatMap(({ items }) => items);
}

/** The part of an answer of getMenu that is modelled. */
export function projected({ menu_id, name, is_active, version, categories }: ModelMenu): ModelMenu {
  return {
    menu_id,
    name,
    is_active,
    version,
    categories: categories.map(({ items, ...category }) => ({
      ...pick(category, ['category_id', 'external_id', 'name', 'sort_order', 'version']),
      items: items.map((item) => pick(item, itemFields)),
    })),
  };
}

/**
 * Completes the model after a call: takes over the ids and positions of new records, and raises the version of what
 * has changed.
 * @param choosesPlaces take over all positions of a list, unless it begins as it was.
 */
export function settle(
  before: ModelMenu,
  after: ModelMenu,
  shown: ModelMenu,
  { choosesPlaces }: { choosesPlaces: boolean },
): void {
  const takeOver = <Id extends 'category_id' | 'item_id', One extends { [I in Id]: number } & Placed>(
    old: One[],
    now: One[],
    seen: { [I in Id]: number }[] & Placed[],
    id: Id,
  ) => {
    const stays = old.every((one, index) => one[id] === now[index]?.[id]);
    now.forEach((one, index) => {
      const isNew = one[id] === unknown;
      if (isNew) Object.assign(one, { [id]: seen[index]?.[id] });
      if (isNew || (choosesPlaces && !(stays && index < old.length)))
        one.sort_order = seen[index]?.sort_order ?? unknown;
    });
  };
  takeOver(before.categories, after.categories, shown.categories, 'category_id');
  const homes = new Map(before.categories.map(({ category_id, items }) => [category_id, items]));
  after.categories.forEach(({ category_id, items }, index) => {
    takeOver(homes.get(category_id) ?? [], items, shown.categories[index]?.items ?? [], 'item_id');
  });
  const old = recordsOf(before);
  for (const [id, { record }] of recordsOf(after)) {
    if (old.has(id) && changesOf(before, after, id)) record.version += 1;
  }
}

interface Placed {
  sort_order: number;
}

/** What the events of a change say, by the rules of the contract; in no particular order. */
export function expectedEvents(before: ModelMenu, after: ModelMenu): string[] {
  const [old, now] = [recordsOf(before), recordsOf(after)];
  const told = [...new Set([...old.keys(), ...now.keys()])].flatMap((id) => {
    const kind = id.split(':')[0];
    const { record } = now.get(id) ?? (old.get(id) as Listed);
    if (!old.has(id)) return [tell(`${kind}.created`, id, record.version, null)];
    if (!now.has(id)) return [tell(`${kind}.deleted`, id, record.version, null)];
    const previous = changesOf(before, after, id);
    if (!previous) return [];
    const switched = 'is_available' in previous || 'is_active' in previous;
    const beside = ['is_available', 'is_active', ...(switched ? ['unavailable_until'] : [])];
    const updated = Object.keys(previous).some((field) => !beside.includes(field));
    return [
      ...(switched ? [tell(`${kind}.toggled`, id, record.version, previous)] : []),
      ...(updated ? [tell(`${kind}.updated`, id, record.version, previous)] : []),
    ];
  });
  return told.toSorted();
}

/** Events that were recorded, in the same words; each must show its record as it is now, or as it last was. */
export function toldEvents(events: Event[], before: ModelMenu, after: ModelMenu): string[] {
  const told = events.map(({ type, data, previous }) => {
    const kind = type.split('.')[0];
    const id = `${kind}:${data[`${kind}_id`]}`;
    const { record = {} } = recordsOf(type.endsWith('deleted') ? before : after).get(id) ?? {};
    const common = Object.keys(record).filter((field) => field in data);
    assert.deepEqual(pick(data, common), pick(record, common));
    return tell(type, id, data.version, previous);
  });
  return told.toSorted();
}

function tell(type: string, id: string, version: number, previous: object | null): string {
  const fields = previous && Object.entries(previous).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `${type} ${id} v${version} ${JSON.stringify(fields)}`;
}

interface Listed {
  record: ModelMenu | ModelCategory | ModelItem;
  fields: object;
}

/** Every record by kind and id, with the fields whose change is told. */
function recordsOf(menu: ModelMenu): Map<string, Listed> {
  const { name, is_active } = menu;
  const records = new Map<string, Listed>([
    [`menu:${menu.menu_id}`, { record: menu, fields: { name, is_active } }],
  ]);
  for (const category of menu.categories) {
    const { category_id } = category;
    const fields = pick(category, ['external_id', 'name', 'sort_order']);
    records.set(`category:${category_id}`, { record: category, fields });
    for (const item of category.items) {
      const { item_id: _, version: __, ...own } = item;
      records.set(`item:${item.item_id}`, { record: item, fields: { ...own, category_id } });
    }
  }
  return records;
}

/** Old values of the fields of a record that differ; undefined when none does. */
function changesOf(before: ModelMenu, after: ModelMenu, id: string): Record<string, unknown> | undefined {
  const old = Object.entries(recordsOf(before).get(id)?.fields ?? {});
  const now = new Map(Object.entries(recordsOf(after).get(id)?.fields ?? {}));
  const changed = old.filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(now.get(field)));
  return changed.length > 0 ? Object.fromEntries(changed) : undefined;
}

const itemFields = [
  'item_id',
  'external_id',
  'name',
  'price',
  'allergens',
  'is_available',
  'unavailable_until',
  'sort_order',
  'version',
] as const;

function pick<T extends object, K extends keyof T>(from: T, names: readonly K[]): Pick<T, K>;
function pick(from: object, names: readonly string[]): Record<string, never>;
function pick(from: object, names: readonly string[]): object {
  const values = new Map(Object.entries(from));
  return Object.fromEntries(names.map((name) => [name, values.get(name)]));
}
