import { deliveriesAreComplete, feedIsOrderly, followerIsComplete } from './checks/deliveries.ts';
import type { Check, Evidence, Violation } from './checks/evidence.ts';
import { keyedCallsOnce, realTimeHolds, responsesHold } from './checks/responses.ts';
import { statesAgree, stepsFollow } from './checks/steps.ts';
import { inWords } from './journal.ts';
import { recordsIn } from './model.ts';

/** Every rule. A new one gets its line here. */
const checks: readonly Check[] = [
  ({ journal }) => journal.mishaps.map((one) => ({ kind: 'wrong', ...one })),
  stepsFollow,
  statesAgree,
  responsesHold,
  keyedCallsOnce,
  realTimeHolds,
  feedIsOrderly,
  followerIsComplete,
  deliveriesAreComplete,
];

/** The rules that were broken. */
export function violationsIn(evidence: Evidence): Violation[] {
  return checks.flatMap((check) => check(evidence));
}

/** Everything known about a record, in readable lines: its events, and the calls that concerned it. */
export function historyOf({ histories, journal, shown }: Evidence, record: string): string[] {
  const steps = histories.get(record) ?? [];
  const causes = new Set(steps.map(({ request_id }) => request_id));
  const calls = journal.calls.filter(
    ({ operation, requests }) =>
      operation.target === record ||
      requests.some(
        ({ id, data, outcome }) =>
          causes.has(id) || (outcome === 'acknowledged' && recordsIn(data).has(record)),
      ),
  );
  return [
    ...steps.flatMap(({ events }) =>
      events.map(
        ({ id, type, timestamp, data, request_id }) =>
          `${timestamp} ${id} ${type} by ${request_id} ${JSON.stringify(data)}`,
      ),
    ),
    `at the end: ${JSON.stringify(shown.get(record) ?? null)}`,
    ...calls.map(inWords),
  ];
}
