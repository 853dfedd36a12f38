import type { Tokens } from './accounts/tokens.ts';
import type { Database } from './db/database.ts';
import type { Seal } from './db/seal.ts';
import type { Attempt, AttemptResult } from './webhooks/delivery/deliver.ts';
import type { Destination } from './webhooks/delivery/destination.ts';

/** What every handler may use; made once at start. */
export interface Context {
  database: Database;
  tokens: Tokens;
  seal: Seal;
  destination: Destination;
  /** Makes one attempt at an endpoint, signed and guarded. */
  send: (attempt: Attempt) => Promise<AttemptResult>;
  /** Tells the relay of this process that an event was committed, so that it need not wait for its next poll. */
  eventCommitted: () => void;
}
