import type {
  FastifyInstance,
  FastifyRequest,
  preParsingHookHandler,
  preValidationHookHandler,
} from 'fastify';
import document from '../../generated/openapi.json' with { type: 'json' };
import { type OperationId, operations } from '../../generated/operations.ts';
import { type ApiError, OAuthFailure, parameterError } from '../http/errors.ts';
import { refusedMediaType } from '../http/problem.ts';
import { createBodyReader } from '../http/read-body.ts';

/** Largest body in bytes, where the contract has no `x-body-limit` for the operation. */
export const bodyLimit = 1_048_576;
/** Most values of a document that is imported; 10,000 items with all their fields and ten labels have 250,000. */
export const mostValuesOfImport = 524_288;
// A menu of 10,000 items is reordered by 12,000; more than this would take too long here.
const mostValues = 65_536;
// The deepest body of the contract, of importMenu, has 10 levels.
const deepestLevel = 32;
const { TokenRequest, TokenRevocation } = document.components.schemas;
// The fields of the operations that take a form.
const formFields: { [Id in OperationId]?: ReadonlySet<string> } = {
  issueToken: new Set(Object.keys(TokenRequest.properties)),
  revokeToken: new Set(Object.keys(TokenRevocation.properties)),
};

export interface BodyRule {
  required: boolean;
  mediaTypes: readonly string[];
}

/** Parses the media types of the contract; every other one is refused with 415. */
export function registerBodyParsers(app: FastifyInstance): void {
  const readBody = createBodyReader();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', async (request: FastifyRequest) => {
    const body = await readBody(request);
    if (body.length === 0) return undefined;
    return isReadByHandler(request) ? body : parseJson(body);
  });
  app.addContentTypeParser('application/x-www-form-urlencoded', async (request: FastifyRequest) =>
    parseForm(await readBody(request), formFields[request.routeOptions.config.operationId as OperationId]),
  );
  app.addContentTypeParser('text/csv', async (request: FastifyRequest) => {
    const body = await readBody(request);
    const charset = /;\s*charset="?([\w-]+)"?/i.exec(request.headers['content-type'] ?? '')?.[1] ?? 'utf-8';
    if (!/^(utf-?8|us-ascii)$/i.test(charset)) throw refusedMediaType(request);
    return body;
  });
  app.addContentTypeParser('*', async (request: FastifyRequest) => {
    throw refusedMediaType(request);
  });
}

/**
 * Checked before the body is read: Fastify parses media types that the operation does not declare, but does not
 * validate them.
 */
export function requireMediaType({ mediaTypes }: BodyRule): preParsingHookHandler {
  return (request, _reply, _payload, done) => {
    const mediaType = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
    const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
    if (encoding !== 'identity') throw refusedMediaType(request);
    if (mediaType !== undefined && !mediaTypes.includes(mediaType)) throw refusedMediaType(request);
    done();
  };
}

/** Fastify skips validation for an empty body (fastify#7038). */
export const requireBody: preValidationHookHandler = ({ body }, _reply, done) => {
  if (body === undefined) throw parameterError([error('required', 'is required')]);
  done();
};

/** For operations without a body: whatever is sent along, also an empty "JSON" body, is left unread. */
export const ignoreBody: preParsingHookHandler = ({ raw: { headers } }, _reply, _payload, done) => {
  for (const name of bodyHeaders) if (name in headers) delete headers[name];
  done();
};

const bodyHeaders = ['content-type', 'content-length', 'transfer-encoding'];

/** @throws 422 if it is not JSON in UTF-8, or if it has more levels or values than any body of the contract. */
export function parseJson(body: Uint8Array, most = mostValues): unknown {
  requireBounded(body, most);
  try {
    return JSON.parse(decode(body));
  } catch {
    throw parameterError([error('json', 'is not valid JSON in UTF-8')]);
  }
}

/** Bounds what parsing and validating may cost: levels and values of JSON are counted before it is parsed. */
function requireBounded(body: Uint8Array, most: number): void {
  let level = 0;
  let values = 0;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at];
    if (byte === quote) at = endOfText(body, at);
    else if (byte === comma) values += 1;
    else if (byte === bracket || byte === brace) level += 1;
    else if (byte === bracket + 2 || byte === brace + 2) level -= 1;
    if (level > deepestLevel) throw tooDeep();
    if (values >= most) throw tooMany(most);
  }
}

function tooDeep(): ApiError {
  return parameterError([error('too_deep', `has more than ${deepestLevel} levels`)]);
}

function tooMany(most: number): ApiError {
  return parameterError([error('too_many', `has more than ${most} values`)]);
}

const [quote, backslash, comma, bracket, brace] = Buffer.from('"\\,[{') as unknown as [
  number,
  number,
  number,
  number,
  number,
];

// Of the quote that ends the text, or the length of the body.
function endOfText(body: Uint8Array, start: number): number {
  for (let end = body.indexOf(quote, start + 1); end > 0; end = body.indexOf(quote, end + 1)) {
    let first = end;
    while (body[first - 1] === backslash) first -= 1;
    if ((end - first) % 2 === 0) return end;
  }
  return body.length;
}

/**
 * The decoder removes a byte order mark.
 * @throws 422 if it is not text in UTF-8, or if it has too many cells.
 */
export function parseCsvText(body: Uint8Array): string {
  requireFewCells(body);
  try {
    return decode(body);
  } catch {
    throw parameterError([error('csv', 'is not CSV in UTF-8')]);
  }
}

// A document with several media types stays as it was sent: its handler knows what they have in common.
function isReadByHandler(request: FastifyRequest): boolean {
  const { operationId } = request.routeOptions.config;
  return operationId !== undefined && (operations[operationId].body?.mediaTypes.length ?? 0) > 1;
}

function requireFewCells(body: Uint8Array): void {
  if (body.length <= mostValuesOfImport) return;
  let cells = 0;
  for (const byte of body) if (separators.has(byte)) cells += 1;
  if (cells >= mostValuesOfImport) throw tooMany(mostValuesOfImport);
}

// Of cells, labels and rows; within text they count as well.
const separators = new Set(Buffer.from(',;\t\r\n'));

// RFC 6749, section 3.2: a parameter must not be sent twice, one without a value counts as absent, and unknown ones
// are ignored; parameters of extensions may be repeated (RFC 8707, section 2).
function parseForm(body: Buffer, known: ReadonlySet<string> = new Set()): Record<string, string> {
  const fields = [...new URLSearchParams(body.toString('latin1'))].filter(([name]) => known.has(name));
  const names = fields.map(([name]) => name);
  if (new Set(names).size < names.length)
    throw new OAuthFailure('invalid_request', 'A parameter was sent twice.');
  return Object.fromEntries(fields.filter(([, value]) => value !== ''));
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decode(body: Uint8Array): string {
  return utf8.decode(body);
}

function error(code: string, message: string) {
  return { field: '', code, message };
}
