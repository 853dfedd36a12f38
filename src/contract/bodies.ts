import type { FastifyInstance, FastifyRequest } from 'fastify';
import document from '../../generated/openapi.json' with { type: 'json' };
import { OAuthFailure, parameterError } from '../http/errors.ts';
import { refusedMediaType } from '../http/problem.ts';

/** Largest body in bytes, where the contract has no `x-body-limit` for the operation. */
export const bodyLimit = 1_048_576;
// Every value of a body may be an error of its own, and all are collected before the first thousand are listed.
const valueLimit = 524_288;
// The token endpoint is the only one that takes a form.
const formFields = new Set(Object.keys(document.components.schemas.TokenRequest.properties));

export interface BodyRule {
  required: boolean;
  mediaTypes: readonly string[];
}

/** Parses the media types of the contract; every other one is refused with 415. */
export function registerBodyParsers(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, body: Buffer) => (body.length === 0 ? undefined : parseJson(body)),
  );
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, body: Buffer) => parseForm(body),
  );
  app.addContentTypeParser('text/csv', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) =>
    parseCsvText(request, body),
  );
  app.addContentTypeParser('*', async (request: FastifyRequest) => {
    throw refusedMediaType(request);
  });
}

/**
 * Checked before the body is read: Fastify parses, and leaves unvalidated, what it can parse but the operation
 * does not declare.
 */
export function requireMediaType({ mediaTypes }: BodyRule): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    const mediaType = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
    const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
    if (encoding !== 'identity') throw refusedMediaType(request);
    if (mediaType !== undefined && !mediaTypes.includes(mediaType)) throw refusedMediaType(request);
  };
}

/** Fastify skips validation for an empty body (fastify#7038). */
export async function requireBody({ body }: FastifyRequest): Promise<void> {
  if (body === undefined) throw parameterError([error('required', 'is required')]);
}

/** For operations without a body: whatever is sent along, also an empty "JSON" body, is left unread. */
export async function ignoreBody(request: FastifyRequest): Promise<void> {
  for (const name of ['content-type', 'content-length', 'transfer-encoding'])
    delete request.raw.headers[name];
}

function parseJson(body: Buffer): unknown {
  requireFewValues(body, ',');
  try {
    return JSON.parse(decode(body));
  } catch {
    throw parameterError([error('json', 'is not valid JSON in UTF-8')]);
  }
}

// Counted before parsing, by what stands between values; within text it counts as well.
function requireFewValues(body: Buffer, separators: string): void {
  if (body.length <= valueLimit) return;
  const bytes = new Set(Buffer.from(separators));
  let count = 0;
  for (const byte of body) if (bytes.has(byte)) count += 1;
  if (count >= valueLimit) throw parameterError([error('too_many', `has more than ${valueLimit} values`)]);
}

// Left as text: what a row means is the operation's business. The decoder takes a byte order mark off.
function parseCsvText(request: FastifyRequest, body: Buffer): string {
  const charset = /;\s*charset="?([\w-]+)"?/i.exec(request.headers['content-type'] ?? '')?.[1] ?? 'utf-8';
  if (!/^(utf-?8|us-ascii)$/i.test(charset)) throw refusedMediaType(request);
  requireFewValues(body, ',;\t\r\n');
  try {
    return decode(body);
  } catch {
    throw parameterError([error('csv', 'is not CSV in UTF-8')]);
  }
}

// RFC 6749, section 3.2: a parameter must not be sent twice, one without a value counts as absent, and what is not
// known is ignored; extensions have parameters that may be repeated (RFC 8707, section 2).
function parseForm(body: Buffer): Record<string, string> {
  const fields = [...new URLSearchParams(body.toString('latin1'))].filter(([name]) => formFields.has(name));
  const names = fields.map(([name]) => name);
  if (new Set(names).size < names.length)
    throw new OAuthFailure('invalid_request', 'A parameter was sent twice.');
  return Object.fromEntries(fields.filter(([, value]) => value !== ''));
}

function decode(body: Buffer): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(body);
}

function error(code: string, message: string) {
  return { field: '', code, message };
}
