import { hoursErrors } from '../../hours/hours.ts';
import { ErrorList } from '../../http/errors.ts';
import { itemLimit } from '../../items/item.ts';
import { absenceErrors } from '../../records/absence.ts';
import type { StoredCategory, StoredItem, StoredMenu } from '../stored-menu.ts';
import type { CategoryContent, ItemContent, MenuContent } from './document.ts';
import { finder, type Match, records } from './find.ts';
import {
  type GroupMatch,
  type GroupName,
  groupMatcher,
  type ItemMention,
  type ItemName,
  type UseMatch,
} from './match-groups.ts';
import { newPriceErrors } from './new-price.ts';

export type CategoryMatch = Match<CategoryContent, StoredCategory>;
export type ItemMatch = Match<ItemContent, StoredItem> & {
  category: CategoryMatch;
  /** Undefined when the document does not mention them. */
  uses: UseMatch[] | undefined;
};

export interface Matches {
  categories: CategoryMatch[];
  items: ItemMatch[];
  groups: GroupMatch[];
  /** Items outside the menu that modifiers are newly to stand for, to be looked up. */
  mentions: ItemMention[];
  /** By the id of a group that was read, or of any item. */
  groupName: (id: number) => GroupName;
  itemName: (id: number) => ItemName;
  /**
   * Errors that no schema can express, with pointers into the body. If there are none, each stored record has at most
   * one match.
   */
  errors: ErrorList;
}

/**
 * Finds the stored record for each record of the document. The document may violate its schema: whatever can be read
 * is examined, so that all errors of a file are reported at once.
 * @param stored undefined: examines the document alone.
 */
export function matchContent(content: MenuContent, stored: StoredMenu | undefined): Matches {
  const errors = new ErrorList();
  const matcher = groupMatcher(content, stored, errors);
  const findCategory = finder<'category_id', CategoryContent, StoredCategory>(
    { id: 'category_id', stored: stored?.categories, place: 'in this menu', neededWhenNew: ['name'] },
    errors,
  );
  const findItem = finder<'item_id', ItemContent, StoredItem>(
    { id: 'item_id', stored: stored?.items, place: 'in this menu', neededWhenNew: ['name', 'price'] },
    errors,
  );
  errors.add(...hoursErrors(content?.hours, '/data'));
  const categories: CategoryMatch[] = [];
  const items: ItemMatch[] = [];
  for (const [index, sent] of records(content?.categories)) {
    const pointer = `/data/categories/${index}`;
    const category = { sent, pointer, stored: findCategory(sent, pointer) };
    categories.push(category);
    errors.add(...hoursErrors(sent.hours, pointer));
    for (const [index, sent] of records(category.sent.items)) {
      const pointer = `${category.pointer}/items/${index}`;
      const found = findItem(sent, pointer);
      const uses = matcher.matchUses(sent, pointer);
      items.push({ sent, pointer, stored: found, category, uses });
      errors.add(
        ...absenceErrors(sent, pointer),
        ...hoursErrors(sent.hours, pointer),
        ...newPriceErrors(sent, pointer, found, stored?.currency),
      );
    }
  }
  if (items.length > itemLimit) {
    errors.add({
      field: '/data/categories',
      code: 'too_many',
      message: `have ${items.length} items; at most ${itemLimit} are allowed`,
    });
  }
  return { categories, items, ...matcher.matchGroups(items), errors };
}
