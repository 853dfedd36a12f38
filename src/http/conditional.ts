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

/** What the statement of a conditional write is asked for. */
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
 * @param explain throws when there is no such record that the caller may act on.
 * @throws what `explain` throws, or 412, since the record is there.
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

function entityTags(header: string): string[] {
  return header.match(/(?:W\/)?"[^"]*"/g) ?? [];
}
