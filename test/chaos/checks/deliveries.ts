import { isDeepStrictEqual } from 'node:util';
import { recordOf, type ToldEvent } from '../model.ts';
import { paces } from '../receivers.ts';
import type { Check, Violation } from './evidence.ts';

/** No event is listed twice, and those of each record are listed in order. */
export const feedIsOrderly: Check = ({ feed }) => {
  const seen = new Set<string>();
  const repeated = feed.filter(({ id }) => seen.size === seen.add(id).size);
  return [
    ...repeated.map(
      (event): Violation => ({
        kind: 'repeated',
        rule: 'the feed lists each event once',
        detail: event.id,
        record: recordOf(event),
      }),
    ),
    ...outOfOrder('the feed', feed),
  ];
};

/** A reader that followed the feed received every event, those of each record in order. */
export const followerIsComplete: Check = ({ feed, followed }) => {
  const got = new Set(followed.map(({ id }) => id));
  return [
    ...feed
      .filter(({ id }) => !got.has(id))
      .map(
        (event): Violation => ({
          kind: 'lost',
          rule: 'a reader of the feed gets every event',
          detail: `${event.id} is missing`,
          record: recordOf(event),
        }),
      ),
    ...outOfOrder('a reader of the feed', followed),
  ];
};

/** Each event reached each endpoint: as in the feed, signed, and in order for each record. */
export const deliveriesAreComplete: Check = ({ feed, receivers }) => [
  ...receivers.unsigned.map(
    (detail): Violation => ({ kind: 'wrong', rule: 'every signature is valid', detail }),
  ),
  ...paces.flatMap((pace) => {
    const arrived = receivers.arrived[pace];
    const events = new Map(feed.map((event) => [event.id, event]));
    const unknown = [...arrived.keys()].filter((id) => !events.has(id));
    const inOrder = [...arrived.keys()].flatMap((id) => events.get(id) ?? []);
    return [
      ...unknown.map(
        (id): Violation => ({
          kind: 'wrong',
          rule: 'no event without its write',
          detail: `${id} came to the ${pace} endpoint and is not in the feed`,
        }),
      ),
      ...feed.flatMap((event) => deliveryViolations(pace, event, arrived.get(event.id))),
      ...outOfOrder(`the ${pace} endpoint`, inOrder),
    ];
  }),
];

function deliveryViolations(
  pace: string,
  event: ToldEvent,
  arrival: { body: string; differed: boolean } | undefined,
): Violation[] {
  const record = recordOf(event);
  if (!arrival) {
    const detail = `${event.id} has not come to the ${pace} endpoint`;
    return [{ kind: 'lost', rule: 'each event comes to each endpoint', detail, record }];
  }
  if (!arrival.differed && isDeepStrictEqual(JSON.parse(arrival.body), event)) return [];
  const detail = `${event.id} at the ${pace} endpoint`;
  return [{ kind: 'wrong', rule: 'a delivery is the event, each time the same', detail, record }];
}

function outOfOrder(where: string, events: readonly ToldEvent[]): Violation[] {
  const last = new Map<string, ToldEvent>();
  return events.flatMap((event): Violation[] => {
    const record = recordOf(event);
    const before = last.get(record);
    if (before && before.data.version > event.data.version) {
      const detail = `${where} has v${event.data.version} after v${before.data.version}`;
      return [{ kind: 'wrong', rule: 'events of one record come in their order', detail, record }];
    }
    last.set(record, event);
    return [];
  });
}
