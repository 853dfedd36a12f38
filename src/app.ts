import { randomUUID } from 'node:crypto';
import { maxHeaderSize } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, { type FastifyInstance, LogController } from 'fastify';
import document from '../generated/openapi.json' with { type: 'json' };
import edition30 from '../generated/openapi-3.0.json' with { type: 'json' };
import { createCallers } from './accounts/caller.ts';
import { loadSigningKeys } from './accounts/signing-keys.ts';
import { registerTokens } from './accounts/tokens.ts';
import type { Config } from './process/config.ts';
import type { Context } from './context.ts';
import { authenticate } from './http/authenticate.ts';
import { bodyLimit } from './contract/bodies.ts';
import { registerContract } from './contract/wiring.ts';
import { registerDocuments } from './contract/documents.ts';
import { ApiError, badRequest } from './http/errors.ts';
import { registerHealth } from './http/probes.ts';
import { registerMetrics } from './http/metrics.ts';
import { answerError, problem } from './http/problem.ts';
import { createLimits } from './http/rate-limits.ts';
import { refuseUnrouted } from './http/routing.ts';
import type { Metrics } from './metrics/metrics.ts';
import { createSeal } from './db/seal.ts';
import { userAgent } from './process/version.ts';
import { createSender } from './webhooks/delivery/deliver.ts';

export interface Parts extends Pick<Context, 'database' | 'destination' | 'eventCommitted'> {
  /** Counts what is answered, and serves it at /metrics. */
  metrics?: Metrics;
}

/**
 * Builds the server, ready to listen but not listening.
 * @throws when the contract and its handlers differ, or the database's keys cannot be read.
 */
export async function buildApp(
  config: Pick<Config, 'rateLimitPerMinute' | 'redisUrl' | 'logLevel'> &
    Partial<Pick<Config, 'responseCheckRate'>> & { encryptionKey: Buffer },
  parts: Parts,
): Promise<FastifyInstance> {
  const app = Fastify({
    logger: { level: config.logLevel, base: { service: 'menu-management-service' } },
    logController: new LogController({ disableRequestLogging: true }),
    requestIdHeader: false,
    genReqId: (request) => saneRequestId(request.headers['x-request-id']) ?? `req_${randomUUID()}`,
    bodyLimit,
    // Node itself would answer a request without Host, but without a body.
    http: { requireHostHeader: false, headersTimeout: 30_000, connectionsCheckingInterval: 1_000 },
    requestTimeout: 60_000,
    // Lengths are the matter of refuseUnrouted and of the contract.
    routerOptions: { maxParamLength: maxHeaderSize, ignoreTrailingSlash: false },
    frameworkErrors: answerError,
    clientErrorHandler: answerClientError,
    return503OnClosing: false,
  });
  // Likewise for an Expect that is not 100-continue; RFC 9110, section 10.1.1 lets a server ignore it.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.setErrorHandler(answerError);
  app.addHook('onRequest', async (request, reply) => void reply.header('X-Request-Id', request.id));
  refuseUnrouted(app);
  logEachAnswer(app);
  endConnectionsOnClose(app);
  const { metrics } = parts;
  if (metrics) registerMetrics(app, metrics);
  if (config.responseCheckRate) {
    // Not loaded unless it is wanted.
    const { registerResponseCheck } = await import('./contract/response-check.ts');
    registerResponseCheck(app, {
      document,
      rate: config.responseCheckRate,
      count: (...sample) => metrics?.checked(...sample),
    });
  }

  const { database, destination, eventCommitted } = parts;
  const seal = createSeal(config.encryptionKey);
  const keys = await loadSigningKeys(database, seal);
  const tokens = await registerTokens(app, keys);
  const limits = await createLimits(app, { perMinute: config.rateLimitPerMinute, redisUrl: config.redisUrl });
  const findCaller = createCallers(database);

  registerHealth(app, database);
  app.get('/.well-known/jwks.json', async (_request, reply) =>
    reply.header('Cache-Control', 'public, max-age=300').send(keys.jwks()),
  );
  await registerDocuments(app, document, edition30);
  await registerContract(
    app,
    document,
    { database, destination, eventCommitted, tokens, seal, send: createSender({ destination, userAgent }) },
    {
      authenticate: (operationId, alternatives) =>
        authenticate({ tokens, findCaller, limits }, operationId, alternatives),
      limits,
    },
  );
  return app;
}

function saneRequestId(given: string | string[] | undefined): string | undefined {
  return typeof given === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : undefined;
}

// One line an answer. Headers and bodies are never logged: they carry tokens and secrets.
function logEachAnswer(app: FastifyInstance): void {
  app.addHook('onResponse', async (request, reply) => {
    request.log.info(
      {
        method: request.method,
        path: request.url.split('?', 1)[0]?.slice(0, 256),
        operation: request.routeOptions.config.operationId,
        client: request.caller?.clientId,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
      },
      'answered',
    );
  });
}

// Node closes the idle connections once, at the start; those that are busy then would stay for the keep-alive time.
function endConnectionsOnClose(app: FastifyInstance): void {
  let closing = false;
  app.addHook('preClose', (done) => {
    closing = true;
    const sweep = setInterval(() => app.server.closeIdleConnections(), 50);
    app.server.once('close', () => clearInterval(sweep));
    done();
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (closing) reply.header('Connection', 'close');
    done();
  });
}

// Raised by the HTTP parser, before there is a request: the answer is written by hand.
function answerClientError(this: FastifyInstance, error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy(error);
  const fault = parserFaults[error.code ?? ''] ?? badRequest('The request is not valid HTTP/1.1.');
  const requestId = `req_${randomUUID()}`;
  const body = JSON.stringify(problem(fault, requestId));
  this.log.info(
    { code: error.code, status: fault.status, reqId: requestId },
    'request refused by the HTTP parser',
  );
  socket.end(
    `HTTP/1.1 ${fault.status} ${fault.title}\r\nX-Request-Id: ${requestId}\r\nConnection: close\r\n` +
      `Content-Type: application/problem+json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

const parserFaults: Record<string, ApiError> = {
  HPE_HEADER_OVERFLOW: new ApiError(
    431,
    'Request Header Fields Too Large',
    'headers_too_large',
    'The request line and headers may have at most 16 KiB.',
  ),
  ERR_HTTP_REQUEST_TIMEOUT: new ApiError(
    408,
    'Request Timeout',
    'request_timeout',
    'The request took too long to arrive.',
  ),
};
