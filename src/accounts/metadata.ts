import type { FastifyInstance } from 'fastify';
import { badRequest } from '../http/errors.ts';
import { publicOrigin } from '../http/public-origin.ts';
import { allScopes } from '../http/scopes.ts';

/**
 * Serves the metadata of the authorization server (RFC 8414). Its issuer is the origin that the client has asked, since
 * the service knows no name of its own: the same deployment may be reached by several.
 */
export function registerMetadata(app: FastifyInstance, trustedProxies: readonly string[]): void {
  const originOf = publicOrigin(trustedProxies);
  app.get('/.well-known/oauth-authorization-server', async (request, reply) => {
    const issuer = originOf(request.raw);
    if (issuer === undefined) throw badRequest('The header Host does not name a host.');
    // Not for shared caches: one that does not tell hosts apart would give one client the origin of another.
    return reply.header('Cache-Control', 'private, max-age=300').send(metadata(issuer));
  });
}

function metadata(issuer: string) {
  const methods = ['client_secret_basic', 'client_secret_post'];
  return {
    issuer,
    token_endpoint: `${issuer}/api/v1/oauth/token`,
    token_endpoint_auth_methods_supported: methods,
    revocation_endpoint: `${issuer}/api/v1/oauth/revoke`,
    revocation_endpoint_auth_methods_supported: methods,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    grant_types_supported: ['client_credentials'],
    // Required, and empty where there is no authorization endpoint.
    response_types_supported: [],
    scopes_supported: allScopes,
    service_documentation: `${issuer}/docs`,
  };
}
