import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from './caller.ts';
import { insufficientScope, unauthorized } from './errors.ts';
import type { Limits } from './rate-limits.ts';
import type { Scope } from './scopes.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null;
  }
}

/** What a verified access token says. */
export interface Claims {
  /** The client. */
  sub: string;
  /** Its scopes, separated by spaces. */
  scope: string;
}

export interface AuthenticationParts {
  /** The claims of the request's bearer token. @throws when there is none that this service issued */
  verify: (request: FastifyRequest) => Promise<Claims>;
  findCaller: (clientId: string, scope: string) => Promise<Caller | undefined>;
  limits: Limits;
}

/**
 * The first check of a secured operation, before anything of the request is parsed: token (401), rate
 * limit (429), scope (403).
 * @param alternatives the contract's security requirements: one of these sets of scopes suffices.
 */
export function authenticate(
  parts: AuthenticationParts,
  operationId: string,
  alternatives: readonly (readonly Scope[])[],
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  return async (request, reply) => {
    const caller = await identify(request, parts);
    if (!caller) {
      await parts.limits.countFailedAuthentication(request);
      // RFC 6750, section 3.1: a request without a bearer token gets no error code.
      throw /^Bearer /i.test(request.headers.authorization ?? '')
        ? unauthorized('The access token is invalid or expired, or its client is disabled.', 'invalid_token')
        : unauthorized('Send an access token: Authorization: Bearer <ACCESS_TOKEN>.', 'unauthorized');
    }
    request.caller = caller;
    await parts.limits.count(request, reply, operationId);
    if (!alternatives.some((scopes) => scopes.every((scope) => caller.scopes.has(scope)))) {
      throw insufficientScope(alternatives.map((scopes) => scopes.join(' and ')));
    }
  };
}

async function identify(
  request: FastifyRequest,
  { verify, findCaller }: AuthenticationParts,
): Promise<Caller | undefined> {
  let claims: Claims;
  try {
    claims = await verify(request);
  } catch {
    return undefined;
  }
  return findCaller(claims.sub, claims.scope);
}
