import type { FastifyReply, FastifyRequest } from 'fastify';
import type { components } from '../../generated/api.ts';
import { type OperationId, operations } from '../../generated/operations.ts';
import { refusedMediaType } from '../contract/bodies.ts';
import {
  ApiError,
  badRequest,
  internalError,
  locationNotEmpty,
  notFound,
  OAuthFault,
  parameterError,
  payloadTooLarge,
  serviceUnavailable,
} from './errors.ts';

/** Fastify's error handler: whatever was thrown becomes an answer that tells nothing internal. */
export function answerError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (thrown instanceof OAuthFault) return answerOAuthFault(thrown, reply);
  let error = translate(thrown, request);
  // Fastify runs no hooks for what it refuses while routing.
  reply.header('X-Request-Id', request.id);
  const operationId = request.routeOptions.config?.operationId;
  if (error.status === 422 && operationId) {
    if (operationId === 'issueToken') return answerOAuthFault(asOAuthFault(error), reply);
    error = documented(error, operationId);
  }
  if (error.status >= 500) request.log.error({ err: thrown }, error.message);
  else if (request.raw.errored) request.log.info('aborted by the client');
  return reply
    .code(error.status)
    .headers(error.headers)
    .type('application/problem+json')
    .send(JSON.stringify(problem(error, request.id)));
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

/** The refusal that a thrown error stands for; undefined for what failed on our side. */
export function refusal(thrown: unknown): ApiError | undefined {
  if (thrown instanceof ApiError) return thrown.status < 500 ? thrown : undefined;
  const { code = '', constraint = '' } = thrown as { code?: string; constraint?: string };
  return constraintFaults[constraint]?.() ?? textFaults[code]?.();
}

// A toggle has no 422; a header of it that is not valid is a bad request.
function documented(error: ApiError, operationId: OperationId): ApiError {
  return operations[operationId].statuses.includes(422) ? error : badRequest(error.message);
}

// The token endpoint speaks RFC 6749, also of what its schema finds.
function asOAuthFault({ errors = [], message }: ApiError): OAuthFault {
  const otherGrant = errors.some(({ field, code }) => field === '/grant_type' && code === 'const');
  return new OAuthFault(otherGrant ? 'unsupported_grant_type' : 'invalid_request', message);
}

function answerOAuthFault(fault: OAuthFault, reply: FastifyReply): FastifyReply {
  if (fault.status === 401) reply.header('WWW-Authenticate', 'Basic realm="token endpoint"');
  return reply
    .code(fault.status)
    .header('Cache-Control', 'no-store')
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ error: fault.error, error_description: fault.message }));
}

function translate(thrown: unknown, request: FastifyRequest): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (request.raw.errored) return badRequest('The request was aborted.');
  const { code = '', message = '' } = thrown as { code?: string; message?: string };
  return (
    refusal(thrown) ??
    fastifyFaults[code]?.(request) ??
    (databaseAway(code, message) ? serviceUnavailable() : internalError())
  );
}

// The schemas refuse these already; a value that slips through still gets an answer that names the fault.
const textFaults: Record<string, () => ApiError> = {
  '22021': () =>
    parameterError([{ field: '', code: 'characters', message: 'contains a character that is not allowed' }]),
  '22P05': () =>
    parameterError([{ field: '', code: 'characters', message: 'contains a character that is not allowed' }]),
  '22003': () => parameterError([{ field: '', code: 'range', message: 'contains a number out of range' }]),
};

const externalIdTaken = () =>
  parameterError([{ field: '/external_id', code: 'taken', message: 'is already used by another record' }]);

const constraintFaults: Record<string, () => ApiError> = {
  item_category: () =>
    parameterError([{ field: '/category_id', code: 'not_found', message: 'is not a category of this menu' }]),
  menu_location: locationNotEmpty,
  category_menu: () => notFound('There is no such menu.'),
  location_external_id: externalIdTaken,
  menu_external_id: externalIdTaken,
  category_external_id: externalIdTaken,
  item_external_id: externalIdTaken,
};

const fastifyFaults: Record<string, (request: FastifyRequest) => ApiError> = {
  FST_ERR_CTP_BODY_TOO_LARGE: (request) => payloadTooLarge(request.routeOptions.bodyLimit ?? 0),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: refusedMediaType,
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => badRequest('The length of the body differs from Content-Length.'),
  FST_ERR_BAD_URL: () =>
    badRequest('The URL is not valid: a percent sign must be followed by two hex digits of UTF-8.'),
};

// SQLSTATE classes 08 and 57 (connection, shutdown, time-out), 53 (resources), and conflicts worth a retry.
function databaseAway(code: string, message: string): boolean {
  return (
    /^(08|53|57)...$|^(40001|40P01|55P03)$/.test(code) ||
    /^(ECONN|EPIPE|ENOTFOUND|ENOENT|EAI_AGAIN|ETIMEDOUT|EHOST|ENET)/.test(code) ||
    /timeout exceeded when trying to connect|Connection terminated|Query read timeout|not queryable/.test(
      message,
    )
  );
}
