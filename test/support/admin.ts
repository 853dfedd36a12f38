import type { Test } from 'tap';
import { type Outcome, runToEnd } from './process.ts';

/** Runs the operator's command to its end. */
export function admin(t: Test, env: Record<string, string>, ...args: string[]): Promise<Outcome> {
  return runToEnd(t, env, [process.execPath, 'scripts/admin.ts', ...args]);
}

/** Runs a command that must succeed and print nothing but JSON. @returns the JSON, parsed */
export async function done(t: Test, env: Record<string, string>, ...args: string[]) {
  const outcome = await admin(t, env, ...args);
  t.equal(outcome.stderr, '');
  t.equal(outcome.ended, 0);
  t.match(outcome.stdout, /^[{[].*\n$/);
  return JSON.parse(outcome.stdout);
}
