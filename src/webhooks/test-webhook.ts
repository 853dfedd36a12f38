import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import document from '../../generated/openapi.json' with { type: 'json' };
import type { Database } from '../db/database.ts';
import type { Seal } from '../db/seal.ts';
import { tooManyRequests } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { ok } from '../http/reply.ts';
import type { EventType } from '../records/write.ts';
import type { Send } from './delivery/deliver.ts';
import { requireWebhook, webhookKey } from './webhook.ts';

/** Sends the contract's own example of the event, marked as a test, and waits for the response. */
export function testWebhook({ seal, send }: { seal: Seal; send: Send }) {
  return async (call: Call<'testWebhook'>): Promise<Reply<'testWebhook'>> => {
    const { database, params, body, caller, requestId } = call;
    const { url, sealed_secrets, found_at } = await requireWebhook(database, webhookKey(params, caller));
    const event_id = `evt_test_${randomUUID().replaceAll('-', '')}`;
    const secrets = sealed_secrets.map((sealed) => seal.open(sealed));
    const event = JSON.stringify(testEvent(body.type, event_id, found_at, requestId));
    const result = await withinTestLimits(caller.accountId, async () => {
      if (database.isTransaction) await keepOpen(database);
      return send({ url, secrets, eventId: event_id, body: event, sentAt: found_at });
    });
    return ok({
      data: {
        event_id,
        delivered: result.ok,
        started_at: found_at.toISOString(),
        duration_ms: result.durationMs,
        status: result.status,
        error: result.error,
        response_excerpt: result.responseExcerpt,
      },
    });
  };
}

const underWay = new Set<number>();
const mostUnderWay = 4;
const patienceSeconds = 15;

/**
 * One test of an account at a time, and few in total: a test may hold a connection to the database meanwhile (if it
 * has an Idempotency-Key).
 */
async function withinTestLimits<T>(accountId: number, test: () => Promise<T>): Promise<T> {
  if (underWay.has(accountId) || underWay.size >= mostUnderWay) throw tooManyRequests(patienceSeconds);
  underWay.add(accountId);
  try {
    return await test();
  } finally {
    underWay.delete(accountId);
  }
}

/** The server ends transactions that are idle for shorter than a test may take. */
async function keepOpen(transaction: Database): Promise<void> {
  await sql`select set_config('idle_in_transaction_session_timeout', ${`${patienceSeconds + 5}s`}, true)`.execute(
    transaction,
  );
}

/** The greatest identifier of the contract: a receiver that mistakes a test for an event finds no such record. */
const noRecord = Number.MAX_SAFE_INTEGER;

function testEvent(type: EventType, id: string, at: Date, request_id: string): object {
  const event = JSON.stringify(exampleOf(type), (name, value) => {
    if (name.endsWith('_id') && typeof value === 'number') return noRecord;
    return name === 'external_id' && value !== null ? 'test' : value;
  });
  return { ...JSON.parse(event), id, timestamp: at.toISOString(), request_id };
}

function exampleOf(type: EventType): object {
  const examples = document.webhooks[type].post.requestBody.content['application/json'].examples;
  const [{ $ref }] = Object.values(examples) as [{ $ref: string }];
  const name = $ref.slice($ref.lastIndexOf('/') + 1) as keyof typeof document.components.examples;
  return document.components.examples[name].value as object;
}
