import type { components } from '../../../generated/api.ts';
import { completeHours, type Hours, type HoursInput } from '../../hours/hours.ts';
import { itemDefaults } from '../../items/item.ts';
import { keptPositions } from '../../records/positions.ts';
import type { StoredCategory, StoredItem, StoredMenu } from '../stored-menu.ts';
import { availability, type Change, changeOf, type Part, sortOut } from './changes.ts';
import type { MenuContent } from './document.ts';
import type { CategoryMatch, ItemMatch, Matches } from './match.ts';
import { type GroupsPlan, planGroups, type UseValues, useValues } from './plan-groups.ts';

type Schemas = components['schemas'];

/** A category as the document wants it; `category_id` is null when it is to be created. */
export type CategoryRow = Omit<StoredCategory, 'category_id'> & { category_id: number | null };
/** An item as the document wants it; `item_id` is null when it is to be created. */
export type ItemRow = Omit<StoredItem, 'item_id' | 'category_id' | 'modifier_groups'> & {
  item_id: number | null;
  category: Schemas['CategoryReference'];
  modifier_groups: UseValues[];
};

/** The changes that make a menu equal to a document. */
export interface Plan extends GroupsPlan {
  /** Of the prices. */
  currency: string;
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
    hours: hoursOf(content, stored.menu),
  };
  const menuChange = changeOf<Schemas['MenuValues']>(stored.menu, menu);
  return {
    currency: stored.currency,
    menu: menuChange && { ...menuChange, row: menu },
    categories: planCategories(matches.categories, stored),
    items: planItems(matches, stored),
    ...planGroups(matches),
  };
}

/** Whether there is anything to do. */
export function changesAnything({ menu, categories, items, modifier_groups, modifiers }: Plan): boolean {
  const parts = [categories, items, { ...modifier_groups, deleted: [] }, modifiers];
  const counts = parts.flatMap(({ created, updated, deleted }) => [created, updated, deleted]);
  return menu !== null || counts.some((list) => list.length > 0);
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
      hours: hoursOf(sent, old),
      sort_order: positions[index] ?? 0,
    },
  }));
  const found = new Set(matches.map((match) => match.stored));
  return { ...sortOut(rows), deleted: stored.categories.filter((one) => !found.has(one)) };
}

function planItems({ items: matches, groupName }: Matches, stored: StoredMenu): Plan['items'] {
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
    return siblings.map(({ sent, stored: old, uses }, index) => {
      const known = useValues(undefined, old, groupName);
      const category = old && (staysHere(old) ? key : categoryKeys.get(old.category_id));
      const modifier_groups = useValues(uses, old, groupName);
      return {
        old: old && { ...old, category, modifier_groups: known },
        row: { ...itemRow(sent, old), category: key, sort_order: positions[index] ?? 0, modifier_groups },
      };
    });
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
): Omit<ItemRow, 'category' | 'sort_order' | 'modifier_groups'> {
  const nothing = { ...itemDefaults, item_id: null, category_id: null, name: '', price: 0 };
  const { category_id: _, ...kept } = old ?? nothing;
  const { external_id = kept.external_id, name = kept.name, modifier_groups: _uses, ...fields } = sent;
  return {
    ...kept,
    ...fields,
    ...availability(sent, old),
    hours: hoursOf(sent, old),
    external_id,
    name: name.trim(),
  };
}

// A document that does not mention hours keeps them.
function hoursOf({ hours }: { hours?: HoursInput | null }, old: { hours: Hours | null } | undefined) {
  return hours === undefined ? (old?.hours ?? null) : completeHours(hours);
}
