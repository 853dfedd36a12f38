import type pg from 'pg';
import { lastCell } from '../../src/db/cell-numbers.ts';
import type { Database } from '../../src/db/database.ts';
import type { Seal } from '../../src/db/seal.ts';
import { allScopes, isScope, type Scope } from '../../src/http/scopes.ts';
import type { Config } from '../../src/process/config.ts';

/** An invalid command line; the message is one line that names the fix. */
export class UsageError extends Error {}

/** All options; a command names those that it accepts. */
export interface Options {
  account?: string;
  client?: string;
  scopes?: string;
  locations?: string;
  overlap?: string;
  revoke?: boolean;
  cell?: string;
  back?: boolean;
}

export interface Command {
  options: (keyof Options)[];
  /** The name of its argument; absent: it has none. */
  argument?: string;
  /** Checks the command line and returns the work to do. */
  prepare(options: Options, argument: string): Work;
}

/** Works on the database of the service. @returns what to print as JSON */
export type Work = (database: Database, context: Context) => Promise<unknown>;

export interface Context {
  config: Config;
  /** Of the database. */
  connection: pg.PoolConfig;
  /** The seal of the service. @throws when its keys are not available */
  openSeal(): Seal;
}

/** Reports what takes long or is unusual, in one line. */
export function say(line: string): void {
  console.error(`admin: ${line}`);
}

/** `a,b`. @throws UsageError */
export function readScopes(list: string): Scope[] {
  const scopes = list.split(',').map((scope) => scope.trim());
  const unknown = scopes.find((scope) => !isScope(scope));
  if (unknown !== undefined) {
    throw new UsageError(`there is no scope "${unknown}"; --scopes takes ${allScopes.join(',')}`);
  }
  return [...new Set(scopes)] as Scope[];
}

/** An id that HTTP Basic, forms and logs need not encode. @throws UsageError */
export function readNewClientId(id: string): string {
  if (/^[A-Za-z0-9._-]{1,128}$/.test(id)) return id;
  throw new UsageError(`--client takes letters, digits, dots, hyphens and underscores, not "${id}"`);
}

/** `1,2`; null for `all`. @throws UsageError */
export function readLocations(list: string): number[] | null {
  if (list === 'all') return null;
  const ids = list.split(',').map((text) => (/^ *[1-9]\d{0,15} *$/.test(text) ? Number(text) : Number.NaN));
  if (!ids.every(Number.isSafeInteger)) {
    throw new UsageError(`--locations takes ids such as 1,2, not "${list}", or all`);
  }
  return [...new Set(ids)];
}

const secondsOf: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 };
const longestOverlap = 30 * 86_400;

/** `24h`, in seconds. @throws UsageError */
export function readOverlap(text: string): number {
  const time = /^(?:0|(\d{1,7})([smhd]))$/.exec(text);
  const seconds = time ? Number(time[1] ?? 0) * (secondsOf[time[2] ?? 's'] as number) : Number.NaN;
  if (!(seconds <= longestOverlap)) {
    throw new UsageError(`--overlap takes a time such as 24h, 30m or 0, at most 30d, not "${text}"`);
  }
  return seconds;
}

/** A number of a cell. @throws UsageError */
export function readCell(text: string): number {
  const number = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (number <= lastCell) return number;
  throw new UsageError(`--cell takes a number from 0 to ${lastCell}, not "${text}"`);
}
