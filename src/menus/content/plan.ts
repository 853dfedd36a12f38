import type { components } from '../../../generated/api.ts';
import { itemDefaults } from '../../items/item.ts';
import { keptPositions } from '../../records/positions.ts';
import type { StoredCategory, StoredItem, StoredMenu } from '../stored-menu.ts';
import type { MenuContent } from './document.ts';
import type { CategoryMatch, ItemMatch, Matches } from './match.ts';

type Schemas = components['schemas'];

/** A category as the document wants it; `category_id` is null when it is to be created. */
export type CategoryRow = Omit<StoredCategory, 'category_id'> & { category_id: number | null };
/** An item as the document wants it; `item_id` is null when it is to be created. */
export type ItemRow = Omit<StoredItem, 'item_id' | 'category_id'> & {
  item_id: number | null;
  category: Schemas['CategoryReference'];
};

/** What has to be done so that a menu becomes what a document says. */
export interface Plan {
  menu: (Change<Schemas['MenuValues']> & { row: StoredMenu['menu'] }) | null;
  categories: Part<CategoryRow, Schemas['CategoryValues'], StoredCategory>;
  items: Part<ItemRow, Schemas['ItemValues'], StoredItem>;
}

/** @param matches without errors, found for the same document and menu. */
export function planImport(content: MenuContent, stored: StoredMenu, matches: Matches): Plan {
  const menu = {
    name: content.name?.trim() ?? stored.menu.name,
    description: content.description ?? stored.menu.description,
    is_active: content.is_active ?? stored.menu.is_active,
  };
  const menuChange = changeOf<Schemas['MenuValues']>(stored.menu, menu);
  return {
    menu: menuChange && { ...menuChange, row: menu },
    categories: planCategories(matches.categories, stored),
    items: planItems(matches.items, stored),
  };
}

/** Whether there is anything to do. */
export function changesAnything({ menu, categories, items }: Plan): boolean {
  const counts = [categories, items].flatMap(({ created, updated, deleted }) => [created, updated, deleted]);
  return menu !== null || counts.some((list) => list.length > 0);
}

/** Values of exactly the fields that change. */
interface Change<Values> {
  old: Values;
  new: Values;
}

interface Part<Row, Values, Stored> {
  created: Row[];
  updated: (Change<Values> & { row: Row })[];
  deleted: Stored[];
  unchanged: number;
}

function planCategories(matches: CategoryMatch[], stored: StoredMenu): Plan['categories'] {
  const positions = keptPositions(
    matches.map(({ stored }) => (stored ? { sort_order: stored.sort_order, id: stored.category_id } : {})),
  );
  const rows = matches.map(({ sent, stored: old }, index) => ({
    old,
    row: {
      category_id: old?.category_id ?? null,
      external_id: sent.external_id ?? old?.external_id ?? null,
      name: sent.name?.trim() ?? old?.name ?? '',
      description: sent.description ?? old?.description ?? '',
      sort_order: positions[index] ?? 0,
    },
  }));
  const found = new Set(matches.map((match) => match.stored));
  return { ...sortOut(rows), deleted: stored.categories.filter((one) => !found.has(one)) };
}

function planItems(matches: ItemMatch[], stored: StoredMenu): Plan['items'] {
  const categoryKeys = new Map(
    stored.categories.map(({ category_id, external_id }) => [category_id, { category_id, external_id }]),
  );
  const rows = [...Map.groupBy(matches, ({ category }) => category)].flatMap(([category, siblings]) => {
    const key = keyOf(category);
    const staysHere = (item: StoredItem) => item.category_id === key.category_id;
    const positions = keptPositions(
      siblings.map(({ stored }) =>
        stored && staysHere(stored) ? { sort_order: stored.sort_order, id: stored.item_id } : {},
      ),
    );
    return siblings.map(({ sent, stored: old }, index) => ({
      old: old && { ...old, category: staysHere(old) ? key : categoryKeys.get(old.category_id) },
      row: { ...itemRow(sent, old), category: key, sort_order: positions[index] ?? 0 },
    }));
  });
  const found = new Set(matches.map((match) => match.stored));
  return { ...sortOut(rows), deleted: stored.items.filter((one) => !found.has(one)) };
}

function keyOf({ sent, stored }: CategoryMatch): Schemas['CategoryReference'] {
  return {
    category_id: stored?.category_id ?? null,
    external_id: sent.external_id ?? stored?.external_id ?? null,
  };
}

function itemRow(
  sent: ItemMatch['sent'],
  old: StoredItem | undefined,
): Omit<ItemRow, 'category' | 'sort_order'> {
  const nothing = { ...itemDefaults, item_id: null, category_id: null, name: '', price: 0 };
  const { category_id: _, ...kept } = old ?? nothing;
  const { external_id = kept.external_id, name = kept.name, ...fields } = sent;
  return { ...kept, ...fields, ...availability(sent, old), external_id, name: name.trim() };
}

// As updateItem has it: a time of return turns the item off, and an item that is on has none.
function availability(sent: ItemMatch['sent'], old: StoredItem | undefined) {
  const until = sent.unavailable_until;
  const is_available = sent.is_available ?? (until ? false : (old?.is_available ?? true));
  const kept =
    until === undefined ? (old?.unavailable_until ?? null) : until && new Date(until).toISOString();
  return { is_available, unavailable_until: is_available ? null : kept };
}

function sortOut<Row extends object, Values extends object>(
  rows: { row: Row; old: object | undefined }[],
): Omit<Part<Row, Values, never>, 'deleted'> {
  const part: Omit<Part<Row, Values, never>, 'deleted'> = { created: [], updated: [], unchanged: 0 };
  for (const { row, old } of rows) {
    const change = old && changeOf<Values>(old, row);
    if (change) part.updated.push({ ...change, row });
    else if (old) part.unchanged += 1;
    else part.created.push(row);
  }
  return part;
}

function changeOf<Values extends object>(old: object, next: object): Change<Values> | null {
  const before = new Map(Object.entries(old));
  const changed = Object.entries(next).filter(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(before.get(field)),
  );
  if (changed.length === 0) return null;
  return {
    old: Object.fromEntries(changed.map(([field]) => [field, before.get(field)])) as Values,
    new: Object.fromEntries(changed) as Values,
  };
}
