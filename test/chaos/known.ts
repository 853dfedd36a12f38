import { type Fields, recordsIn } from './model.ts';

/** A body that a client read, with its ETag. */
export interface Kept {
  eTag: string;
  data: unknown;
}

/** The records that clients believe to exist, from the last responses. If they are wrong, the service says so. */
export class Known {
  readonly #records = new Map<string, Fields>();
  /** By path. */
  readonly kept = new Map<string, Kept>();
  /** ETags from responses about single records, each with the version it stands for. */
  readonly tags = new Map<string, { eTag: string; version: number }>();

  learn(data: unknown): void {
    for (const [record, fields] of recordsIn(data)) {
      if (fields.version >= (this.#records.get(record)?.version ?? 0)) this.#records.set(record, fields);
    }
  }

  /** Forgets a record and all that is inside it. */
  forget(record: string): void {
    const [kind, id] = record.split(':');
    this.#records.delete(record);
    if (kind === 'item') return;
    for (const [inner, fields] of this.#records)
      if (fields[`${kind}_id`] === Number(id)) this.#records.delete(inner);
  }

  get(record: string): Fields | undefined {
    return this.#records.get(record);
  }

  /** All of a kind; inside a menu, when that is given. */
  all(kind: string, menuId?: number): Fields[] {
    return [...this.#records]
      .filter(([record, { menu_id }]) => record.startsWith(`${kind}:`) && (menuId ?? menu_id) === menu_id)
      .map(([, fields]) => fields);
  }
}
