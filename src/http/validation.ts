import { Ajv2020, type ErrorObject, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { FastifyRequest, FastifySchemaCompiler, FastifySchemaValidationError } from 'fastify';
import type { components } from '../../generated/api.ts';
import document from '../../generated/openapi.json' with { type: 'json' };
import { operations } from '../../generated/operations.ts';
import { type ApiError, type FieldError, listedFaults, notFound, parameterError } from './errors.ts';

const options: Options = {
  strict: true,
  allErrors: true,
  allowUnionTypes: true,
  unicodeRegExp: true,
  // The lint holds schemas against their meta-schema; compiling that takes a tenth of the time of a start.
  validateSchema: false,
  // The contract's annotations; strict mode refuses whatever is not listed, which catches typos.
  keywords: ['example', 'discriminator', 'xml', 'externalDocs'],
};

// Bodies say what they mean: nothing is coerced, dropped or filled in.
const bodies = withFormats(new Ajv2020(options))
  .addKeyword('components')
  .addSchema({ components: { schemas: document.components.schemas } }, 'contract');
// Everything in a URL or header is text at first.
const parameters = withFormats(new Ajv2020({ ...options, coerceTypes: 'array', useDefaults: true }));

/**
 * Fastify's validator compiler: strict for bodies, coercing for path, query and headers. A schema is compiled when its
 * first request comes, as all of them together take a quarter of the time of a start.
 */
export const validatorCompiler: FastifySchemaCompiler<object> = ({ schema, httpPart }) => {
  if (httpPart === 'body') return compiledOnUse(() => bodies.compile(schema));
  if (httpPart === 'headers')
    return compiledOnUse(() => parameters.compile(lowerCased(schema as ObjectSchema)));
  // Unknown headers are everybody's; an unknown query parameter is a filter that would silently not filter.
  const closed = httpPart === 'querystring' ? { ...schema, additionalProperties: false } : schema;
  return withCanonicalIntegers(
    compiledOnUse(() => parameters.compile(closed)),
    schema as ObjectSchema,
  );
};

function compiledOnUse(compile: () => ValidateFunction): ValidateFunction {
  let compiled: ValidateFunction | undefined;
  const check = (data: unknown): boolean => {
    compiled ??= compile();
    const valid = compiled(data) as boolean;
    check.errors = compiled.errors ?? null;
    return valid;
  };
  check.errors = null as ErrorObject[] | null;
  return check as unknown as ValidateFunction;
}

/**
 * Checks what a handler has made of a body that comes in several media types.
 * @param name a schema of the contract.
 */
export function schemaFaults(name: keyof components['schemas'], value: unknown): FieldError[] {
  const validate = bodies.getSchema(`contract#/components/schemas/${name}`);
  if (!validate) throw new Error(`the contract has no schema ${name}`);
  return validate(value) ? [] : (validate.errors ?? []).map((error) => fieldError(error, 'body'));
}

/** Turns Ajv's errors into ours: all faults at once, except that a path without a valid id is no record (404). */
export function explainFaults(errors: FastifySchemaValidationError[], part: string): Error {
  if (part === 'params') return notFound('There is no record at this path: its ids are not valid.');
  const listed = (errors as ErrorObject[]).slice(0, listedFaults);
  return parameterError(
    listed.map((error) => fieldError(error, part)),
    errors.length,
  );
}

/**
 * The end of validation: all faults of the request at once, where Fastify stops at the first part that has one.
 * @throws 422, or 404 for a path without valid ids.
 */
export async function requireValid(request: FastifyRequest): Promise<void> {
  const first = request.validationError as (ApiError & { validationContext: string }) | undefined;
  if (first?.validationContext === 'params') throw first;
  const others = [...(first ? faultsAfter(first.validationContext, request) : []), ...queryFaults(request)];
  if (first && others.length === 0) throw first;
  const errors = [...(first?.errors ?? []), ...others];
  if (errors.length > 0) throw parameterError(errors);
}

// In Fastify's order of validation.
const parts = ['body', 'querystring', 'headers'] as const;

function faultsAfter(failed: string, request: FastifyRequest): FieldError[] {
  return parts.slice(parts.indexOf(failed as 'body') + 1).flatMap((part) => {
    const validate = request.getValidationFunction(part) as ValidateFunction | undefined;
    if (!validate || validate(part === 'headers' ? request.headers : request.query)) return [];
    return (validate.errors ?? []).map((error) => fieldError(error, part));
  });
}

// Fastify takes a broken percent-encoding for literal text, and does not look at a query when none is declared.
function queryFaults(request: FastifyRequest): FieldError[] {
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
    ...unknown.map((field) => ({ field, code: 'unknown', message: 'is not known here' })),
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
  properties?: Record<string, { type?: unknown }>;
  required?: string[];
}

// Node gives header names in lower case; Fastify does as much for its own compiler only.
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
  const integers = Object.keys(properties).filter((name) => properties[name]?.type === 'integer');
  if (integers.length === 0) return validate;
  const check = (data: Record<string, unknown>): boolean => {
    const wrong = integers.filter(
      (name) => typeof data[name] === 'string' && !/^(0|-?[1-9]\d{0,15})$/.test(data[name]),
    );
    const valid = validate(data) as boolean;
    check.errors = [
      ...(valid ? [] : (validate.errors ?? [])).filter(
        (error) => !wrong.includes(error.instancePath.slice(1)),
      ),
      ...wrong.map((name) => ({
        keyword: 'type',
        instancePath: `/${name}`,
        params: {},
        message: 'must be integer',
      })),
    ];
    return check.errors.length === 0;
  };
  check.errors = [] as Partial<ErrorObject>[];
  return check as unknown as ValidateFunction;
}

function fieldError(error: ErrorObject, part: string): FieldError {
  const { keyword, params, instancePath } = error;
  const name = params['missingProperty'] ?? params['additionalProperty'] ?? params['unevaluatedProperty'];
  const pointer = name === undefined ? instancePath : `${instancePath}/${escapePointer(String(name))}`;
  return shortened({
    field: part === 'body' ? pointer : pointer.slice(1),
    code: codes[keyword] ?? keyword.toLowerCase(),
    message:
      keyword === 'const'
        ? `must be ${params['allowedValue']}`
        : (messages[keyword] ?? error.message ?? 'is not valid'),
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
  multipleOf: 'precision',
  pattern: 'characters',
};

const messages: Record<string, string> = {
  additionalProperties: 'is not known here',
  required: 'is required',
  pattern: 'is blank or holds characters that are not allowed',
  minProperties: 'must hold at least one field',
};

function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

function withFormats(ajv: Ajv2020): Ajv2020 {
  formats.default(ajv);
  return withExactMultiples(ajv);
}

// Ajv divides in binary, so it either refuses 0.29 or, with a tolerance, accepts 0.290000001 as a multiple of 0.01.
function withExactMultiples(ajv: Ajv2020): Ajv2020 {
  return ajv.removeKeyword('multipleOf').addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    compile(step: number) {
      const parts = Math.round(1 / step);
      if (step >= 1) return (value: number) => value % step === 0;
      return (value: number) => Math.round(value * parts) / parts === value;
    },
    error: { message: ({ schemaCode }) => `must be multiple of ${schemaCode}` },
  }) as Ajv2020;
}
