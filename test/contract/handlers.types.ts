/*
 * What must not compile. Checked by tsc alone: each expected error that is none any more is an error itself.
 */
import type { components } from '../../generated/api.ts';
import type { Handlers } from '../../generated/operations.ts';
import { data, type Json, jsonObject } from '../../src/db/json.ts';
import type { Handler, Reply } from '../../src/http/handler.ts';
import { created, noContent, notModified, ok, okAs } from '../../src/http/reply.ts';
import type { createHandlers } from '../../src/operations.ts';

type Item = components['schemas']['Item'];
declare const item: Item;
declare const itemJson: Json<Item>;
declare const menuJson: Json<components['schemas']['Menu']>;
declare const webhook: components['schemas']['WebhookWithSecret'];
const secret = { 'Cache-Control': 'no-store' } as const;

declare const handlers: ReturnType<typeof createHandlers>;

const { getItem: _, ...incomplete } = handlers;
// @ts-expect-error an operation of the contract has no handler
export const missingOperation = incomplete satisfies Handlers;

// @ts-expect-error a handler has no operation in the contract
export const unknownOperation = { ...handlers, eatItem: handlers.getItem } satisfies Handlers;

// @ts-expect-error another operation's handler
export const exchanged: Handlers['getItem'] = handlers.getMenu;

// What does compile, so that the errors below have one reason each.
export const answered: Handler<'getItem'> = async () => ok({ data: item }, { ETag: '"1"' });
export const respondedAsJson: Handler<'getItem'> = async () => ok(data(itemJson), { ETag: '"1"' });
export const unchanged: Handler<'getItem'> = async () => notModified('"1"');
export const made: Handler<'createWebhook'> = async () =>
  created({ data: webhook }, { ...secret, ETag: '"1"', Location: '/api/v1/webhooks/1' });

export const exported: Handler<'exportMenu'> = async () => okAs('text/csv', 'record,…', { ETag: '"1"' });

// @ts-expect-error exportMenu has no such media type
export const undeclaredMediaType: Handler<'exportMenu'> = async () => okAs('text/html', '', { ETag: '"1"' });

// @ts-expect-error getItem is answered as JSON only
export const foreignMediaType: Handler<'getItem'> = async () => okAs('text/csv', '', { ETag: '"1"' });

// @ts-expect-error text without its media type is no document
export const textAsJson: Handler<'exportMenu'> = async () => ok('record,…', { ETag: '"1"' });

// @ts-expect-error 201 is not a status of getItem
export const undeclaredStatus: Handler<'getItem'> = async () => created({ data: item }, { ETag: '"1"' });

// @ts-expect-error 304 is not a status of toggleItem
export const undeclaredNotModified: Handler<'toggleItem'> = async () => notModified('"1"');

// @ts-expect-error errors are thrown, not returned
export const returnedError: Handler<'getItem'> = async () => ({ status: 404, headers: {}, body: undefined });

// @ts-expect-error the envelope is missing
export const wrongBody: Handler<'getItem'> = async () => ok(item, { ETag: '"1"' });

// @ts-expect-error the body is missing
export const missingBody: Handler<'getItem'> = async () => noContent();

// @ts-expect-error a menu is not an item
export const wrongJson: Handler<'getItem'> = async () => ok(data(menuJson), { ETag: '"1"' });

// @ts-expect-error text is not JSON of a known shape
export const plainText: Handler<'getItem'> = async () => ok('{"data":{}}', { ETag: '"1"' });

// @ts-expect-error a field has the wrong type
export const wrongField: Reply<'getItem'> = ok({ data: { ...item, price: '4.50' } }, { ETag: '"1"' });

// @ts-expect-error ETag is a required header
export const missingHeader: Handler<'getItem'> = async () => ok({ data: item });

// @ts-expect-error Location is a required header
export const missingLocation: Reply<'createWebhook'> = created({ data: webhook }, { ...secret, ETag: '"1"' });

// @ts-expect-error the headers' names are those of the contract
export const misspeltHeader: Handler<'getItem'> = async () => ok({ data: item }, { Etag: '"1"' });

export const excessProperty: Reply<'listItems'> = {
  status: 200,
  headers: { ETag: '"1"' },
  // @ts-expect-error a literal body has a field too many
  body: { data: [], next_cursor: null, total: 0 },
};

declare const name: ReturnType<typeof jsonObject<Item>>;
// @ts-expect-error JSON built by the database lacks the other fields of an item
export const incompleteJson: typeof name = jsonObject<Item>({});

export const unknownParameter: Handler<'getItem'> = async ({ params }) => {
  // @ts-expect-error the path of getItem has no webhook_id
  params.webhook_id;
  return notModified('"1"');
};
