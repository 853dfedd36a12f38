import type { Violation } from './checks/evidence.ts';
import { faults } from './faults.ts';
import type { Round } from './round.ts';

const mostExplained = 5;
const mostLines = 60;

/** A round as a line of progress. */
export function inOneLine(round: Round, seed: number): string {
  const { fault, acknowledged, unknown, events, slowestSeconds, violations } = round;
  const verdict = violations.length === 0 ? 'ok' : `${violations.length} VIOLATIONS`;
  return (
    `seed ${seed}  ${fault.padEnd(24)} ${String(acknowledged).padStart(5)} acknowledged ` +
    `${String(unknown).padStart(4)} unknown ${String(events).padStart(5)} events  ` +
    `ready in ${slowestSeconds.toFixed(1)} s  ${verdict}`
  );
}

/** Which rules were broken, and the histories of the records that broke them. */
export function* explanation({ violations, histories }: Round, seed: number): Generator<string> {
  yield `run it again with SEED=${seed}`;
  const told = new Set<string>();
  for (const { kind, rule, detail, record = '' } of violations.slice(0, mostExplained)) {
    yield `${kind}: "${rule}" is broken${record && ` by ${record}`}: ${detail}`;
    const lines = told.has(record) ? [] : (histories.get(record) ?? []);
    told.add(record);
    for (const line of lines.slice(-mostLines)) yield `    ${line}`;
  }
  const left = violations.length - mostExplained;
  if (left > 0) yield `and ${left} more`;
}

/** The table for docs/operations.md: fault × rounds × lost, repeated, wrong. */
export function table(rounds: readonly Round[]): string {
  const rows = [...faults.embedded, ...faults.external].flatMap(({ name, about }) => {
    const own = rounds.filter(({ fault }) => fault === name);
    return own.length > 0 ? [rowOf(`${name}: ${about}`, own)] : [];
  });
  const head = [
    'fault',
    'rounds',
    'acknowledged',
    'unknown',
    'events',
    'lost',
    'repeated',
    'wrong',
    'slowest start or recovery, s',
  ];
  const all = [head, ['---', ...head.slice(1).map(() => '---:')], ...rows, rowOf('all', rounds)];
  return all.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function rowOf(title: string, rounds: readonly Round[]): string[] {
  const sum = (of: (round: Round) => number) => rounds.reduce((total, one) => total + of(one), 0);
  const violations = (kind: Violation['kind']) =>
    sum((round) => round.violations.filter((one) => one.kind === kind).length);
  const counts = [
    rounds.length,
    sum(({ acknowledged }) => acknowledged),
    sum(({ unknown }) => unknown),
    sum(({ events }) => events),
    violations('lost'),
    violations('repeated'),
    violations('wrong'),
  ];
  const slowest = Math.max(0, ...rounds.map(({ slowestSeconds }) => slowestSeconds));
  return [title, ...counts.map((count) => count.toLocaleString('en')), slowest.toFixed(1)];
}
