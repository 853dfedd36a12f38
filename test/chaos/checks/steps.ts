import { disagreement, type Fields, isSameState, storedAfter } from '../model.ts';
import type { Check, Evidence, Step, Violation } from './evidence.ts';

/** Each record changed step by step, each step caused by one request, as the model says. */
export const stepsFollow: Check = (evidence) =>
  [...evidence.histories].flatMap(([record, steps]) => {
    let stored: Fields | undefined;
    return steps.flatMap((step, index) => {
      const before = stored;
      stored = storedAfter(before, step.events);
      return stepViolations(evidence, record, steps[index - 1], before, step);
    });
  });

function stepViolations(
  { journal }: Evidence,
  record: string,
  last: Step | undefined,
  before: Fields | undefined,
  step: Step,
): Violation[] {
  const { version, deletes, request_id, events } = step;
  const change = `${events.map(({ type }) => type)} v${version} by ${request_id}`;
  const violation = (kind: Violation['kind'], rule: string, detail: string) => [
    { kind, rule, detail, record },
  ];
  const types = events.map(({ type }) => type);
  if (new Set(types).size < types.length)
    return violation('repeated', 'exactly one event for each change', change);
  const due = deletes ? last?.version : (last?.version ?? 0) + 1;
  if (version === last?.version && !deletes)
    return violation('repeated', 'one change for each version', `${change}, and by ${last.request_id}`);
  if (version !== due || last?.deletes)
    return violation('lost', 'an event for each version', `${change} follows version ${last?.version ?? 0}`);
  const cause = request_id === null ? null : journal.requests.get(request_id);
  if (cause === undefined)
    return violation('wrong', 'no event without its write', `${change}: no such request`);
  if (cause?.request.outcome === 'refused')
    return violation('wrong', 'no event without its write', `${change} was refused`);
  const effect = cause === null ? null : (cause.call.operation.effect ?? (() => undefined));
  const reason = disagreement(before, events, effect);
  return reason
    ? violation('wrong', 'each change is what its request asked for', `${change}: ${reason}`)
    : [];
}

/** What the API shows at the end is the end of the histories. */
export const statesAgree: Check = ({ histories, shown }) => {
  const records = new Set([...histories.keys(), ...shown.keys()]);
  return [...records].flatMap((record): Violation[] => {
    const last = histories.get(record)?.at(-1);
    const told = last?.deletes ? undefined : last?.events[0]?.data;
    const seen = shown.get(record);
    if (!seen && !told) return [];
    const violation = (kind: Violation['kind'], rule: string, detail: string) => [
      { kind, rule, detail, record },
    ];
    if (!told) return violation('lost', 'no write without its event', `v${seen?.version} has none`);
    if (!seen) return violation('wrong', 'no event without its write', `v${told.version} is not there`);
    if (seen.version > told.version)
      return violation('lost', 'no write without its event', `v${seen.version} has none`);
    if (isSameState(told, seen)) return [];
    return violation('wrong', 'a record is as its last event says', `it is ${JSON.stringify(seen)}`);
  });
};
