import { isDeepStrictEqual } from 'node:util';
import type { Call, Request } from '../journal.ts';
import { isSameState, recordOf, recordsIn } from '../model.ts';
import { type Check, type Evidence, placeOf, type Violation } from './evidence.ts';

/** Every acknowledged write, and every record in a response, is in the histories. */
export const responsesHold: Check = (evidence) =>
  evidence.journal.calls.flatMap((call) =>
    call.requests.flatMap((request) => [
      ...changesMissing(evidence, call, request),
      ...recordsMissing(evidence, request),
      ...wrongly404(evidence, call, request),
    ]),
  );

function changesMissing({ histories }: Evidence, call: Call, request: Request): Violation[] {
  if (request.outcome !== 'acknowledged') return [];
  const changed = call.operation.changed?.(request.data) ?? [];
  const own = new Set<string | null>(call.requests.map(({ id }) => id));
  return changed
    .filter((record) => !histories.get(record)?.some(({ request_id }) => own.has(request_id)))
    .map((record) => ({
      kind: 'lost',
      rule: 'every acknowledged write is there',
      detail: `${call.operation.name} was acknowledged to ${request.id}`,
      record,
    }));
}

function recordsMissing({ histories }: Evidence, request: Request): Violation[] {
  if (request.outcome !== 'acknowledged') return [];
  return [...recordsIn(request.data)].flatMap(([record, seen]): Violation[] => {
    const step = histories.get(record)?.find(({ version, deletes }) => version === seen.version && !deletes);
    const told = step?.events[0]?.data;
    if (!told)
      return [
        {
          kind: 'lost',
          rule: 'every version that was shown is there',
          detail: `v${seen.version} was shown to ${request.id}`,
          record,
        },
      ];
    if (isSameState(told, seen)) return [];
    return [
      {
        kind: 'wrong',
        rule: 'a response shows what the events tell',
        detail: `${request.id} was shown ${JSON.stringify(seen)}`,
        record,
      },
    ];
  });
}

function wrongly404({ histories }: Evidence, { operation: { target } }: Call, request: Request): Violation[] {
  if (request.status !== 404 || !target || histories.get(target)?.some(({ deletes }) => deletes)) return [];
  const detail = `${request.id} got a 404, and nobody has deleted it`;
  return [{ kind: 'lost', rule: 'every acknowledged write is there', detail, record: target }];
}

/** A keyed call takes effect once, and its repeats get the same response. */
export const keyedCallsOnce: Check = ({ journal, feed }) => {
  const changed = new Map(feed.map((event) => [event.request_id, recordOf(event)]));
  const violation = (call: Call, kind: Violation['kind'], rule: string): Violation => {
    const record = call.requests.map(({ id }) => changed.get(id)).find((one) => one !== undefined);
    const detail = `${call.operation.name}, call ${call.number}`;
    return { kind, rule, detail, ...(record && { record }) };
  };
  return journal.calls
    .filter(({ key }) => key !== null)
    .flatMap((call): Violation[] => {
      const done = call.requests.filter(({ id }) => changed.has(id));
      const [first, ...others] = call.requests.filter(({ outcome }) => outcome === 'acknowledged');
      const differs = others.some(({ data }) => !isDeepStrictEqual(data, first?.data));
      return [
        ...(done.length > 1 ? [violation(call, 'repeated', 'no keyed call takes effect twice')] : []),
        ...(differs ? [violation(call, 'wrong', 'a keyed call gets one response')] : []),
      ];
    });
};

/** A moment between the start and end of a request at which it wrote or read a version. */
interface Use {
  place: number;
  reads: boolean;
  startedAt: number;
  endedAt: number;
  by: string;
}

/** A request sees the effects of every request that ended before it began: each record is linearizable. */
export const realTimeHolds: Check = (evidence) => {
  const reads = readsOf(evidence);
  return [...evidence.histories.keys()].flatMap((record): Violation[] => {
    const uses = [...writesOf(evidence, record), ...(reads.get(record) ?? [])].toSorted(
      (a, b) => a.place - b.place || Number(a.reads) - Number(b.reads) || a.startedAt - b.startedAt,
    );
    let latest: Use | undefined;
    for (const use of uses) {
      if (latest && use.endedAt < latest.startedAt) {
        const detail = `${use.by} had ended before ${latest.by} began, which came first`;
        return [{ kind: 'wrong', rule: 'what has ended is not overtaken', detail, record }];
      }
      if (!latest || use.startedAt > latest.startedAt) latest = use;
    }
    return [];
  });
};

function writesOf({ histories, journal }: Evidence, record: string): Use[] {
  return (histories.get(record) ?? []).flatMap((step) => {
    const cause = step.request_id === null ? undefined : journal.requests.get(step.request_id);
    if (!cause) return [];
    const { request, call } = cause;
    // A repeat under the same key shows that the first call is done.
    const ends = call.requests.filter(({ outcome }) => outcome === 'acknowledged').map((one) => one.endedAt);
    return [
      {
        place: placeOf(step),
        reads: false,
        startedAt: request.startedAt,
        endedAt: Math.min(Number.POSITIVE_INFINITY, ...ends),
        by: request.id,
      },
    ];
  });
}

function readsOf({ journal }: Evidence): Map<string, Use[]> {
  const reads = new Map<string, Use[]>();
  const add = (record: string, place: number, { id, startedAt, endedAt }: Request) => {
    const all = reads.get(record) ?? [];
    all.push({ place, reads: true, startedAt, endedAt, by: id });
    reads.set(record, all);
  };
  for (const { request, call } of journal.requests.values()) {
    const { target } = call.operation;
    if (request.status === 404 && target) add(target, Number.POSITIVE_INFINITY, request);
    // A repeat shows the past.
    if (request.outcome !== 'acknowledged' || request.replayed) continue;
    for (const [record, { version }] of recordsIn(request.data)) add(record, version, request);
  }
  return reads;
}
