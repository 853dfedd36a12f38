import { type Draw, nameOf, oneOf, pathOf } from './operation.ts';

/** Reads a record, often with If-None-Match and the ETag of an earlier read. */
export function read(kind: string): Draw {
  return (random, known) => {
    const found = oneOf(random, known, kind);
    if (!found) return undefined;
    const path = pathOf(kind, found);
    const kept = random.chance(0.7) ? known.kept.get(path) : undefined;
    return {
      name: `get ${kind}`,
      method: 'GET',
      path,
      ...(kept && { kept, headers: { 'if-none-match': kept.eTag } }),
      target: nameOf(kind, found),
    };
  };
}
