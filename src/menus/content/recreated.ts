/** A record as a document names it. */
export interface Named {
  external_id: string | null;
  name: string;
}

/**
 * Finds the records that a document deletes and creates again under another external_id, as happens when a spreadsheet
 * turns 0012 into 12. They are recognised by an external_id that differs only in leading zeros, letter case or white
 * space, or else by their name. They are in the order of the created ones.
 */
export function recreated<Old extends Named, New extends Named>(
  deleted: Old[],
  created: New[],
): { old: Old; new: New }[] {
  const pairs = new Map<New, Old>();
  const gone = new Set<Old>();
  for (const keyOf of [foldedId, ({ name }: Named) => name]) {
    const waiting = Map.groupBy(
      deleted.filter((one) => !gone.has(one)),
      keyOf,
    );
    // Taken from the end, which is cheap however many are alike.
    for (const alike of waiting.values()) alike.reverse();
    for (const one of created) {
      const key = keyOf(one);
      const old = pairs.has(one) || key === null ? undefined : waiting.get(key)?.pop();
      if (!old) continue;
      pairs.set(one, old);
      gone.add(old);
    }
  }
  return created.flatMap((one) => {
    const old = pairs.get(one);
    return old ? [{ old, new: one }] : [];
  });
}

function foldedId({ external_id }: Named): string | null {
  return external_id === null ? null : external_id.replaceAll(/\s/g, '').replace(/^0+/, '').toLowerCase();
}
