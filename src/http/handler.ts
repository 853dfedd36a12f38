import type { FastifyBaseLogger } from 'fastify';
import type { operations } from '../../generated/api.ts';
import type { Database } from '../db/database.ts';
import type { EncodedJson, Json } from '../db/json.ts';
import type { Caller } from './caller.ts';

/** Everything one call of an operation brings, already authenticated and validated. */
export type Call<Id extends keyof operations> = {
  /** With an Idempotency-Key, the transaction in which the call takes place. */
  database: Database;
  params: Part<Id, 'path'>;
  query: Part<Id, 'query'>;
  headers: LowerCased<Part<Id, 'header'>>;
  body: RequestBody<operations[Id]>;
  /** The body's media type, one of the documented ones. Where there are several, the handler reads the bytes. */
  bodyType: keyof RequestContent<operations[Id]>;
  caller: Caller;
  /** The media type of the response, by `Accept`; the first documented one if there is no choice. */
  mediaType: MediaType<Id>;
  requestId: string;
  /** Path and query as they were sent. */
  url: string;
  /** The raw header; the token endpoint alone reads credentials from it. */
  authorization: string | undefined;
  log: FastifyBaseLogger;
};

/**
 * The response of an operation: one of its documented success statuses, with its headers and body. A body that is
 * not JSON names its media type.
 */
export type Reply<Id extends keyof operations> = {
  [S in SuccessStatus<Id>]: {
    status: S;
    headers: OwnHeaders<operations[Id]['responses'][S & keyof operations[Id]['responses']]>;
  } & Body<operations[Id]['responses'][S & keyof operations[Id]['responses']]>;
}[SuccessStatus<Id>];

/** Errors are thrown (http/errors.ts); a handler returns success only. */
export type Handler<Id extends keyof operations> = (call: Call<Id>) => Promise<Reply<Id>>;

type SuccessStatus<Id extends keyof operations> = keyof operations[Id]['responses'] &
  (200 | 201 | 202 | 204 | 304);

type Part<Id extends keyof operations, Name extends 'path' | 'query' | 'header'> = operations[Id] extends {
  parameters: { [N in Name]?: infer P };
}
  ? Exclude<P, undefined>
  : Record<never, never>;

// Node gives header names in lower case.
type LowerCased<T> = { [K in keyof T as Lowercase<K & string>]: T[K] };

type RequestBody<Operation> = Operation extends { requestBody: { content: { 'text/csv': unknown } } }
  ? Buffer
  : Operation extends { requestBody: { content: infer Content } }
    ? Content[keyof Content]
    : Operation extends { requestBody?: { content: infer Content } }
      ? Content[keyof Content] | undefined
      : undefined;

type RequestContent<Operation> = Operation extends { requestBody?: { content: infer Content } }
  ? Content
  : Record<never, never>;

type MediaType<Id extends keyof operations> = {
  [S in SuccessStatus<Id>]: operations[Id]['responses'][S & keyof operations[Id]['responses']] extends {
    content: infer C;
  }
    ? keyof C
    : never;
}[SuccessStatus<Id>];

type Body<Response> = Response extends { content: infer C }
  ? {
      [M in keyof C]: M extends 'application/json'
        ? { mediaType?: never; body: C[M] | Json<C[M]> | EncodedJson<C[M]> }
        : { mediaType: M; body: C[M] | Buffer };
    }[keyof C]
  : { mediaType?: never; body: undefined };

// Set by the server on every response, so that no handler has to.
type ServerHeaders =
  | 'X-Request-Id'
  | 'RateLimit'
  | 'RateLimit-Policy'
  | 'Idempotency-Replayed'
  | 'Vary'
  | 'Content-Encoding'
  | 'Deprecation'
  | 'Sunset';

type OwnHeaders<Response> = Response extends { headers: infer H }
  ? { [N in keyof H as string extends N ? never : N extends ServerHeaders ? never : N]: H[N] }
  : Record<never, never>;
