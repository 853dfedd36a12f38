import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import openapiGlue from 'fastify-openapi-glue';
import { type Handlers, type OperationId, operations } from '../../generated/operations.ts';
import type { Scope } from '../accounts/scopes.ts';
import type { Context } from '../context.ts';
import { handlers } from '../operations.ts';
import { ignoreBody, registerBodyParsers, requireBody, requireMediaType } from './bodies.ts';
import { announceDeprecation } from './deprecation.ts';
import { notAcceptable } from '../http/errors.ts';
import type { Call } from '../http/handler.ts';
import { type Answer, answerOnce, keyedRequest } from '../http/idempotency.ts';
import { preferred } from './negotiation.ts';
import type { Limits } from '../http/rate-limits.ts';
import { explainFaults, requireValid, validatorCompiler } from './validation.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    operationId?: OperationId;
  }
}

/** Base path of every operation. */
export const prefix = '/api/v1';

export interface Guards {
  /** Checks token, limit and scope of a secured operation; see authenticate.ts. */
  authenticate: (
    operationId: string,
    alternatives: readonly (readonly Scope[])[],
  ) => (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  limits: Limits;
}

/**
 * Serves every operation of the contract: route, checks and validation come from the document, the work
 * from src/operations.ts.
 * @throws when a handler has no operation or an operation has no handler or no security.
 */
export async function registerContract(
  app: FastifyInstance,
  document: OpenApiDocument,
  context: Context,
  guards: Guards,
): Promise<void> {
  requireComplete(operations, handlers);
  app.setValidatorCompiler(validatorCompiler);
  app.setSchemaErrorFormatter(explainFaults);
  app.setSerializerCompiler(() => JSON.stringify);
  registerBodyParsers(app);
  app.decorateRequest('caller', null);
  await app.register(openapiGlue, {
    specification: requestSide(document),
    prefix,
    operationResolver: (operationId) => route(operationId as OperationId, context, guards) as RouteOptions,
  });
}

/** The published document, as far as it is read here. */
export interface OpenApiDocument {
  paths: Record<string, Record<string, object>>;
}

// Answers are written by the handlers and checked by the tests; compiling their schemas would only cost start time.
function requestSide({ webhooks: _, ...document }: OpenApiDocument & { webhooks?: object }): object {
  const responses = { default: { description: 'see the published document' } };
  const paths = Object.entries(document.paths).map(([path, methods]) => [
    path,
    Object.fromEntries(
      Object.entries(methods).map(([method, operation]) => [method, { ...operation, responses }]),
    ),
  ]);
  return { ...document, paths: Object.fromEntries(paths) };
}

/** Compares both ways; exported for its test. @throws naming each difference */
export function requireComplete(table: typeof operations, implemented: Handlers): void {
  const faults = [
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
  if (faults.length > 0) throw new Error(`the contract and its handlers differ: ${faults.join('; ')}`);
}

function route(
  operationId: OperationId,
  context: Context,
  { authenticate, limits }: Guards,
): Partial<RouteOptions> {
  const { security, body, bodyLimit, deprecation } = operations[operationId];
  return {
    config: { operationId },
    onRequest:
      security.length > 0
        ? authenticate(operationId, security)
        : (request: FastifyRequest) => limits.countAddress(request, operationId),
    ...(bodyLimit !== null && { bodyLimit }),
    preParsing: body ? requireMediaType(body) : ignoreBody,
    ...(body?.required && { preValidation: requireBody }),
    attachValidation: true,
    preHandler: requireValid,
    ...(body && body.mediaTypes.length > 1 && { validatorCompiler: exceptBodies }),
    handler: adapt(operationId, context),
    ...(deprecation && { onSend: announceDeprecation(deprecation) }),
  };
}

// A document that comes in several media types is brought into one form and then validated by its handler.
const exceptBodies: typeof validatorCompiler = (schema) =>
  schema.httpPart === 'body' ? () => true : validatorCompiler(schema);

// One handler type for all: which operation it is was settled by the compiler in src/operations.ts.
type AnyHandler = (call: object) => Promise<Answer>;

function adapt(operationId: OperationId, context: Context) {
  const handler = handlers[operationId] as AnyHandler;
  const { answers } = operations[operationId];
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const call: Omit<
      Call<OperationId>,
      keyof Context | 'params' | 'query' | 'body' | 'headers' | 'caller' | 'mediaType' | 'bodyType'
    > = {
      requestId: request.id,
      log: request.log,
      url: request.url,
      authorization: request.headers.authorization,
    };
    const mediaType = chooseMediaType(answers, request, reply);
    const perform = (parts: Context) =>
      handler({
        ...parts,
        ...call,
        params: request.params,
        query: request.query,
        headers: request.headers,
        body: request.body,
        bodyType: request.mediaType,
        caller: request.caller,
        mediaType,
      });
    const keyed = keyedRequest(operationId, request);
    const answer = keyed ? await answerOnce(context, keyed, perform) : await perform(context);
    const { status, headers, body } = answer;
    reply.code(status).headers(headers);
    if (body === undefined) return reply.send();
    return reply
      .type(`${answer.mediaType ?? 'application/json'}; charset=utf-8`)
      .send(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
  };
}

// `Accept` is looked at only where there is a choice.
function chooseMediaType(
  answers: readonly string[],
  request: FastifyRequest,
  reply: FastifyReply,
): string | undefined {
  if (answers.length < 2) return answers[0];
  reply.header('Vary', 'Accept');
  const mediaType = preferred(request.headers.accept, answers);
  if (mediaType === undefined) throw notAcceptable(answers);
  return mediaType;
}
