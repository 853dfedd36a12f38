import { readdir, readFile } from 'node:fs/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import codeSamples from '../../generated/code-samples.json' with { type: 'json' };
import { cached } from './cached.ts';
import { originPlaceholder, pageDocument } from './page-document.ts';

// The build of Scalar for browsers, in modules that are loaded as they are needed.
const scalar = new URL('browser/', import.meta.resolve('@scalar/api-reference'));

/** Publishes the reference page at /docs: Scalar with the contract, everything served by this service. */
export async function registerReferencePage(app: FastifyInstance, document: object): Promise<void> {
  const { version } = JSON.parse(await readFile(new URL('../../package.json', scalar), 'utf8'));
  const modules = `/docs/scalar/${version}/`;
  const [changelog, script, style] = await Promise.all([
    readFile(new URL('../../CHANGELOG.md', import.meta.url), 'utf8'),
    readFile(new URL('docs-page.js', import.meta.url), 'utf8'),
    readFile(new URL('docs-page.css', import.meta.url), 'utf8'),
  ]);
  const page = cached('text/html; charset=utf-8', () => html(modules));
  for (const path of ['/docs', '/docs/']) {
    app.get(path, async (request, reply) => page(request, reply.header('Content-Security-Policy', policy)));
  }
  app.get(
    '/docs/page.js',
    cached('text/javascript; charset=utf-8', () => script),
  );
  app.get(
    '/docs/page.css',
    cached('text/css; charset=utf-8', () => style),
  );
  app.get(
    '/docs/icon.svg',
    cached('image/svg+xml', () => icon),
  );
  app.get(
    '/docs/document.json',
    cached('application/json; charset=utf-8', () =>
      JSON.stringify(pageDocument(document, codeSamples, changelog)),
    ),
  );
  await serveModules(app, modules);
}

/** Their address names their version, so that a browser need not ask for them again. */
async function serveModules(app: FastifyInstance, path: string): Promise<void> {
  for (const folder of ['', 'chunks/']) {
    const names = (await readdir(new URL(folder, scalar))).filter((name) => name.endsWith('.js'));
    const handlers = new Map(
      names.map((name) => [
        name,
        cached(
          'text/javascript; charset=utf-8',
          () => readFile(new URL(`${folder}${name}`, scalar), 'utf8'),
          {
            cacheControl: 'public, max-age=31536000, immutable',
          },
        ),
      ]),
    );
    app.get(`${path}${folder}:name`, async (request: FastifyRequest, reply: FastifyReply) => {
      const send = handlers.get((request.params as { name: string }).name);
      return send ? send(request, reply) : reply.callNotFound();
    });
  }
}

const html = (modules: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Menu Management Service</title>
    <link rel="icon" href="/docs/icon.svg">
    <link rel="stylesheet" href="/docs/page.css">
    <link rel="modulepreload" href="${modules}standalone.esm.js">
    <script type="module" src="/docs/page.js"></script>
  </head>
  <body>
    <div id="reference" data-scalar="${modules}standalone.esm.js" data-origin="${originPlaceholder}"></div>
    <noscript>The contract without a script: <a href="/openapi.yaml">openapi.yaml</a>.</noscript>
  </body>
</html>
`;

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">
  <rect x="2" y="1" width="12" height="14" rx="2" fill="#0a6b3d"/>
  <path d="M5 5h6M5 8h6M5 11h4" stroke="#fff" stroke-width="1.5"/>
</svg>
`;

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
