import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OperationId } from '../../generated/operations.ts';
import { isUnavailable } from '../db/unavailable.ts';
import type { Caller } from './caller.ts';
import { insufficientScope, unauthorized } from './errors.ts';
import type { Limits } from './rate-limits.ts';
import type { Scope } from './scopes.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null;
  }
}

/** The content of a verified access token. */
export interface Claims {
  /** The client. */
  sub: string;
  /** Its scopes, separated by spaces. */
  scope: string;
  /** The generation of the client's tokens that it belongs to; absent: 0. */
  gen?: number;
  /** The token itself, a UUID. */
  jti: string;
}

export interface AuthenticationParts {
  /**
   * The claims of the request's bearer token.
   * @throws EndedToken when this service issued the token and it has expired; other errors when the service did not
   *   issue it, or cannot tell
   */
  verify: (request: FastifyRequest) => Promise<Claims>;
  findCaller: (claims: Claims) => Promise<Caller | undefined>;
  /** Who makes the request, if everything about it was looked up a moment ago. */
  knownCaller: (request: FastifyRequest) => Caller | undefined;
  limits: Limits;
}

/** A token that was valid once. */
export class EndedToken extends Error {}

/**
 * The first check of a secured operation, before anything of the request is parsed: token (401), rate
 * limit (429), scope (403).
 * @param alternatives the contract's security requirements: one of these sets of scopes suffices.
 */
export function authenticate(
  parts: AuthenticationParts,
  operationId: OperationId,
  alternatives: readonly (readonly Scope[])[],
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const admit = async (caller: Caller, request: FastifyRequest, reply: FastifyReply) => {
    request.caller = caller;
    await parts.limits.count(request, reply, operationId);
    requireScopes(caller, alternatives);
  };
  const identifyAndAdmit = async (request: FastifyRequest, reply: FastifyReply) => {
    const caller = await identify(request, parts);
    if (typeof caller !== 'string') return admit(caller, request, reply);
    // A caller with a token that this service issued is not guessing, and has to learn that it needs a new one.
    if (caller === 'not issued here') await parts.limits.countFailure(request, { operationId });
    // RFC 6750, section 3.1: a request without a bearer token gets no error code.
    throw /^Bearer /i.test(request.headers.authorization ?? '')
      ? unauthorized('The access token is invalid or expired, or its client is disabled.', 'invalid_token')
      : unauthorized('Send an access token: Authorization: Bearer <ACCESS_TOKEN>.', 'unauthorized');
  };
  return (request, reply) => {
    const caller = parts.knownCaller(request);
    return caller ? admit(caller, request, reply) : identifyAndAdmit(request, reply);
  };
}

/** @throws 403 */
function requireScopes({ scopes }: Caller, alternatives: readonly (readonly Scope[])[]): void {
  if (!alternatives.some((wanted) => wanted.every((scope) => scopes.has(scope))))
    throw insufficientScope(alternatives.map((wanted) => wanted.join(' and ')));
}

async function identify(
  request: FastifyRequest,
  { verify, findCaller }: AuthenticationParts,
): Promise<Caller | 'ended' | 'not issued here'> {
  let claims: Claims;
  try {
    claims = await verify(request);
  } catch (error) {
    // Without its database the process does not know the keys that others have created since.
    if (isUnavailable(error)) throw error;
    return error instanceof EndedToken ? 'ended' : 'not issued here';
  }
  return (await findCaller(claims)) ?? 'ended';
}
