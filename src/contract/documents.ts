import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { stringify } from 'yaml';
import { isCurrent } from '../http/conditional.ts';

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
    app.get(
      `/${name}.json`,
      cached('application/json; charset=utf-8', () => JSON.stringify(edition, null, 2)),
    );
    app.get(
      `/${name}.yaml`,
      cached('application/yaml; charset=utf-8', () => stringify(edition)),
    );
  }
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: policy,
    uiConfig: {
      deepLinking: true,
      tryItOutEnabled: true,
      persistAuthorization: false,
      requestInterceptor: withoutDialog,
      // The one whose colours can be read on both backgrounds; see the test of contrast.
      syntaxHighlight: { theme: 'tomorrow-night' },
    },
    theme: {
      title: 'Menu Management Service',
      css: [await own('docs-page.css')],
      js: [await own('docs-page.js')],
    },
  });
}

// A file of our own that the page loads beside those of swagger-ui.
async function own(filename: string) {
  return { filename, content: await readFile(new URL(filename, import.meta.url), 'utf8') };
}

// Sent to the page as text. A browser meets a refused client secret with a dialog of its own, and keeps the response
// from the page, unless the request is made without the browser's credentials.
function withoutDialog(request: { [field: string]: unknown }) {
  return String(request['url']).endsWith('/oauth/token') ? { ...request, credentials: 'omit' } : request;
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

// Written at the first request: the two in YAML would take a fifth of the time of a start.
function cached(mediaType: string, write: () => string) {
  let document: { text: string; etag: string } | undefined;
  return async (request: FastifyRequest, reply: FastifyReply) => {
    document ??= withTag(write());
    const { text, etag } = document;
    reply.header('ETag', etag).header('Cache-Control', 'no-cache').header('Access-Control-Allow-Origin', '*');
    if (isCurrent(request.headers['if-none-match'], etag)) return reply.code(304).send();
    return reply.type(mediaType).send(text);
  };
}

function withTag(text: string) {
  return { text, etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"` };
}
