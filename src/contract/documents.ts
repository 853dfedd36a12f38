import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { stringify } from 'yaml';
import { cached } from './cached.ts';
import { registerReferencePage } from './reference-page.ts';

/**
 * Publishes the contract with ETag: /openapi.json and /openapi.yaml, the edition for generators that read no
 * OpenAPI 3.1 at /openapi-3.0.json and .yaml, and the reference page at /docs, to which / leads.
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
  app.get('/', async (_request, reply) => reply.redirect('/docs'));
  await registerReferencePage(app, app.swagger());
}
