/**
 * A POST with an Idempotency-Key takes effect once (draft-ietf-httpapi-idempotency-key-header).
 *
 * The change, its events and its response are one transaction, so a crash leaves all of them or none. Only requests
 * with a key bear this cost. The primary key of idempotency_key decides which request was first; the advisory lock
 * only shows that the first is in progress, so that a repeat gets its 409 at once instead of waiting.
 *
 * The response of the operation itself is stored, including refusals. Not stored are responses sent before the
 * operation began, failures on our side, and requests to try again (409, 429): nothing was done, and a repeat is a
 * new attempt.
 */
import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { CompiledQuery, sql } from 'kysely';
import { type OperationId, operations } from '../../generated/operations.ts';
import type { Database } from '../db/database.ts';
import type { Seal } from '../db/seal.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { ApiError, idempotencyConflict, parameterError } from './errors.ts';
import { type KeptResponses, lifetime } from './kept-responses.ts';
import { refusal } from './problem.ts';
import { closeResponse, type OperationResponse, openResponse } from './stored-response.ts';

/** Which repeats are the same call: those of one client, to one path, with one key. */
interface CallKey {
  account_id: number;
  client_id: string;
  path: string;
  key: string;
}

export type KeyedRequest = CallKey & { body_hash: Buffer };

/** What identifies repeats of the request; undefined when it has no key or the operation accepts none. */
export function keyedRequest(
  operationId: OperationId,
  { caller, headers, params, body }: FastifyRequest,
): KeyedRequest | undefined {
  const { method, path, writes } = operations[operationId];
  const key = headers['idempotency-key'];
  if (method !== 'POST' || !writes || !caller || typeof key !== 'string') return undefined;
  return {
    account_id: caller.accountId,
    client_id: caller.clientId,
    path: path.replaceAll(/{(\w+)}/g, (_, name: string) => String((params as Record<string, number>)[name])),
    key,
    body_hash: createHash('sha256')
      .update(JSON.stringify(body ?? null))
      .digest(),
  };
}

interface Parts {
  database: Database;
  seal: Seal;
  kept: KeptResponses;
}

/**
 * Performs the call, or returns the response of its first execution.
 * @param perform does the work in the given transaction.
 * @throws 409 while the first is in progress, 422 if it had a different body, 429 if the client stores too much, and
 *   whatever the call throws.
 */
export async function respondOnce(
  parts: Parts,
  request: KeyedRequest,
  perform: (transaction: Database) => Promise<OperationResponse>,
): Promise<OperationResponse> {
  for (;;) {
    const [stored] = await selectStored(parts.database, request);
    if (stored) {
      if (!stored.body_hash.equals(request.body_hash)) throw reused();
      return openResponse(parts.seal, stored.sealed_answer);
    }
    await parts.kept.requireRoom(parts.database, request.client_id);
    const outcome = await performAndStore(parts, request, perform);
    if (outcome instanceof ApiError) throw outcome;
    if (outcome) return outcome;
  }
}

/**
 * Removes a batch of expired keys.
 * @returns how many were removed; there may be more.
 */
export async function removeOldKeys(database: Database, batch = 1000): Promise<number> {
  const removed = await removeOld(database, { batch });
  return removed.length;
}

/** Undefined if another request was faster: its response is stored now, and nothing was done here. */
async function performAndStore(
  { database, seal, kept }: Parts,
  request: KeyedRequest,
  perform: (transaction: Database) => Promise<OperationResponse>,
): Promise<OperationResponse | ApiError | undefined> {
  let bytes = 0;
  const work = database.transaction().execute(async (transaction) => {
    const [lock] = await tryLock(transaction, request);
    if (!lock?.obtained) throw idempotencyConflict();
    const outcome = await outcomeOf(transaction, () => perform(transaction));
    const sealed_answer = await closeResponse(seal, outcome);
    bytes = sealed_answer.length;
    const [inserted] = await store(transaction, { ...request, sealed_answer });
    if (!inserted) throw new Overtaken();
    return outcome;
  });
  try {
    const outcome = await work;
    kept.added(request.client_id, bytes);
    return outcome;
  } catch (error) {
    if (error instanceof Overtaken) return undefined;
    throw error;
  }
}

class Overtaken extends Error {}

// A failed statement would abort the transaction, in which its refusal is to be stored.
async function outcomeOf(
  transaction: Database,
  perform: () => Promise<OperationResponse>,
): Promise<OperationResponse | ApiError> {
  await transaction.executeQuery(CompiledQuery.raw('savepoint performance'));
  try {
    return await perform();
  } catch (thrown) {
    const refused = refusal(thrown);
    if (!refused || [409, 429].includes(refused.status)) throw thrown;
    await transaction.executeQuery(CompiledQuery.raw('rollback to savepoint performance'));
    return refused;
  }
}

function reused(): ApiError {
  const message = 'was sent before with a different body';
  return parameterError([{ field: 'idempotency-key', code: 'reused', message }]);
}

const selectStored = statement('idempotency.select', (p: Param<CallKey>) =>
  build
    .selectFrom('idempotency_key')
    .select(['body_hash', 'sealed_answer'])
    .where('client_id', '=', p('client_id', 'text'))
    .where('path', '=', p('path', 'text'))
    .where('key', '=', p('key', 'text'))
    .where('account_id', '=', p('account_id', 'bigint'))
    .where('created_at', '>', sql<Date>`now() - ${lifetime}`),
);

const tryLock = statement('idempotency.lock', (p: Param<CallKey>) => {
  const id = sql`concat_ws(' ', ${p('client_id', 'text')}, ${p('path', 'text')}, ${p('key', 'text')})`;
  return build.selectNoFrom(
    sql<boolean>`pg_try_advisory_xact_lock(hashtextextended(${id}, 0))`.as('obtained'),
  );
});

// An expired key may still be stored, and is replaced.
const store = statement('idempotency.store', (p: Param<KeyedRequest & { sealed_answer: Buffer }>) =>
  build
    .insertInto('idempotency_key')
    .values({
      client_id: p('client_id', 'text'),
      account_id: p('account_id', 'bigint'),
      path: p('path', 'text'),
      key: p('key', 'text'),
      body_hash: p('body_hash', 'bytea'),
      sealed_answer: p('sealed_answer', 'bytea'),
      bytes: sql`octet_length(${p('sealed_answer', 'bytea')})`,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['client_id', 'path', 'key', 'account_id'])
        .doUpdateSet((eb) => ({
          body_hash: eb.ref('excluded.body_hash'),
          sealed_answer: eb.ref('excluded.sealed_answer'),
          bytes: eb.ref('excluded.bytes'),
          created_at: eb.ref('excluded.created_at'),
        }))
        .where('idempotency_key.created_at', '<=', sql<Date>`now() - ${lifetime}`),
    )
    .returning('key'),
);

const removeOld = statement('idempotency.removeOld', (p: Param<{ batch: number }>) =>
  build
    .deleteFrom('idempotency_key')
    .where(({ eb, refTuple }) =>
      eb(refTuple('client_id', 'path', 'key', 'account_id'), 'in', (db) =>
        db
          .selectFrom('idempotency_key as old')
          .select(['old.client_id', 'old.path', 'old.key', 'old.account_id'])
          .where('old.created_at', '<=', sql<Date>`now() - ${lifetime}`)
          .orderBy('old.created_at')
          .limit(p('batch', 'bigint'))
          .forUpdate()
          .skipLocked()
          .$asTuple('client_id', 'path', 'key', 'account_id'),
      ),
    )
    .returning('key'),
);
