import { randomUUID } from 'node:crypto';
import { maxHeaderSize } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import document from '../generated/openapi.json' with { type: 'json' };
import edition30 from '../generated/openapi-3.0.json' with { type: 'json' };
import { createClientAuthentication } from './accounts/authenticate-client.ts';
import { createCallerFinder } from './accounts/find-caller.ts';
import { registerMetadata } from './accounts/metadata.ts';
import { loadSigningKeys } from './accounts/signing-keys.ts';
import { registerTokens } from './accounts/tokens.ts';
import { bodyLimit } from './contract/bodies.ts';
import { registerDocuments } from './contract/documents.ts';
import { registerContract } from './contract/wiring.ts';
import type { Database } from './db/database.ts';
import type { Replicas } from './db/replicas/replicas.ts';
import type { Seal } from './db/seal.ts';
import { authenticate } from './http/authenticate.ts';
import { clientAddress, networkOf } from './http/client-address.ts';
import { compressResponses } from './http/compression.ts';
import { cutSlowReaders, endConnectionsOnClose, type ReadingTime } from './http/connections.ts';
import { allowOrigins } from './http/cross-origin.ts';
import { createKeptResponses } from './http/kept-responses.ts';
import { logging } from './http/log.ts';
import { ambiguity } from './http/message-form.ts';
import { registerHealth, registerMetrics } from './http/probes.ts';
import { parserErrorSender, sendError } from './http/problem.ts';
import { createLimits } from './http/rate-limits.ts';
import { refuseUnrouted } from './http/routing.ts';
import { boundUnreadResponses } from './http/unread-responses.ts';
import type { Metrics } from './metrics/metrics.ts';
import { createHandlers } from './operations.ts';
import type { Send } from './webhooks/delivery/deliver.ts';
import type { Destination } from './webhooks/delivery/destination.ts';

export interface AppOptions {
  rateLimitPerMinute: number;
  /** Absent: limits are counted in this process alone. */
  redisUrl?: string;
  /** CIDRs of the proxies that are believed where a request comes from. */
  trustedProxies?: readonly string[];
  /** Origins whose pages may call the API from a browser. */
  corsOrigins?: readonly string[];
  logLevel: string;
  /** Share of the responses that is checked against the contract after they were sent, 0 to 1. */
  responseCheckRate?: number;
  /** Endpoints that one account may have; 100 unless given. */
  webhooksPerAccount?: number;
  /** What a client may store under its Idempotency-Keys within 24 hours. */
  keptResponses?: { keys: number; megabytes: number };
  /** How long a connection may take to read a response. */
  readingTime?: ReadingTime;
}

export interface AppParts {
  database: Database;
  /** Where calls that only read may be served. */
  replicas?: Replicas | undefined;
  seal: Seal;
  destination: Destination;
  send: Send;
  /** Counts the responses, and is served at /metrics. */
  metrics?: Metrics;
  /** Aborted as soon as the process is told to stop: it then reports that it is not ready, and keeps serving. */
  leaving?: AbortSignal;
  /** Called when a call that may have written has succeeded. */
  afterWrite: () => void;
}

/**
 * Builds the server, ready to listen but not listening.
 * @throws when the contract and its handlers differ, or the database's keys cannot be read.
 */
export async function buildApp(options: AppOptions, parts: AppParts): Promise<FastifyInstance> {
  const { database, replicas, seal, destination, send, metrics, leaving, afterWrite } = parts;
  const app = await createServer(options, leaving);
  if (metrics) registerMetrics(app, metrics);
  if (options.responseCheckRate) await checkResponses(app, options.responseCheckRate, metrics);
  compressResponses(app);
  const requireFewUnread = boundUnreadResponses(app);
  cutSlowReaders(app, options.readingTime);

  const keys = await loadSigningKeys(database, seal);
  const tokens = await registerTokens(app, keys);
  const { rateLimitPerMinute: perMinute, redisUrl, trustedProxies = [], webhooksPerAccount = 100 } = options;
  const addressOf = clientAddress(trustedProxies);
  const limits = await createLimits(app, {
    perMinute,
    networkOf: ({ raw }) => networkOf(addressOf(raw)),
    redisUrl,
    countsShared: metrics?.countsShared,
  });
  const callers = createCallerFinder(database);
  const knownCaller = (request: FastifyRequest) => {
    const claims = tokens.known(request);
    return claims && callers.known(claims);
  };

  registerHealth(app, database, leaving);
  app.get('/.well-known/jwks.json', async (_request, reply) =>
    reply.header('Cache-Control', 'public, max-age=300').send(await keys.jwks()),
  );
  registerMetadata(app, trustedProxies);
  await registerDocuments(app, document, edition30);
  await registerContract(app, document, {
    handlers: createHandlers({
      tokens,
      authenticateClient: createClientAuthentication(
        database,
        replicas && ((accountIds) => replicas.note(accountIds)),
      ),
      seal,
      destination,
      send,
      webhooksPerAccount,
      clientLimits: { requests_per_minute: perMinute, webhooks_per_account: webhooksPerAccount },
    }),
    database,
    replicas,
    seal,
    kept: createKeptResponses(options.keptResponses ?? {}),
    limits,
    requireFewUnread,
    authenticate: (operationId, alternatives) =>
      authenticate(
        { verify: tokens.verify, findCaller: callers.find, knownCaller, limits },
        operationId,
        alternatives,
      ),
    afterWrite,
  });
  return app;
}

async function createServer(
  { logLevel, corsOrigins = [] }: AppOptions,
  leaving?: AbortSignal,
): Promise<FastifyInstance> {
  const crossOrigin = corsOrigins.length > 0 ? allowOrigins(corsOrigins) : undefined;
  const app = Fastify({
    ...logging(logLevel),
    requestIdHeader: false,
    genReqId: (request) => saneRequestId(request.headers['x-request-id']) ?? `req_${randomUUID()}`,
    bodyLimit,
    // Node itself would refuse a request without Host, but without a body.
    http: { requireHostHeader: false, headersTimeout: 30_000, connectionsCheckingInterval: 1_000 },
    requestTimeout: 60_000,
    // Lengths are the matter of refuseUnrouted and of the contract.
    routerOptions: { maxParamLength: maxHeaderSize, ignoreTrailingSlash: false },
    frameworkErrors(error, request, reply) {
      reply.headers(crossOrigin?.headersFor(request.headers.origin) ?? {});
      sendError(ambiguity(request.raw) ?? error, request, reply);
    },
    clientErrorHandler: parserErrorSender((packet) => crossOrigin?.headersOfPacket(packet) ?? {}),
    return503OnClosing: false,
  });
  // The same applies to an Expect other than 100-continue; RFC 9110, section 10.1.1 lets a server ignore it.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.setErrorHandler(sendError);
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('X-Request-Id', request.id);
    done();
  });
  await crossOrigin?.register(app);
  refuseUnrouted(app);
  logResponses(app);
  endConnectionsOnClose(app, leaving);
  return app;
}

function saneRequestId(sent: string | string[] | undefined): string | undefined {
  return typeof sent === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(sent) ? sent : undefined;
}

// One line a response. Headers and bodies are never logged: they carry tokens and secrets.
function logResponses(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, done) => {
    request.log.info(
      {
        method: request.method,
        path: request.url.split('?', 1)[0]?.slice(0, 256),
        operation: request.routeOptions.config.operationId,
        client: request.caller?.clientId,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
      },
      'request completed',
    );
    done();
  });
}

// Not loaded unless it is wanted.
async function checkResponses(app: FastifyInstance, rate: number, metrics?: Metrics): Promise<void> {
  const { registerResponseCheck } = await import('./contract/response-check.ts');
  registerResponseCheck(app, { document, rate, count: (...sample) => metrics?.checked(...sample) });
}
