import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { tooManyKeys } from './errors.ts';

/** What one client may store under its keys. */
export interface KeptResponses {
  /** @throws 429 when the client has too many keys of the last 24 hours, or their responses are too large in total. */
  requireRoom(database: Database, clientId: string): Promise<void>;
  /** One more is stored. */
  added(clientId: string, bytes: number): void;
}

/** How long a key counts. */
export const lifetime = sql`interval '24 hours'`;

// A count reads each key of the client in an index, so one far below the limit is relied on for longer.
const trustMs = 10 * 60_000;
const trustNearMs = 5_000;

/**
 * Limits how much a client can make the database store. A call beyond the limit is refused before it does anything: if
 * an old key were deleted instead, a repeat of its call could take effect a second time. Each process counts what the
 * client has stored, then adds what it stores itself; what other processes add shows at the next count, so the limit
 * may be exceeded by that much.
 */
export function createKeptResponses({
  keys = 250_000,
  megabytes = 256,
}: {
  keys?: number;
  megabytes?: number;
}): KeptResponses {
  const known = new Map<string, Use>();
  const maxBytes = megabytes * 1024 * 1024;
  const fullness = (count: Count, added: Use['added']) =>
    Math.max((count.keys + added.keys) / keys, (count.bytes + added.bytes) / maxBytes);

  async function isCurrent({ counted, at, added }: Use): Promise<boolean> {
    const full = fullness(await counted, added);
    if (performance.now() - at > (full < 0.5 ? trustMs : trustNearMs)) return false;
    // Only a fresh count leads to a refusal, since it says when there will be room.
    return full < 1 || added.keys === 0;
  }

  function begin(database: Database, clientId: string): Use {
    if (known.size > 10_000) known.clear();
    const counted = count(database, clientId);
    counted.catch(() => known.delete(clientId));
    const use = { counted, at: performance.now(), added: { keys: 0, bytes: 0 } };
    known.set(clientId, use);
    return use;
  }

  return {
    async requireRoom(database, clientId) {
      let use = known.get(clientId);
      if (!use || !(await isCurrent(use))) {
        // Concurrent calls share a count.
        const newer = known.get(clientId);
        use = newer && newer !== use ? newer : begin(database, clientId);
      }
      const total = await use.counted;
      if (fullness(total, use.added) >= 1)
        throw tooManyKeys(Math.max(1, Math.ceil(total.oldest_ends_in ?? 1)));
    },
    added(clientId, bytes) {
      const { added } = known.get(clientId) ?? {};
      if (!added) return;
      added.keys += 1;
      added.bytes += bytes;
    },
  };
}

interface Use {
  counted: Promise<Count>;
  at: number;
  /** What this process has added since the count. */
  added: { keys: number; bytes: number };
}

interface Count {
  keys: number;
  bytes: number;
  /** In seconds; null if there is none. */
  oldest_ends_in: number | null;
}

async function count(database: Database, client_id: string): Promise<Count> {
  const [counted] = await countKeys(database, { client_id });
  if (!counted) throw new Error('a count returned no row');
  return counted;
}

const countKeys = statement('idempotency.count', (p: Param<{ client_id: string }>) =>
  build
    .selectFrom('idempotency_key')
    .select([
      sql<number>`count(*)`.as('keys'),
      sql<number>`coalesce(sum(bytes), 0)`.as('bytes'),
      sql<number | null>`extract(epoch from min(created_at) + ${lifetime} - now())`.as('oldest_ends_in'),
    ])
    .where('client_id', '=', p('client_id', 'text'))
    .where('created_at', '>', sql<Date>`now() - ${lifetime}`),
);
