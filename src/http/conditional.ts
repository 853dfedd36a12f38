import { type Expression, type RawBuilder, sql } from 'kysely';
import type { Param } from '../db/statement.ts';
import { preconditionFailed } from './errors.ts';

/** True when If-None-Match names the current state (RFC 9110, 13.1.2: weak comparison). */
export function isCurrent(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return (
    ifNoneMatch.trim() === '*' || entityTags(ifNoneMatch).some((tag) => tag.replace(/^W\//, '') === etag)
  );
}

/**
 * The tags that If-Match accepts, for the statement's own `where`; null: whatever the state is.
 * Strong comparison (RFC 9110, 13.1.1), so weak tags match nothing.
 */
export function acceptedTags(ifMatch: string | undefined): string[] | null {
  return ifMatch === undefined || ifMatch.trim() === '*' ? null : entityTags(ifMatch);
}

/** The condition of a write: the row's current tag is among the accepted ones. */
export function tagMatches(
  p: Param<{ if_match: string[] | null }>,
  etag: Expression<string>,
): RawBuilder<boolean> {
  const accepted = p('if_match', 'text[]');
  return sql`(${accepted} is null or ${etag} = any (${accepted}))`;
}

/** @throws 412 when the current tag is not among the accepted ones. */
export function requireMatch(accepted: string[] | null, etag: string): void {
  if (accepted && !accepted.includes(etag)) throw preconditionFailed();
}

function entityTags(header: string): string[] {
  return header.match(/(?:W\/)?"[^"]*"/g) ?? [];
}
