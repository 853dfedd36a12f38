import { appendFileSync, readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Answer } from './api.ts';

/*
 * The contract as the tests see it: the published document, read apart from the service's own validation. Every
 * answer of an operation must have a documented status, its media type, headers and body, and nothing besides:
 * the document leaves answers open to fields of a later version, which this one does not have.
 */

interface Node {
  $ref?: string;
  required?: boolean;
  schema?: object;
  headers?: Record<string, Node>;
  content?: Record<string, { schema: object }>;
}

interface Operation {
  operationId: string;
  responses: Record<string, Node>;
}

const document = JSON.parse(readFileSync(new URL('../../generated/openapi.json', import.meta.url), 'utf8'));
for (const schema of Object.values<{ type?: string; additionalProperties?: unknown }>(
  document.components.schemas,
))
  if (schema.type === 'object') schema.additionalProperties ??= false;
const ajv = new Ajv2020({
  strict: false,
  allErrors: true,
  multipleOfPrecision: 6,
  coerceTypes: false,
  validateSchema: false,
});
formats.default(ajv);
ajv.addSchema({ $id: 'contract', ...document });

const routes = Object.entries<Record<string, Operation>>(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    method: method.toUpperCase(),
    pattern: new RegExp(`^/api/v1${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    operation,
  })),
);

const seen = new Set<string>();
process.once('exit', () => {
  const file = process.env['CONTRACT_COVERAGE'];
  if (file && seen.size > 0) appendFileSync(file, [...seen].map((line) => `${line}\n`).join(''));
});

/** @throws when the answer is not what the contract says; does nothing for what is outside the contract. */
export function checkAgainstContract(method: string, path: string, answer: Answer): void {
  const pathname = path.split('?', 1)[0] ?? '';
  const route = routes.find((one) => one.method === method && one.pattern.test(pathname));
  if (!route) return;
  const { operationId, responses } = route.operation;
  const where = `${operationId} ${answer.status}`;
  const documented = responses[String(answer.status)];
  if (!documented) throw new Error(`${where} is not documented: ${answer.text}`);
  seen.add(where);
  const response = resolve(documented);
  checkHeaders(where, response, answer);
  checkBody(where, response, answer);
}

/** @throws when the value is not what the named schema of the contract says. */
export function checkSchema(name: string, value: unknown): void {
  const validate = compile({ $ref: `#/components/schemas/${name}` });
  if (!validate(value)) throw new Error(`not a ${name}: ${ajv.errorsText(validate.errors)}`);
}

/** What an example of a media type is that its schema does not say; empty when it is valid. Open objects count as closed. */
export function exampleFaults(schema: object, value: unknown): string {
  const validate = compile(schema);
  return validate(value) ? '' : ajv.errorsText(validate.errors);
}

/** Checks an error that no operation answers, such as that of an unknown path. @throws when it is no problem of ours. */
export function checkProblem(answer: Answer): void {
  const { status, request_id } = answer.body ?? {};
  checkSchema('Error', answer.body);
  if (!/^application\/problem\+json(;|$)/.test(String(answer.headers['content-type'])))
    throw new Error(`an error as ${answer.headers['content-type']}`);
  if (status !== answer.status || request_id !== answer.headers['x-request-id'])
    throw new Error(`status and request id differ between head and body: ${answer.text}`);
}

function checkHeaders(where: string, response: Node, answer: Answer): void {
  for (const [name, header] of Object.entries(response.headers ?? {})) {
    const { required, schema } = resolve(header);
    const value = answer.headers[name.toLowerCase()];
    if (value === undefined && required) throw new Error(`${where} lacks the header ${name}`);
    if (value === undefined || !schema) continue;
    const validate = compile(schema);
    const number = /^\d+$/.test(String(value)) ? Number(value) : value;
    if (!validate(value) && !validate(number)) {
      throw new Error(`${where}: header ${name}: ${value}: ${ajv.errorsText(validate.errors)}`);
    }
  }
  for (const name of ['etag', 'location', 'link', 'retry-after', 'www-authenticate']) {
    const declared = Object.keys(response.headers ?? {}).some((header) => header.toLowerCase() === name);
    if (answer.headers[name] !== undefined && !declared)
      throw new Error(`${where} has an undeclared header ${name}`);
  }
}

function checkBody(where: string, response: Node, answer: Answer): void {
  if (!response.content) {
    if (answer.text !== '') throw new Error(`${where} has a body where none is documented: ${answer.text}`);
    return;
  }
  const mediaType = String(answer.headers['content-type']).split(';', 1)[0] ?? '';
  const content = response.content[mediaType];
  if (!content) throw new Error(`${where} has the undocumented media type ${mediaType}`);
  const validate = compile(content.schema);
  if (!validate(mediaType.endsWith('json') ? answer.body : answer.text)) {
    throw new Error(`${where}: ${ajv.errorsText(validate.errors)}: ${answer.text.slice(0, 2000)}`);
  }
}

function resolve(node: Node): Node {
  return node.$ref ? pointer(node.$ref) : node;
}

function pointer(ref: string): Node {
  return ref
    .slice(2)
    .split('/')
    .reduce((node, key) => node[key.replaceAll('~1', '/').replaceAll('~0', '~')], document);
}

const compiled = new Map<object | string, ValidateFunction>();

function compile(schema: object): ValidateFunction {
  const { $ref } = schema as { $ref?: string };
  const key = $ref ?? schema;
  let validate = compiled.get(key);
  if (!validate) {
    validate = ajv.compile($ref ? { $ref: `contract${$ref}` } : absolute(schema));
    compiled.set(key, validate);
  }
  return validate;
}

// References of an inline schema lead into the document.
function absolute(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"contract#/'));
}
