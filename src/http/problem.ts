import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { components } from '../../generated/api.ts';
import { type OperationId, operations } from '../../generated/operations.ts';
import { isUnavailable, refusesWrites, ShareTaken } from '../db/unavailable.ts';
import {
  ApiError,
  badRequest,
  headersTooLarge,
  internalError,
  OAuthFailure,
  parameterError,
  serviceUnavailable,
  tooManyInProgress,
  unsupportedMediaType,
} from './errors.ts';

/** Fastify's error handler: whatever was thrown becomes a response that reveals nothing internal. */
export function sendError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (thrown instanceof OAuthFailure) return sendOAuthFailure(thrown, reply);
  const error = translate(thrown, request);
  // Fastify runs no hooks for requests that it refuses during routing.
  reply.header('X-Request-Id', request.id);
  const operationId = request.routeOptions.config?.operationId;
  if (error.status === 422 && operationId && takesForm(operationId))
    return sendOAuthFailure(asOAuthFailure(error), reply);
  if (error.status >= 500) request.log.error({ err: thrown }, error.message);
  else if (request.raw.errored) request.log.info('aborted by the client');
  return reply
    .code(error.status)
    .headers(error.headers)
    .type('application/problem+json')
    .send(JSON.stringify(problem(error, request.id)));
}

declare module 'fastify' {
  interface FastifyContextConfig {
    operationId?: OperationId;
  }
}

/** The body of an error: RFC 9457 problem details, schema Error of the contract. */
export function problem(error: ApiError, requestId: string): components['schemas']['Error'] {
  return {
    type: `urn:menu-management:problem:${error.code}`,
    title: error.title,
    status: error.status,
    detail: error.message,
    code: error.code,
    request_id: requestId,
    ...(error.errors && { errors: error.errors }),
  };
}

/** The refusal for a thrown error; undefined for failures on our side. */
export function refusal(thrown: unknown): ApiError | undefined {
  if (thrown instanceof ApiError) return thrown.status < 500 ? thrown : undefined;
  const { code = '' } = thrown as { code?: string };
  return textErrors[code]?.();
}

/** 415, naming what the operation accepts. */
export function refusedMediaType(request: FastifyRequest): ApiError {
  const { operationId } = request.routeOptions.config;
  return unsupportedMediaType((operationId && operations[operationId].body?.mediaTypes) ?? []);
}

// An operation that accepts a form is a token or revocation endpoint, and reports even schema errors as RFC 6749 does.
function takesForm(operationId: OperationId): boolean {
  return operations[operationId].body?.mediaTypes.includes('application/x-www-form-urlencoded') ?? false;
}

function asOAuthFailure({ errors = [], message }: ApiError): OAuthFailure {
  const otherGrant = errors.some(({ field, code }) => field === '/grant_type' && code === 'const');
  return new OAuthFailure(otherGrant ? 'unsupported_grant_type' : 'invalid_request', message);
}

function sendOAuthFailure(failure: OAuthFailure, reply: FastifyReply): FastifyReply {
  if (failure.status === 401) reply.header('WWW-Authenticate', 'Basic realm="token endpoint"');
  return reply
    .code(failure.status)
    .header('Cache-Control', 'no-store')
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ error: failure.error, error_description: failure.message }));
}

function translate(thrown: unknown, request: FastifyRequest): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (request.raw.errored) return badRequest('The request was aborted.');
  const { code = '' } = thrown as { code?: string };
  const error = refusal(thrown) ?? fastifyErrors[code]?.(request);
  if (error) return error;
  if (thrown instanceof ShareTaken) return tooManyInProgress();
  if (refusesWrites(thrown)) return writesRefused();
  return isUnavailable(thrown) ? serviceUnavailable() : internalError();
}

function writesRefused(): ApiError {
  const { status, title, code, headers } = serviceUnavailable();
  return new ApiError(status, title, code, 'The database takes no writes at the moment. Try again.', {
    headers,
  });
}

// The schemas refuse these already; a value that slips through still gets a response that names the error.
const textErrors: Record<string, () => ApiError> = {
  '22021': () =>
    parameterError([{ field: '', code: 'characters', message: 'contains a character that is not allowed' }]),
  '22P05': () =>
    parameterError([{ field: '', code: 'characters', message: 'contains a character that is not allowed' }]),
  '22003': () => parameterError([{ field: '', code: 'range', message: 'contains a number out of range' }]),
};

const fastifyErrors: Record<string, (request: FastifyRequest) => ApiError> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: refusedMediaType,
  FST_ERR_BAD_URL: () =>
    badRequest('The URL is not valid: a percent sign must be followed by two hex digits of UTF-8.'),
};

/**
 * For errors of the HTTP parser, before there is a request: the response is written by hand.
 * @param headersFor returns additional headers of a response, given the bytes that could not be parsed, if known.
 */
export function parserErrorSender(headersFor: (packet: Buffer | undefined) => Record<string, string>) {
  return function sendParserError(
    this: FastifyInstance,
    error: Error & { code?: string; rawPacket?: unknown },
    socket: Socket,
  ): void {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy(error);
    const refused = parserErrors[error.code ?? ''] ?? badRequest('The request is not valid HTTP/1.1.');
    const requestId = `req_${randomUUID()}`;
    const body = JSON.stringify(problem(refused, requestId));
    this.log.info(
      { code: error.code, status: refused.status, reqId: requestId },
      'request refused by the HTTP parser',
    );
    const headers = {
      'X-Request-Id': requestId,
      Connection: 'close',
      ...headersFor(Buffer.isBuffer(error.rawPacket) ? error.rawPacket : undefined),
      'Content-Type': 'application/problem+json',
      'Content-Length': Buffer.byteLength(body),
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${refused.status} ${refused.title}\r\n${lines.join('')}\r\n${body}`);
  };
}

const parserErrors: Record<string, ApiError> = {
  HPE_HEADER_OVERFLOW: headersTooLarge('The request line and headers may have at most 16 KiB.'),
  ERR_HTTP_REQUEST_TIMEOUT: new ApiError(
    408,
    'Request Timeout',
    'request_timeout',
    'The request took too long to arrive.',
  ),
};
