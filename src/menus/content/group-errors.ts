import { isDeepStrictEqual } from 'node:util';
import { ErrorList } from '../../http/errors.ts';
import { type Nesting, nestingErrors } from '../../modifier-groups/nesting.ts';
import { type OwnNumbers, type Rules, unmetByUse, unmetRules } from '../../modifier-groups/rules.ts';
import type { StoredGroup, StoredItem, StoredMenu } from '../stored-menu.ts';
import type { Matches } from './match.ts';
import type { GroupMatch, GroupName, UseMatch } from './match-groups.ts';
import { groupRow } from './plan-groups.ts';

/**
 * Errors in what the import would lead to: rules that could not be met, a group within itself, or too many nested
 * levels. What does not change was checked when it was written, and is not checked again.
 * @param matches without errors
 */
export function groupErrors(matches: Matches, stored: StoredMenu): ErrorList {
  const errors = new ErrorList();
  addUnmet(matches, stored, errors);
  errors.add(...nestingErrors(...nestings(matches, stored)));
  return errors;
}

/** A group as it will be. */
interface Wanted {
  rules: Rules;
  /** The default quantity of each of its modifiers. */
  quantities: number[];
  isChanged: boolean;
}

type Uses = StoredItem['modifier_groups'];

function addUnmet({ groups, items, groupName }: Matches, stored: StoredMenu, errors: ErrorList): void {
  const wanted = new Map(stored.groups.map((one) => [groupName(one.modifier_group_id), unchanged(one)]));
  for (const group of groups) wanted.set(group.name, wantedOf(group));

  const untold = untoldNumbers({ groups, items }, stored);
  for (const { name, pointer } of groups) {
    const { rules, quantities, isChanged } = wanted.get(name) as Wanted;
    if (!isChanged) continue;
    const uses = (untold.get(name.modifier_group_id) ?? []).flatMap((own) =>
      unmetByUse(rules, own, quantities).map((error) => ({
        ...error,
        message: `${error.message}, in a use`,
      })),
    );
    for (const error of [...unmetRules(rules, quantities), ...uses])
      errors.add({ ...error, field: pointer + error.field });
  }
  const users = [...items, ...groups.flatMap(({ modifiers = [] }) => modifiers)];
  for (const { uses = [], stored } of users)
    for (const use of uses) {
      const { rules, quantities, isChanged } = wanted.get(use.group) as Wanted;
      if (!hasNumbers(use) || (!isChanged && isKept(use, stored?.modifier_groups))) continue;
      for (const error of unmetByUse(rules, use, quantities))
        errors.add({ ...error, field: use.pointer + error.field });
    }
}

function unchanged(stored: StoredGroup): Wanted {
  return { rules: stored, quantities: stored.modifiers.map(quantityOf), isChanged: false };
}

function wantedOf({ sent, stored, modifiers }: GroupMatch): Wanted {
  const { min_selections = 0, max_selections = null, max_per_modifier = 1 } = groupRow(sent, stored);
  const rules = { min_selections, max_selections, max_per_modifier };
  const before = stored?.modifiers.map(quantityOf) ?? [];
  const quantities =
    modifiers?.map(({ sent, stored }) => sent.default_quantity ?? stored?.default_quantity ?? 0) ?? before;
  const isKept =
    stored &&
    isDeepStrictEqual(quantities, before) &&
    Object.entries(rules).every(([name, value]) => stored[name as keyof Rules] === value);
  return { rules, quantities, isChanged: !isKept };
}

function quantityOf({ default_quantity }: { default_quantity: number }): number {
  return default_quantity;
}

/** The numbers of uses that the document does not mention, by the ids of their groups. */
function untoldNumbers({ groups, items }: Pick<Matches, 'groups' | 'items'>, stored: StoredMenu) {
  const told = new Set(groups.flatMap((group) => (group.modifiers ? [group.stored] : [])));
  const modifiers = [
    ...stored.groups.filter((group) => !told.has(group)).flatMap((group) => group.modifiers),
    ...untoldUsers(groups.flatMap(({ modifiers = [] }) => modifiers)),
  ];
  const uses = [...untoldUsers(items), ...modifiers].flatMap(({ modifier_groups }) => modifier_groups);
  return Map.groupBy<number | null, Uses[number]>(
    [...stored.otherNumbers, ...uses.filter(hasNumbers)],
    ({ modifier_group_id }) => modifier_group_id,
  );
}

function untoldUsers<User>(users: { uses: UseMatch[] | undefined; stored: User | undefined }[]): User[] {
  return users.flatMap(({ uses, stored }) => (uses || !stored ? [] : [stored]));
}

function hasNumbers({ min_selections, max_selections }: OwnNumbers): boolean {
  return min_selections !== null || max_selections !== null;
}

function isKept({ group, min_selections, max_selections }: UseMatch, before: Uses = []): boolean {
  return before.some(
    (one) =>
      one.modifier_group_id === group.modifier_group_id &&
      one.min_selections === min_selections &&
      one.max_selections === max_selections,
  );
}

type Added = Nesting & { field: string };

/** The nestings that the document adds, and all others that will exist then, each once. */
function nestings({ groups, groupName }: Matches, stored: StoredMenu): [Added[], Nesting[]] {
  const before = new NestingSet();
  for (const group of stored.groups)
    for (const { modifier_groups } of group.modifiers)
      for (const use of modifier_groups)
        before.add(groupName(group.modifier_group_id), groupName(use.modifier_group_id));

  const seen = new NestingSet();
  const added: Added[] = [];
  const others: Nesting[] = [];
  const untold = new Set(stored.groups).difference(
    new Set(groups.flatMap(({ stored, modifiers }) => (stored && modifiers ? [stored] : []))),
  );
  for (const group of untold)
    for (const { modifier_groups } of group.modifiers)
      for (const use of modifier_groups)
        others.push(...seen.add(groupName(group.modifier_group_id), groupName(use.modifier_group_id)));
  for (const { name, modifiers = [] } of groups)
    for (const { uses, stored } of modifiers) {
      for (const { modifier_group_id } of uses ? [] : (stored?.modifier_groups ?? []))
        others.push(...seen.add(name, groupName(modifier_group_id)));
      for (const { group, pointer } of uses ?? [])
        for (const one of seen.add(name, group))
          if (before.has(one)) others.push(one);
          else added.push({ ...one, field: pointer });
    }
  return [added, others];
}

/** Pairs of groups, by the names that they already have. */
class NestingSet {
  readonly #inners = new Map<Nesting['outer'], Set<Nesting['inner']>>();

  /** @returns the nesting, unless it was already in the set */
  add(outside: GroupName, inside: GroupName): Nesting[] {
    const [outer, inner] = [keyOf(outside), keyOf(inside)];
    const inners = this.#inners.get(outer) ?? new Set();
    if (inners.has(inner)) return [];
    this.#inners.set(outer, inners.add(inner));
    return [{ outer, inner }];
  }

  has({ outer, inner }: Nesting): boolean {
    return this.#inners.get(outer)?.has(inner) ?? false;
  }
}

function keyOf({ modifier_group_id, external_id }: GroupName): number | string {
  return modifier_group_id ?? external_id ?? '';
}
