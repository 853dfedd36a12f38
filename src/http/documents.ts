import { createHash } from 'node:crypto';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { stringify } from 'yaml';
import { isCurrent } from './conditional.ts';

/**
 * Publishes the contract with ETag: /openapi.json and /openapi.yaml, the edition for generators that read no
 * OpenAPI 3.1 at /openapi-3.0.json and .yaml, and the reference page at /docs.
 */
export async function registerDocuments(
  app: FastifyInstance,
  document: object,
  edition30: object,
): Promise<void> {
  await app.register(swagger, { mode: 'static', specification: { document: document as never } });
  for (const [name, edition] of [
    ['openapi', app.swagger()],
    ['openapi-3.0', edition30],
  ] as const) {
    app.get(`/${name}.json`, cached('application/json; charset=utf-8', JSON.stringify(edition, null, 2)));
    app.get(`/${name}.yaml`, cached('application/yaml; charset=utf-8', stringify(edition)));
  }
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: policy,
    uiConfig: { deepLinking: true, tryItOutEnabled: true, persistAuthorization: false },
    theme: {
      title: 'Menu Management Service',
      // The bar offers to load other documents; this page shows one.
      css: [{ filename: 'page.css', content: '.swagger-ui .topbar { display: none }' }],
    },
  });
}

// Nothing of the page comes from or goes to another host.
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

function cached(mediaType: string, text: string) {
  const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;
  return async (request: FastifyRequest, reply: FastifyReply) => {
    reply.header('ETag', etag).header('Cache-Control', 'no-cache').header('Access-Control-Allow-Origin', '*');
    if (isCurrent(request.headers['if-none-match'], etag)) return reply.code(304).send();
    return reply.type(mediaType).send(text);
  };
}
