import { isDeepStrictEqual } from 'node:util';

/*
 * The oracle: what an operation does to a record, stated without a database. A history is right when each step of each
 * record follows from the operation that its events name.
 */

export type Fields = Record<string, unknown> & { version: number };

/** An event as the feed shows it. */
export interface ToldEvent {
  id: string;
  type: string;
  timestamp: string;
  data: Fields;
  previous: Record<string, unknown> | null;
  request_id: string | null;
}

/**
 * The record after an operation. `before` is undefined for a new record; the result is undefined when the operation does
 * not concern it. What the service chooses, such as ids and positions, is taken from the event.
 */
export type Effect = (
  record: string,
  before: Fields | undefined,
  told: Fields,
) => object | 'gone' | undefined;

export const kinds = ['location', 'menu', 'category', 'item'] as const;

/** The name of the record that an event is about: 'item:17'. */
export function recordOf({ type, data }: ToldEvent): string {
  const [kind = ''] = type.split('.');
  return `${kind}:${data[`${kind}_id`]}`;
}

export function isDeletion({ type }: ToldEvent): boolean {
  return type.endsWith('.deleted');
}

/** All records in a response, however deep, by name; each without those inside it. */
export function recordsIn(data: unknown): Map<string, Fields> {
  const found = new Map<string, Fields>();
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { categories, items, ...own } = value as Record<string, unknown>;
    const kind = kinds.findLast((one) => `${one}_id` in own);
    // A menu shows the groups that its items use, which are records of the location.
    if (kind === 'menu') delete own['modifier_groups'];
    if (kind && typeof own['version'] === 'number') found.set(`${kind}:${own[`${kind}_id`]}`, own as Fields);
    for (const inner of Object.values(value)) look(inner);
  };
  look(data);
  return found;
}

/**
 * Whether a record in a response matches the one in an event. An item whose absence is over reads as available even
 * before that is stored.
 */
export function isSameState(told: Fields, shown: Fields): boolean {
  return [told, returned(told)].some((one) => isDeepStrictEqual(one, shown));
}

/**
 * Why the events of one change of one record do not follow from an operation; undefined when they do.
 * @param before the record as the change found it stored
 * @param effect that of the operation; null when the service made the change on its own
 */
export function disagreement(
  before: Fields | undefined,
  events: readonly ToldEvent[],
  effect: Effect | null,
): string | undefined {
  const [first] = events;
  if (!first) return undefined;
  const record = recordOf(first);
  const isDue = isBack(before, Date.parse(first.timestamp));
  const found = isDue && before ? [before, returned(before)] : [before];
  const own = effect ?? returnOfItem;
  const reasons = found.flatMap((one) =>
    [own, overAtOnce(own)].map((effect) => stepFault(record, one, events, effect, isDue)),
  );
  return reasons.some((one) => one === undefined) ? undefined : reasons[0];
}

/**
 * The record as stored after a change. A change unrelated to availability shows an item whose absence is over as
 * available, and leaves it to a later change to store that and to report it.
 */
export function storedAfter(before: Fields | undefined, events: readonly ToldEvent[]): Fields | undefined {
  const [first] = events;
  if (!first || isDeletion(first)) return undefined;
  const hasSwitched = before && before['is_available'] !== first.data['is_available'];
  if (!hasSwitched || events.some(({ type }) => type !== 'item.updated')) return first.data;
  const { is_available, unavailable_until, unavailable_since, unavailable_by } = before;
  return { ...first.data, is_available, unavailable_until, unavailable_since, unavailable_by };
}

function stepFault(
  record: string,
  before: Fields | undefined,
  events: readonly ToldEvent[],
  effect: Effect,
  isDue: boolean,
): string | undefined {
  const [first] = events;
  const told = first?.data as Fields;
  const after = effect(record, before, told);
  if (after === undefined) return 'the operation does not do this';
  const expected =
    after === 'gone' ? before : { ...withNotes(before, after, told), version: (before?.version ?? 0) + 1 };
  const differing = Object.keys(told).filter(
    (field) => !chosen.has(field) && !isDeepStrictEqual(told[field], expected?.[field as never]),
  );
  if (differing.length > 0) {
    const wanted = Object.fromEntries(differing.map((field) => [field, expected?.[field as never]]));
    return `its ${differing.join(', ')} should be ${JSON.stringify(wanted)}`;
  }
  const types = events.map(({ type }) => type.split('.')[1]).toSorted();
  const allowed = after === 'gone' ? ['deleted'] : typesOf(before, told);
  if (!isDue && !isDeepStrictEqual(types, allowed)) return `its events should be ${allowed}`;
  const previous = before && after !== 'gone' ? changesOf(before, told) : null;
  const wrong = events.find((one) => !isDeepStrictEqual(one.previous, previous));
  if (wrong && !isDue) return `its previous should be ${JSON.stringify(previous)}`;
  if (events.some(({ data }) => !isDeepStrictEqual(data, told))) return 'its events show different records';
  return undefined;
}

const chosen = new Set(['updated_at', 'created']);

/** Since when an item is unavailable, and through whom: set when it becomes so, kept until it is available. */
function withNotes(before: Fields | undefined, effect: object, told: Fields): object {
  const after = effect as Fields;
  if (!('unavailable_since' in told)) return after;
  if (after['is_available']) return { ...after, unavailable_since: null, unavailable_by: null };
  if (before && !before['is_available']) {
    const { unavailable_since, unavailable_by } = before;
    return { ...after, unavailable_since, unavailable_by };
  }
  const { unavailable_since, unavailable_by } = told;
  return {
    ...after,
    unavailable_since: unavailable_since ?? 'a moment',
    unavailable_by: unavailable_by ?? 'a client',
  };
}

function typesOf(before: Fields | undefined, told: Fields): string[] {
  if (!before) return ['created'];
  const changed = Object.keys(changesOf(before, told));
  const switched = changed.some((field) => field === 'is_available' || field === 'is_active');
  const beside = ['is_available', 'is_active', ...(switched ? ['unavailable_until'] : [])];
  const updated = changed.some((field) => !beside.includes(field));
  return [...(switched ? ['toggled'] : []), ...(updated ? ['updated'] : [])];
}

function changesOf(before: Fields, told: Fields): Record<string, unknown> {
  const changed = Object.keys(told).filter(
    (field) =>
      !['version', 'updated_at', 'unavailable_since', 'unavailable_by'].includes(field) &&
      !isDeepStrictEqual(before[field], told[field]),
  );
  return Object.fromEntries(changed.map((field) => [field, before[field]]));
}

/** Whether the absence of an item is over. */
function isBack(item: Fields | undefined, now: number): boolean {
  const until = item?.['unavailable_until'];
  return typeof until === 'string' && Date.parse(until) <= now;
}

function returned(record: Fields): Fields {
  if (typeof record['unavailable_until'] !== 'string') return record;
  return {
    ...record,
    is_available: true,
    unavailable_until: null,
    unavailable_since: null,
    unavailable_by: null,
  };
}

/** A call may reach the database only after the return that it asks for. */
function overAtOnce(effect: Effect): Effect {
  return (record, before, told) => {
    const after = effect(record, before, told);
    if (after === 'gone' || after === undefined) return after;
    return isBack(after as Fields, Date.parse(String(told['updated_at'])))
      ? returned(after as Fields)
      : after;
  };
}

const returnOfItem: Effect = (record, before, told) =>
  record.startsWith('item:') && before && isBack(before, Date.parse(String(told['updated_at'])))
    ? returned(before)
    : undefined;
