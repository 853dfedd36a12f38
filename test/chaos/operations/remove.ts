import { type Draw, nameOf, pathOf } from './operation.ts';

/** Deletes a record of a kind with everything in it, as long as more than `least` are left. */
export function remove(kind: string, { least }: { least: number }): Draw {
  return (random, known) => {
    const all = known.all(kind);
    if (all.length <= least) return undefined;
    const found = random.pick(all);
    const target = nameOf(kind, found);
    const id = found[`${kind}_id`];
    return {
      name: `delete ${kind}`,
      method: 'DELETE',
      path: pathOf(kind, found),
      target,
      effect: (record, before) => {
        const isInside = kind !== 'location' && before?.[`${kind}_id`] === id;
        return before && (record === target || isInside) ? 'gone' : undefined;
      },
      changed: () => [target],
    };
  };
}
