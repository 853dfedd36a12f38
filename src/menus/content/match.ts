import type { FieldError } from '../../http/errors.ts';
import { absenceFaults } from '../../items/availability.ts';
import type { CategoryContent, ItemContent, MenuContent } from './document.ts';
import type { StoredCategory, StoredItem, StoredMenu } from './stored.ts';

/** A record of the document and the stored record that it speaks of; undefined when it is new. */
export interface Match<Given, Stored> {
  given: Given;
  /** Where it stands in the body. */
  pointer: string;
  stored: Stored | undefined;
}

export type CategoryMatch = Match<CategoryContent, StoredCategory>;
export type ItemMatch = Match<ItemContent, StoredItem> & { category: CategoryMatch };

export interface Matches {
  categories: CategoryMatch[];
  items: ItemMatch[];
  /** What a schema cannot say, with pointers into the body. Without any, each stored record has one match at most. */
  faults: FieldError[];
}

// Over all categories.
const itemLimit = 10_000;

/**
 * Finds the stored record of each record of the document. The document may break its schema: what can be read is
 * looked at, so that all faults of a file are known at once.
 * @param stored undefined: looks at the document alone.
 */
export function matchContent(content: MenuContent, stored: StoredMenu | undefined): Matches {
  const faults: FieldError[] = [];
  const findCategory = finder<'category_id', CategoryContent, StoredCategory>(
    'category_id',
    stored?.categories,
    ['name'],
    faults,
  );
  const findItem = finder<'item_id', ItemContent, StoredItem>(
    'item_id',
    stored?.items,
    ['name', 'price'],
    faults,
  );
  const categories: CategoryMatch[] = [];
  const items: ItemMatch[] = [];
  for (const [index, given] of records(content?.categories)) {
    const pointer = `/data/categories/${index}`;
    const category = { given, pointer, stored: findCategory(given, pointer) };
    categories.push(category);
    for (const [index, given] of records(category.given.items)) {
      const pointer = `${category.pointer}/items/${index}`;
      items.push({ given, pointer, stored: findItem(given, pointer), category });
      faults.push(...absenceFaults(given, pointer));
    }
  }
  if (items.length > itemLimit) {
    faults.push({
      field: '/data/categories',
      code: 'too_many',
      message: `have ${items.length} items; at most ${itemLimit} are allowed`,
    });
  }
  return { categories, items, faults };
}

function records<Given extends object>(list: Given[]): [number, Given][] {
  if (!Array.isArray(list)) return [];
  return [...list.entries()].filter(([, one]) => typeof one === 'object' && one !== null);
}

type Named<Id extends string> = { [I in Id]: number } & { external_id: string | null };

/** Gives the function that finds the stored record of a given one, and collects what is wrong with its names. */
function finder<
  Id extends 'category_id' | 'item_id',
  Given extends { [I in Id]?: number } & { external_id?: string },
  Stored extends Named<Id>,
>(
  id: Id,
  stored: Stored[] | undefined,
  neededWhenNew: (keyof Given & string)[],
  faults: FieldError[],
): (given: Given, pointer: string) => Stored | undefined {
  const byId = new Map(stored?.map((one): [number, Stored] => [one[id], one]));
  const byExternalId = new Map(stored?.map((one) => [one.external_id, one]));
  const named = new Set<unknown>();

  return (given, pointer) => {
    const { external_id } = given;
    const ownId: number | undefined = given[id];
    const found = ownId === undefined ? byExternalId.get(external_id ?? null) : byId.get(ownId);
    const fault = (field: string, code: string, message: string) =>
      faults.push({ field: `${pointer}/${field}`, code, message });

    if (external_id === undefined && ownId === undefined) {
      fault('external_id', 'required', `is required when there is no ${id}`);
      return undefined;
    }
    const names = [external_id ?? found?.external_id, ownId, found].filter((name) => name != null);
    if (names.some((name) => named.has(name))) {
      fault(ownId === undefined ? 'external_id' : id, 'duplicate', 'appears twice in the document');
      return undefined;
    }
    for (const name of names) named.add(name);
    if (stored && found) {
      const own = found.external_id;
      if (external_id !== undefined && own !== null && own !== external_id)
        fault('external_id', 'conflict', 'is not the external_id of this record');
    } else if (stored && ownId !== undefined) {
      fault(id, 'not_found', 'is not in this menu');
    } else if (stored) {
      for (const name of neededWhenNew) {
        if (given[name] === undefined) fault(name, 'required', 'is required in a new record');
      }
    }
    return found;
  };
}
