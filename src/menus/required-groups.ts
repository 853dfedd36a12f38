/*
 * From when on the modifier groups of a menu can be satisfied, as far as availability decides. What is unavailable
 * returns at a planned time or never, and nothing becomes unavailable automatically. So each modifier can be ordered
 * from some time on, and a group from the time when enough of them are available for its minimum. Instants are Unix
 * milliseconds: -Infinity is always, Infinity never.
 */

/** Why something is unavailable; `until` is null if only a request can make it available again. */
export interface AbsenceRules {
  until: number | null;
  since: string | null;
  by: string | null;
}

export type GroupRules = [
  modifier_group_id: number,
  min_selections: number,
  max_per_modifier: number,
  modifiers: ModifierRules[],
];

export type ModifierRules = [
  modifier_id: number,
  /** Null for one that is available. */
  absence: AbsenceRules | null,
  /** The absence of the item that it stands for. */
  itemAbsence: AbsenceRules | null,
  uses: UseRules[],
];

/** The use of a group; its own minimum overrides that of the group. */
export interface UseRules {
  modifier_group_id: number;
  min_selections: number | null;
}

/** @param groups all that the uses lead to; none contains itself. */
export function createMetFrom(groups: readonly GroupRules[]): (use: UseRules) => number {
  const byId = new Map(groups.map((group) => [group[0], group]));
  const known = new Map<number, Float64Array>();
  return metFrom;

  function metFrom({ modifier_group_id, min_selections }: UseRules): number {
    const group = byId.get(modifier_group_id);
    const [, least, each] = group ?? [0, 0, 1];
    const needed = Math.ceil((min_selections ?? least) / each);
    if (!group || needed === 0) return -Infinity;
    return returnsIn(group)[needed - 1] ?? Infinity;
  }

  /** The times from which its modifiers can be ordered, the earliest first. */
  function returnsIn([id, , , modifiers]: GroupRules): Float64Array {
    const returns =
      known.get(id) ??
      Float64Array.from(modifiers, ([, absence, itemAbsence, uses]) =>
        Math.max(endOf(absence), endOf(itemAbsence), ...uses.map(metFrom)),
      ).sort();
    known.set(id, returns);
    return returns;
  }
}

function endOf(absence: AbsenceRules | null): number {
  return absence ? (absence.until ?? Infinity) : -Infinity;
}
