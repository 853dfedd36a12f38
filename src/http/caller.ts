import type { Scope } from './scopes.ts';

/** Who makes a call, and what it may do. */
export interface Caller {
  accountId: number;
  clientId: string;
  scopes: ReadonlySet<Scope>;
  /** The locations it may act on; null: every location of the account. */
  locationIds: number[] | null;
}
