import { randomUUID } from 'node:crypto';
import document from '../../generated/openapi.json' with { type: 'json' };
import type { EventType } from '../events/record.ts';
import type { Call, Reply } from '../http/handler.ts';
import { ok } from '../http/reply.ts';
import { requireWebhook, webhookKey } from './webhook.ts';

/** Sends the contract's own example of the event, marked as a test, and waits for the answer. */
export async function testWebhook(call: Call<'testWebhook'>): Promise<Reply<'testWebhook'>> {
  const { database, params, body, caller, requestId, seal, send } = call;
  const { url, sealed_secrets } = await requireWebhook(database, webhookKey(params, caller));
  const event_id = `evt_test_${randomUUID().replaceAll('-', '')}`;
  const started = new Date();
  const result = await send({
    url,
    secrets: sealed_secrets.map((sealed) => seal.open(sealed)),
    eventId: event_id,
    body: JSON.stringify(testEvent(body.type, event_id, started, requestId)),
  });
  return ok({
    data: {
      event_id,
      delivered: result.ok,
      started_at: started.toISOString(),
      duration_ms: result.durationMs,
      status: result.status,
      error: result.error,
      response_excerpt: result.responseExcerpt,
    },
  });
}

/** The greatest identifier of the contract: a receiver that mistakes a test for an event finds no such record. */
const noRecord = Number.MAX_SAFE_INTEGER;

function testEvent(type: EventType, id: string, started: Date, request_id: string): object {
  const event = JSON.stringify(exampleOf(type), (name, value) => {
    if (name.endsWith('_id') && typeof value === 'number') return noRecord;
    return name === 'external_id' && value !== null ? 'test' : value;
  });
  return { ...JSON.parse(event), id, timestamp: started.toISOString(), request_id };
}

function exampleOf(type: EventType): object {
  const examples = document.webhooks[type].post.requestBody.content['application/json'].examples;
  const [{ $ref }] = Object.values(examples) as [{ $ref: string }];
  const name = $ref.slice($ref.lastIndexOf('/') + 1) as keyof typeof document.components.examples;
  return document.components.examples[name].value;
}
