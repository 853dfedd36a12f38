import { ApiError, type FieldError } from '../../http/errors.ts';
import type { StoredText } from '../stored-menu.ts';
import { parseStored } from '../stored-menu.ts';
import { diffOf } from './diff.ts';
import { groupErrors } from './group-errors.ts';
import { type ItemMention, speaksOfGroups } from './match-groups.ts';
import { changesAnything, type ItemRow, type Plan, planImport } from './plan.ts';
import type { ModifierRow, UseValues } from './plan-groups.ts';
import { readDocument, type SentDocument } from './read-document.ts';
import { withDecimals } from './write-json.ts';

/** An import as it was sent. */
export interface SentImport {
  menu_id: number;
  dry_run: boolean;
  body: Uint8Array;
  bodyType: 'application/json' | 'text/csv';
}

/** The result of comparing a document with a menu: errors or edits; without a menu, errors or neither. */
export interface Outcome {
  /** Whether the document is wrong whatever the menu contains. */
  isWrong: boolean;
  errors?: FieldError[];
  edits?: Edits;
  /** Items that must belong to the location, or are errors. */
  mentions: ItemMention[];
  /** How many records were found in the menu. */
  stored: { categories: number; items: number };
}

/** A plan in the form that its statements and the response need: JSON text and ids. */
export interface Edits {
  isEmpty: boolean;
  /** A MenuDiffResponse. */
  diff: string;
  menu: string | undefined;
  categories: { created: string; updated: string; deleted: number[] };
  deletedItems: number[];
  /** Absent when modifier groups and their uses do not change. */
  groups?: GroupEdits;
}

export interface GroupEdits {
  created: string;
  updated: string;
  deletedModifiers: number[];
  /** The groups that change, themselves or in their modifiers. */
  changed: number[];
}

/** The ids of new records of one kind, by their `external_id`. */
export type NewIds = ReadonlyMap<string | null, number>;

/** Rows as JSON, in slices: one statement can write a slice within its time limit. */
export type Slices = string[];

/** The items of a plan, once all categories and groups have ids. */
export interface ItemRows {
  created: Slices;
  updated: Slices;
  /** Existing items, with their uses of groups. */
  uses: Slices;
}

/** The modifiers of a plan, once all items and groups have ids. */
export interface ModifierRows {
  created: Slices;
  updated: Slices;
}

/**
 * The part of an import that is computation; it reads a document once and plans it as often as the menu has changed.
 */
export class Planner {
  readonly #sent: SentImport;
  readonly #document: SentDocument | ApiError;
  #plan: Plan | undefined;

  constructor(sent: SentImport) {
    this.#sent = sent;
    this.#document = orRefusal(() => readDocument(sent.body, sent.bodyType));
  }

  /** @throws 422 for a body that is not a document at all. */
  requireReadable(): void {
    if (this.#document instanceof ApiError) throw this.#document;
  }

  /** Whether it mentions modifier groups. */
  speaksOfGroups(): boolean {
    return !(this.#document instanceof ApiError) && speaksOfGroups(this.#document.content);
  }

  /** @param stored undefined when the caller may not see the menu; then only the document itself is examined. */
  plan(stored: StoredText | undefined): Outcome {
    const document = this.#document;
    if (document instanceof ApiError)
      return { isWrong: true, errors: document.errors ?? [], mentions: [], stored: nothing };
    const { isWrong, content } = document;
    const menu = stored && parseStored(stored);
    const found = menu ? { categories: menu.categories.length, items: menu.items.length } : nothing;
    const matches = document.match(menu);
    const { mentions } = matches;
    if (matches.listed.length > 0) return { isWrong, errors: matches.listed, mentions, stored: found };
    if (!menu) return { isWrong, mentions, stored: found };
    const errors = [...groupErrors(matches, menu)];
    if (errors.length > 0) return { isWrong, errors, mentions, stored: found };
    this.#plan = planImport(content, menu, matches);
    return { isWrong, edits: editsOf(this.#sent, this.#plan), mentions, stored: found };
  }

  /** Of the latest plan. */
  placeItems(categories: NewIds, groups: NewIds): ItemRows {
    const { currency = '', items } = this.#plan ?? {};
    const { created = [], updated = [] } = items ?? {};
    const placed = ({ category, modifier_groups: _, ...row }: ItemRow) => ({
      ...withDecimals(row, currency),
      category_id: category.category_id ?? categories.get(category.external_id),
    });
    const described = updated.filter((change) => Object.keys(change.new).some((name) => name !== usesField));
    return {
      created: slicesOf(created.map((row) => ({ ...placed(row), modifier_groups: placedUses(row, groups) }))),
      updated: slicesOf(described.map(({ row }) => placed(row))),
      uses: slicesOf(
        updated
          .filter((change) => usesField in change.new)
          .map(({ row }) => ({ item_id: row.item_id, modifier_groups: placedUses(row, groups) })),
      ),
    };
  }

  /** Of the latest plan. */
  placeModifiers(items: NewIds, groups: NewIds): ModifierRows {
    const { currency = '', modifiers } = this.#plan ?? {};
    const { created = [], updated = [] } = modifiers ?? {};
    const placed = ({ modifier_group, item, ...row }: ModifierRow) => ({
      ...withDecimals(row, currency),
      modifier_group_id: modifier_group.modifier_group_id ?? groups.get(modifier_group.external_id),
      item_id: item && (item.item_id ?? items.get(item.external_id)),
      modifier_groups: placedUses(row, groups),
    });
    return {
      created: slicesOf(created.map(placed)),
      updated: slicesOf(updated.map(({ row }) => placed(row))),
    };
  }
}

// The largest document takes the database some seconds in total, and many times that beside other work.
const sliceCharacters = 1_000_000;

function slicesOf(rows: object[]): Slices {
  const slices: string[][] = [];
  let room = 0;
  for (const row of rows) {
    const text = JSON.stringify(row);
    room -= text.length;
    if (room < 0) {
      slices.push([]);
      room = sliceCharacters - text.length;
    }
    slices.at(-1)?.push(text);
  }
  return slices.map((texts) => `[${texts.join()}]`);
}

const usesField = 'modifier_groups';

/** As they are stored, with the fields in the order in which setItemModifierGroups writes them. */
function placedUses({ modifier_groups }: { modifier_groups: UseValues[] }, groups: NewIds) {
  return modifier_groups.map(({ modifier_group_id, external_id, min_selections, max_selections }) => ({
    modifier_group_id: modifier_group_id ?? groups.get(external_id),
    min_selections,
    max_selections,
  }));
}

const nothing = { categories: 0, items: 0 };

function editsOf({ menu_id, dry_run }: SentImport, plan: Plan): Edits {
  const { menu, categories, items } = plan;
  const groups = groupEditsOf(plan);
  return {
    isEmpty: !changesAnything(plan),
    diff: JSON.stringify({ data: diffOf(menu_id, dry_run, plan) }),
    menu: menu ? JSON.stringify([{ menu_id, ...menu.row }]) : undefined,
    categories: {
      created: JSON.stringify(categories.created),
      updated: JSON.stringify(categories.updated.map(({ row }) => row)),
      deleted: categories.deleted.map(({ category_id }) => category_id),
    },
    deletedItems: items.deleted.map(({ item_id }) => item_id),
    ...(groups && { groups }),
  };
}

function groupEditsOf({ items, modifier_groups: groups, modifiers }: Plan): GroupEdits | undefined {
  const inside = [
    ...modifiers.created,
    ...modifiers.updated.map(({ row }) => row),
    ...modifiers.deleted,
  ].flatMap(({ modifier_group }) => modifier_group.modifier_group_id ?? []);
  const own = groups.updated.flatMap(({ row }) => row.modifier_group_id ?? []);
  const changed = [...new Set([...own, ...inside])];
  const usesChange =
    items.updated.some((change) => usesField in change.new) ||
    items.created.some(({ modifier_groups }) => modifier_groups.length > 0);
  if (changed.length === 0 && groups.created.length === 0 && !usesChange) return undefined;
  return {
    created: JSON.stringify(groups.created),
    updated: JSON.stringify(groups.updated.map(({ row }) => row)),
    deletedModifiers: modifiers.deleted.map(({ modifier_id }) => modifier_id),
    changed,
  };
}

function orRefusal(read: () => SentDocument): SentDocument | ApiError {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof ApiError) return thrown;
    throw thrown;
  }
}
