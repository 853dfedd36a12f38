import { type Expression, type RawBuilder, sql } from 'kysely';
import type { Param } from '../db/statement.ts';
import { preconditionFailed } from './errors.ts';

/** True when If-None-Match names the current state (RFC 9110, 13.1.2: weak comparison). */
export function isCurrent(ifNoneMatch: string | undefined, eTag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return (
    ifNoneMatch.trim() === '*' || entityTags(ifNoneMatch).some((tag) => tag.replace(/^W\//, '') === eTag)
  );
}

/** A write whose versions get ETags. */
export interface Stamped {
  /** Random, so that an ETag names this write, and not one that has the same version in another history. */
  stamp: number;
}

/**
 * 31 bits: two writes that gave one record the same version are mistaken for each other with a chance of 1 in 2 × 10⁹.
 */
export function newStamp(): number {
  return Math.floor(Math.random() * 2 ** 31);
}

/** The middle part of an ETag: the version, and the stamp of the write that made it. */
export function stamped(count: Expression<number>, stamp: Expression<number>): RawBuilder<string> {
  return sql`${count} || '-' || to_hex(${stamp})`;
}

/** The parameters of a conditional write. */
export interface IfMatch {
  /** The ETags that are accepted; null: whatever the state is. */
  if_match: string[] | null;
}

/**
 * The ETags that If-Match accepts, for the statement's own `where`; null: whatever the state is.
 * Strong comparison (RFC 9110, 13.1.1), so weak tags match nothing.
 */
export function acceptedETags(ifMatch: string | undefined): string[] | null {
  return ifMatch === undefined || ifMatch.trim() === '*' ? null : entityTags(ifMatch);
}

/** The condition of a write: the row's current ETag is among the accepted ones. */
export function eTagMatches(p: Param<IfMatch>, eTag: Expression<string>): RawBuilder<boolean> {
  const accepted = p('if_match', 'text[]');
  return sql`(${accepted} is null or ${eTag} = any (${accepted}))`;
}

/** @throws 412 when the current ETag is not among the accepted ones. */
export function requireMatch(accepted: string[] | null, eTag: string): void {
  if (accepted && !accepted.includes(eTag)) throw preconditionFailed();
}

/**
 * The row of a conditional write.
 * @param explain throws if there is no such record that the caller may act on.
 * @throws what `explain` throws, or else 412, since the record exists.
 */
export async function requireWritten<Row>(
  rows: readonly Row[],
  explain: () => Promise<unknown>,
): Promise<Row> {
  const [row] = rows;
  if (row) return row;
  await explain();
  throw preconditionFailed();
}

/** The tags that a conditional header names. */
export function entityTags(header: string): string[] {
  return header.match(/(?:W\/)?"[^"]*"/g) ?? [];
}
