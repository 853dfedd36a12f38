import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import { type ApiError, headersTooLarge, methodNotAllowed, notFound, uriTooLong } from './errors.ts';
import { ambiguity } from './message-form.ts';

/**
 * Longest path and query in characters: searchItems accepts 200 UUIDs, which are 9,800. RFC 9110, section 4.1
 * recommends at least 8000 octets.
 */
const maxUrlLength = 12_288;

/**
 * The longest list of ETags in characters, according to the contract; all headers together may have twice as many.
 */
const maxETagsLength = 8192;

/**
 * Refuses requests that no route serves, before looking at anything else in them: an ambiguous request (400), an
 * unknown path (404), another method of a known one (405 with Allow), a URL or a list of ETags that is too long (414,
 * 431). Must be called before routes are registered.
 */
export function refuseUnrouted(app: FastifyInstance): void {
  const served = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }: RouteOptions) => {
    const methods = served.get(url) ?? new Set();
    served.set(url, methods);
    for (const one of [method].flat()) methods.add(one);
  });

  // In a hook, since Fastify reads and parses the body before it calls the handler below. Async, so that the rest of
  // the bytes that came with a refused request are parsed before the response.
  app.addHook('onRequest', async (request) => {
    const ambiguous = ambiguity(request.raw);
    if (ambiguous) throw ambiguous;
    if (request.url.length > maxUrlLength) throw uriTooLong(maxUrlLength);
    const { 'if-match': ifMatch = '', 'if-none-match': ifNoneMatch = '' } = request.headers;
    if (Math.max(ifMatch.length, ifNoneMatch.length) > maxETagsLength)
      throw headersTooLarge(`If-Match and If-None-Match may have at most ${maxETagsLength} characters.`);
    if (request.is404 || request.routeOptions.url === '*') throw refusal(request, served);
  });
  // Called by routes that pass a request on, such as the route for static files.
  app.setNotFoundHandler((request) => {
    throw unknownPath(request);
  });
}

function refusal(request: FastifyRequest, served: Map<string, Set<string>>): ApiError {
  const methods = [...served]
    .filter(([url]) => patternOf(url).test(pathOf(request)))
    .flatMap(([, methods]) => [...methods]);
  return methods.length > 0
    ? methodNotAllowed(request.method, [...new Set(methods)].join(', '))
    : unknownPath(request);
}

function patternOf(url: string): RegExp {
  return new RegExp(`^${url.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+').replaceAll('*', '.*')}$`);
}

function unknownPath(request: FastifyRequest): ApiError {
  return notFound(`${request.method} ${pathOf(request).slice(0, 200)} is not part of this API.`);
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] ?? '';
}
