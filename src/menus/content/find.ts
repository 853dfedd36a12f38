import type { ErrorList } from '../../http/errors.ts';

/** A record of the document and the stored record that it refers to; undefined when it is new. */
export interface Match<Sent, Stored> {
  sent: Sent;
  /** The pointer to it in the body. */
  pointer: string;
  stored: Stored | undefined;
}

/** The objects of a list that may violate its schema, with their places. */
export function records<Sent extends object>(list: Sent[] | undefined): [number, Sent][] {
  if (!Array.isArray(list)) return [];
  return [...list.entries()].filter(([, one]) => typeof one === 'object' && one !== null);
}

/** The kind of record that is looked for. */
interface Kind<Id extends string, Sent, Stored> {
  id: Id;
  /** The stored records to choose from; undefined: only the document is examined. */
  stored: readonly Stored[] | undefined;
  /** What the records are in, for the error about one that is not in it. */
  place: string;
  neededWhenNew: (keyof Sent & string)[];
}

type Named<Id extends string> = { [I in Id]: number } & { external_id: string | null };

/** Returns a function that finds the stored record of a sent one, and collects the errors in its identifiers. */
export function finder<
  Id extends string,
  Sent extends { [I in Id]?: number } & { external_id?: string },
  Stored extends Named<Id>,
>(
  { id, stored, place, neededWhenNew }: Kind<Id, Sent, Stored>,
  errors: ErrorList,
): (sent: Sent, pointer: string) => Stored | undefined {
  const byId = new Map(stored?.map((one): [number, Stored] => [one[id], one]));
  const byExternalId = new Map(stored?.map((one) => [one.external_id, one]));
  const named = new Set<unknown>();

  return (sent, pointer) => {
    const { external_id } = sent;
    const ownId: number | undefined = sent[id];
    const found = ownId === undefined ? byExternalId.get(external_id ?? null) : byId.get(ownId);
    const report = (field: string, code: string, message: string) =>
      errors.add({ field: `${pointer}/${field}`, code, message });

    if (external_id === undefined && ownId === undefined) {
      report('external_id', 'required', `is required when there is no ${id}`);
      return undefined;
    }
    const names = [external_id ?? found?.external_id, ownId, found].filter((name) => name != null);
    if (names.some((name) => named.has(name))) {
      report(ownId === undefined ? 'external_id' : id, 'duplicate', 'appears twice in the document');
      return undefined;
    }
    for (const name of names) named.add(name);
    if (stored && found) {
      const own = found.external_id;
      if (external_id !== undefined && own !== null && own !== external_id)
        report('external_id', 'conflict', 'is not the external_id of this record');
    } else if (stored && ownId !== undefined) {
      report(id, 'not_found', `is not ${place}`);
    } else if (stored) {
      for (const name of neededWhenNew) {
        if (sent[name] === undefined) report(name, 'required', 'is required in a new record');
      }
    }
    return found;
  };
}
