import type { Journal } from '../journal.ts';
import { type Fields, isDeletion, recordOf, type ToldEvent } from '../model.ts';
import type { Receivers } from '../receivers.ts';

/** The state found once everything had come to rest. */
export interface Evidence {
  journal: Journal;
  /** The whole feed. */
  feed: readonly ToldEvent[];
  /** What a reader of the feed received in the meantime, in order. */
  followed: readonly ToldEvent[];
  /** Every record that the API shows. */
  shown: ReadonlyMap<string, Fields>;
  receivers: Receivers;
  histories: Histories;
}

/** A rule that was broken. */
export interface Violation {
  /** A write or an event is lost, repeated, or wrong. */
  kind: 'lost' | 'repeated' | 'wrong';
  rule: string;
  detail: string;
  /** The record whose history explains it. */
  record?: string;
}

export type Check = (evidence: Evidence) => Violation[];

/** One change of a record, with its events. */
export interface Step {
  version: number;
  deletes: boolean;
  request_id: string | null;
  events: ToldEvent[];
}

/** The steps of every record, by version. */
export type Histories = ReadonlyMap<string, readonly Step[]>;

export function historiesOf(feed: readonly ToldEvent[]): Histories {
  const histories = new Map<string, Step[]>();
  for (const event of feed) {
    const record = recordOf(event);
    const steps = histories.get(record) ?? [];
    histories.set(record, steps);
    const { version } = event.data;
    const deletes = isDeletion(event);
    const { request_id } = event;
    const same = steps.find((one) => one.version === version && one.deletes === deletes);
    if (same && same.request_id === request_id) same.events.push(event);
    else steps.push({ version, deletes, request_id, events: [event] });
  }
  for (const steps of histories.values()) steps.sort((a, b) => placeOf(a) - placeOf(b));
  return histories;
}

/** A deletion keeps the last version of the record. */
export function placeOf({ version, deletes }: Pick<Step, 'version' | 'deletes'>): number {
  return deletes ? version + 0.5 : version;
}
