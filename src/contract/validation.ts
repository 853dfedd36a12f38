import { Ajv2020, type ErrorObject, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import type {
  FastifyRequest,
  FastifySchemaCompiler,
  FastifySchemaValidationError,
  preHandlerHookHandler,
} from 'fastify';
import type { components } from '../../generated/api.ts';
import document from '../../generated/openapi.json' with { type: 'json' };
import { operations } from '../../generated/operations.ts';
import {
  type ApiError,
  badRequest,
  type FieldError,
  listedErrors,
  notFound,
  parameterError,
} from '../http/errors.ts';
import { withBoundedArrays } from './arrays.ts';
import { checks, withChecks } from './checks.ts';
import { withFormats } from './formats.ts';

const options: Options = {
  strict: true,
  allErrors: true,
  allowUnionTypes: true,
  unicodeRegExp: true,
  // The lint holds schemas against their meta-schema; compiling that takes a tenth of the time of a start.
  validateSchema: false,
  // The contract's annotations; strict mode refuses whatever is not listed, which catches typos.
  keywords: ['example', 'discriminator', 'xml', 'externalDocs'],
  // Schemas that contain themselves all get the same $id from the reader of the document.
  addUsedSchema: false,
};

// Bodies are taken literally: nothing is coerced, dropped or filled in.
const bodies = withBoundedArrays(withChecks(withFormats(new Ajv2020(options))))
  .addKeyword('components')
  .addSchema({ components: { schemas: document.components.schemas } }, 'contract');
// Everything in a URL or header is text at first.
const parameters = withBoundedArrays(
  withChecks(withFormats(new Ajv2020({ ...options, coerceTypes: 'array', useDefaults: true }))),
);

/**
 * Fastify's validator compiler: strict for bodies, coercing for path, query and headers. A schema is compiled at its
 * first request, since compiling all of them takes a quarter of the start, and then serves every app of the process.
 */
export const validatorCompiler: FastifySchemaCompiler<object> = ({ schema, method, url, httpPart }) => {
  const onUse = (compile: () => ValidateFunction) => compiledOnUse(`${method} ${url} ${httpPart}`, compile);
  if (httpPart === 'body') return onUse(() => bodies.compile(schema));
  if (httpPart === 'headers') return onUse(() => parameters.compile(lowerCased(schema as ObjectSchema)));
  // Unknown headers are everybody's; an unknown query parameter is a filter that would silently not filter.
  const closed = httpPart === 'querystring' ? { ...schema, additionalProperties: false } : schema;
  return withCanonicalIntegers(
    onUse(() => parameters.compile(closed)),
    schema as ObjectSchema,
  );
};

function compiledOnUse(key: string, compile: () => ValidateFunction): ValidateFunction {
  let validate: ValidateFunction | undefined;
  const check = (data: unknown): boolean => {
    validate ??= compiledOnce(key, compile);
    const valid = validate(data) as boolean;
    check.errors = validate.errors ?? null;
    return valid;
  };
  check.errors = null as ErrorObject[] | null;
  return check as unknown as ValidateFunction;
}

/** By route and part of the request. */
const compiled = new Map<string, ValidateFunction>();

function compiledOnce(key: string, compile: () => ValidateFunction): ValidateFunction {
  const found = compiled.get(key) ?? compile();
  compiled.set(key, found);
  return found;
}

/**
 * Validates what a handler has read from a body that has several media types.
 * @param name a schema of the contract.
 */
export function schemaErrors(name: keyof components['schemas'], value: unknown): FieldError[] {
  const validate = bodies.getSchema(`contract#/components/schemas/${name}`);
  if (!validate) throw new Error(`the contract has no schema ${name}`);
  return validate(value) ? [] : fieldErrors(validate.errors, 'body');
}

/**
 * Turns Ajv's errors into ours: all at once, as far as a response lists them, except that a path without a valid id is
 * no record (404), and a header that is not valid a bad request (400: the toggles of the given interface have no 422).
 */
export function explainErrors(errors: FastifySchemaValidationError[], part: string): Error {
  if (part === 'params') return notFound('There is no record at this path: an identifier in it is invalid.');
  const found = parameterError(fieldErrors(errors as ErrorObject[], part));
  return part === 'headers' ? badRequest(found.message) : found;
}

/**
 * The end of validation: all errors of the request at once, where Fastify stops at the first part that has one.
 * @throws 422, or 404 for a path without valid ids, 400 for a header.
 */
export const requireValid: preHandlerHookHandler = (request, _reply, done) => {
  // Fastify has found nothing, and there is nothing that it does not look at.
  if (!request.validationError && !request.url.includes('?')) return done();
  const first = request.validationError as (ApiError & { validationContext: string }) | undefined;
  if (first?.validationContext === 'params' || first?.validationContext === 'headers') throw first;
  const wrongHeaders = first ? errorsOf('headers', request) : [];
  if (wrongHeaders.length > 0) throw explainErrors(wrongHeaders, 'headers');
  const ofQuery = first?.validationContext === 'body' ? errorsOf('querystring', request) : [];
  const others = [...fieldErrors(ofQuery, 'querystring'), ...queryErrors(request)];
  if (first && others.length === 0) throw first;
  const errors = [...(first?.errors ?? []), ...others];
  if (errors.length > 0) throw parameterError(errors);
  done();
};

// Fastify validates body, query and headers in this order, and no further than the first that is not valid.
function errorsOf(part: 'querystring' | 'headers', request: FastifyRequest): ErrorObject[] {
  const validate = request.getValidationFunction(part) as ValidateFunction | undefined;
  const valid = validate?.(part === 'headers' ? request.headers : request.query) ?? true;
  return valid ? [] : (validate?.errors ?? []);
}

// Fastify treats a broken percent-encoding as literal text, and ignores the query of an operation that declares none.
function queryErrors(request: FastifyRequest): FieldError[] {
  const { url, query } = request;
  if (!url.includes('?')) return [];
  const { config, schema } = request.routeOptions;
  const { operationId } = config;
  if (!operationId || !operations[operationId].statuses.includes(422)) return [];
  const pairs = url.slice(url.indexOf('?') + 1).split('&');
  const broken = pairs.filter((pair) => !isPercentEncoded(pair)).map((pair) => pair.split('=', 1)[0] ?? '');
  const unknown = schema?.querystring ? [] : Object.keys(query as object);
  return [
    ...broken.map((field) => ({ field, code: 'characters', message: 'is not percent-encoded UTF-8' })),
    ...unknown.map((field) => ({ field, code: 'unknown', message: 'is unknown' })),
  ].map(shortened);
}

function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

interface ObjectSchema {
  properties?: Record<string, { type?: unknown; items?: { type?: unknown } }>;
  required?: string[];
}

// Node gives header names in lower case; Fastify does the same, but only for its own compiler.
function lowerCased({ properties = {}, required = [], ...schema }: ObjectSchema): object {
  const entries = Object.entries(properties).map(([name, property]) => [name.toLowerCase(), property]);
  return {
    ...schema,
    properties: Object.fromEntries(entries),
    required: required.map((name) => name.toLowerCase()),
  };
}

// Number('1e3'), Number(' 7 ') and Number('0x10') are integers to Ajv's coercion; an id has one spelling.
function withCanonicalIntegers(
  validate: ValidateFunction,
  { properties = {} }: ObjectSchema,
): ValidateFunction {
  const integers = Object.keys(properties).filter((name) =>
    [properties[name]?.type, properties[name]?.items?.type].includes('integer'),
  );
  if (integers.length === 0) return validate;
  const check = (data: Record<string, unknown>): boolean => {
    // Before Ajv has coerced them.
    const wrong = integers.filter((name) => !isCanonical(data[name]));
    const valid = validate(data) as boolean;
    if (valid && wrong.length === 0) return true;
    check.errors = [
      ...(valid ? [] : (validate.errors ?? [])).filter(
        (error) => !wrong.includes(error.instancePath.split('/')[1] ?? ''),
      ),
      ...wrong.map((name) => ({
        keyword: 'type',
        instancePath: `/${name}`,
        params: {},
        message: 'must be integer',
      })),
    ];
    return false;
  };
  check.errors = [] as Partial<ErrorObject>[];
  return check as unknown as ValidateFunction;
}

function isCanonical(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isCanonical);
  return typeof value !== 'string' || /^(0|-?[1-9]\d{0,15})$/.test(value);
}

// For a nullable value that is not null, only the error in the value itself: Ajv also reports that it is not null,
// and that no alternative matches.
function ownErrors(errors: readonly ErrorObject[] | null | undefined): readonly ErrorObject[] {
  const isNotNull = ({ keyword, params }: ErrorObject) => keyword === 'type' && params['type'] === 'null';
  const nullable = new Set(errors?.filter(isNotNull).map(({ instancePath }) => instancePath));
  return (errors ?? []).filter(
    (error) => !nullable.has(error.instancePath) || !(isNotNull(error) || error.keyword === 'anyOf'),
  );
}

// One more than a response lists shows that there are more.
function fieldErrors(errors: readonly ErrorObject[] | null | undefined, part: string): FieldError[] {
  return ownErrors(errors)
    .slice(0, listedErrors + 1)
    .map((error) => fieldError(error, part));
}

function fieldError(error: ErrorObject, part: string): FieldError {
  const { keyword, params, instancePath } = error;
  const name = params['missingProperty'] ?? params['additionalProperty'] ?? params['unevaluatedProperty'];
  const pointer = name === undefined ? instancePath : `${instancePath}/${escapePointer(String(name))}`;
  const check = keyword === 'x-check' ? checks[params['check']] : undefined;
  return shortened({
    field: part === 'body' ? pointer : pointer.slice(1),
    code: check?.code ?? codes[keyword] ?? keyword.toLowerCase(),
    message:
      keyword === 'const'
        ? `must be ${params['allowedValue']}`
        : (check?.message ?? messages[keyword] ?? error.message ?? 'is not valid'),
  });
}

// An unknown name is the sender's, of any length.
function shortened({ field, ...rest }: FieldError): FieldError {
  return { field: field.slice(0, 1024).toWellFormed(), ...rest };
}

const codes: Record<string, string> = {
  additionalProperties: 'unknown',
  minLength: 'too_short',
  maxLength: 'too_long',
  minimum: 'too_small',
  maximum: 'too_large',
  minItems: 'too_few',
  maxItems: 'too_many',
  uniqueItems: 'duplicate',
  minProperties: 'empty',
  pattern: 'characters',
};

const messages: Record<string, string> = {
  additionalProperties: 'is unknown',
  required: 'is required',
  // Without the pattern itself: an OAuth error's description may have neither quotes nor backslashes (RFC 6749, 5.2).
  pattern: 'does not match its pattern in the contract',
  minProperties: 'must have at least one field',
};

function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
