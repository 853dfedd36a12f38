import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import openapiGlue from 'fastify-openapi-glue';
import { type Handlers, type OperationId, operations } from '../../generated/operations.ts';
import { type Database, shareOf } from '../db/database.ts';
import type { Replicas } from '../db/replicas/replicas.ts';
import type { Seal } from '../db/seal.ts';
import { addVary } from '../http/compression.ts';
import { createConcurrencyLimit } from '../http/concurrency.ts';
import { notAcceptable, RefusedClient } from '../http/errors.ts';
import type { Call } from '../http/handler.ts';
import { keyedRequest, respondOnce } from '../http/idempotency.ts';
import type { KeptResponses } from '../http/kept-responses.ts';
import type { Limits } from '../http/rate-limits.ts';
import type { Scope } from '../http/scopes.ts';
import type { OperationResponse } from '../http/stored-response.ts';
import type { RequireFewUnread } from '../http/unread-responses.ts';
import { ignoreBody, registerBodyParsers, requireBody, requireMediaType } from './bodies.ts';
import { announceDeprecation } from './deprecation.ts';
import { preferred } from './negotiation.ts';
import { explainErrors, requireValid, validatorCompiler } from './validation.ts';

/** Base path of every operation. */
export const prefix = '/api/v1';

/** Everything that the operations of the contract need in order to be served. */
export interface Wiring {
  handlers: Handlers;
  database: Database;
  /** Where calls that only read may be served. */
  replicas?: Pick<Replicas, 'read' | 'write'> | undefined;
  seal: Seal;
  /** What clients keep under their Idempotency-Keys. */
  kept: KeptResponses;
  limits: Limits;
  requireFewUnread: RequireFewUnread;
  /** Checks token, limit and scope of a secured operation; see http/authenticate.ts. */
  authenticate: (
    operationId: OperationId,
    alternatives: readonly (readonly Scope[])[],
  ) => (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  /** Called when a call that may have written has succeeded. */
  afterWrite: () => void;
}

/**
 * Serves every operation of the contract: route, checks and validation come from the document, the work from the
 * handlers.
 * @throws when a handler has no operation or an operation has no handler or no security.
 */
export async function registerContract(
  app: FastifyInstance,
  document: OpenApiDocument,
  wiring: Wiring,
): Promise<void> {
  requireComplete(operations, wiring.handlers);
  app.setValidatorCompiler(validatorCompiler);
  app.setSchemaErrorFormatter(explainErrors);
  app.setSerializerCompiler(() => JSON.stringify);
  registerBodyParsers(app);
  app.decorateRequest('caller', null);
  await app.register(openapiGlue, {
    specification: requestSide(document),
    prefix,
    operationResolver: (operationId) => route(operationId as OperationId, wiring) as RouteOptions,
  });
}

/** The published document, as far as it is read here. */
export interface OpenApiDocument {
  paths: Record<string, Record<string, object>>;
  components: Components;
}

/** By kind and name. */
type Components = Record<string, Record<string, object>>;

// Responses are written by the handlers and checked by the tests. To read them, and the two thirds of the components
// that no request refers to, would only cost start time.
function requestSide({ webhooks: _, ...document }: OpenApiDocument & { webhooks?: object }): object {
  const responses = { default: { description: 'see the published document' } };
  const paths = Object.entries(document.paths).map(([path, methods]) => [
    path,
    Object.fromEntries(
      Object.entries(methods).map(([method, operation]) => [method, { ...operation, responses }]),
    ),
  ]);
  const requests = Object.fromEntries(paths);
  const { securitySchemes } = document.components;
  const components = { ...referredTo(requests, document.components), securitySchemes };
  return { ...document, paths: requests, components };
}

/** Those of the components that a part of the document refers to, by way of others too. */
function referredTo(part: object, components: Components): Components {
  const found: Components = {};
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('$ref' in value) find(value.$ref as string);
    for (const child of Object.values(value)) visit(child);
  };
  const find = (reference: string): void => {
    const [, , kind = '', name = ''] = reference.split('/');
    found[kind] ??= {};
    if (found[kind][name]) return;
    const component = components[kind]?.[name] as object;
    found[kind][name] = component;
    visit(component);
  };
  visit(part);
  return found;
}

/** Compares both ways; exported for its test. @throws naming each difference */
export function requireComplete(table: typeof operations, implemented: Handlers): void {
  const differences = [
    ...Object.keys(table)
      .filter((id) => !(id in implemented))
      .map((id) => `${id} has no handler in src/operations.ts`),
    ...Object.keys(implemented)
      .filter((id) => !(id in table))
      .map((id) => `${id} is not an operation of the contract`),
    ...Object.entries(table)
      .filter(([, { security }]) => security === undefined)
      .map(([id]) => `${id} has no security in the contract ([] marks a public operation)`),
  ];
  if (differences.length > 0)
    throw new Error(`the contract and its handlers differ: ${differences.join('; ')}`);
}

function route(operationId: OperationId, wiring: Wiring): Partial<RouteOptions> {
  const { authenticate } = wiring;
  const { security, body, bodyLimit, concurrencyLimit, deprecation } = operations[operationId];
  const concurrency = concurrencyLimit === null ? undefined : createConcurrencyLimit(concurrencyLimit);
  const handle = adapt(operationId, wiring);
  return {
    config: { operationId },
    onRequest: [
      ...(security.length > 0 ? [authenticate(operationId, security)] : []),
      ...(concurrency ? [concurrency.enter] : []),
    ],
    ...(bodyLimit !== null && { bodyLimit }),
    preParsing: body ? requireMediaType(body) : ignoreBody,
    ...(body?.required && { preValidation: requireBody }),
    attachValidation: true,
    preHandler: requireValid,
    ...(body && body.mediaTypes.length > 1 && { validatorCompiler: exceptBodies }),
    handler: concurrency
      ? (request, reply) => concurrency.during(request, () => handle(request, reply))
      : handle,
    ...(deprecation && { onSend: announceDeprecation(deprecation) }),
  };
}

// A document that comes in several media types is brought into one form and then validated by its handler.
const exceptBodies: typeof validatorCompiler = (schema) =>
  schema.httpPart === 'body' ? () => true : validatorCompiler(schema);

// One handler type for all: which operation it is was settled by the compiler in src/operations.ts.
type AnyHandler = (call: object) => Promise<OperationResponse>;

function adapt(operationId: OperationId, wiring: Wiring) {
  const { handlers, seal, kept, limits, requireFewUnread, afterWrite } = wiring;
  const handler = handlers[operationId] as AnyHandler;
  const { mediaTypes, security, writes } = operations[operationId];
  const mayWrite = writes && security.length > 0;
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const call: Pick<Call<OperationId>, 'requestId' | 'log' | 'url' | 'authorization'> = {
      requestId: request.id,
      log: request.log,
      url: request.url,
      authorization: request.headers.authorization,
    };
    const mediaType = chooseMediaType(mediaTypes, request, reply);
    let performed = false;
    const perform = (database: Database) => {
      performed = true;
      return handler({
        database,
        ...call,
        params: request.params,
        query: request.query,
        headers: request.headers,
        body: request.body,
        bodyType: request.mediaType,
        caller: request.caller,
        mediaType,
      });
    };
    const keyed = keyedRequest(operationId, request);
    const response = await onServer(wiring, request, writes, (database) =>
      keyed
        ? respondOnce({ database, seal, kept }, keyed, perform)
        : perform(database).catch(async (error) => {
            if (error instanceof RefusedClient)
              await limits.countFailure(request, { operationId, clientId: error.clientId });
            throw error;
          }),
    );
    if (mayWrite && performed) afterWrite();
    // Many may have begun while there was little unread. A write has to tell that it took effect.
    if (!writes) requireFewUnread(request);
    const { status, headers, body } = response;
    reply.code(status).headers(headers);
    if (body === undefined) return reply.send();
    return reply
      .type(`${response.mediaType ?? 'application/json'}; charset=utf-8`)
      .send(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
  };
}

/** Chooses the server of the database that serves a call. */
function onServer<T>(
  { database, replicas }: Wiring,
  { caller }: FastifyRequest,
  writes: boolean,
  serve: (database: Database) => Promise<T>,
): Promise<T> {
  if (!caller) return serve(database);
  const { accountId, clientId } = caller;
  const serveClient = (database: Database) => serve(shareOf(database, clientId));
  if (!replicas) return serveClient(database);
  return writes ? replicas.write(accountId, serveClient) : replicas.read(accountId, serveClient);
}

// `Accept` is looked at only where there is a choice.
function chooseMediaType(
  offered: readonly string[],
  request: FastifyRequest,
  reply: FastifyReply,
): string | undefined {
  if (offered.length < 2) return offered[0];
  addVary(reply, 'Accept');
  const mediaType = preferred(request.headers.accept, offered);
  if (mediaType === undefined) throw notAcceptable(offered);
  return mediaType;
}
