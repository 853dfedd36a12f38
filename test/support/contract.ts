import { appendFileSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { contractCheck, type Violation } from '../../src/contract/contract-check.ts';
import type { ApiResponse } from './api.ts';

/*
 * The contract as the tests see it. Every response of an operation must have a documented status, its media type,
 * headers and body, and nothing else: the document leaves responses open to fields of later versions, which this version
 * must not send.
 */

interface Operation {
  operationId: string;
  responses: Record<string, object>;
}

const own = contractAt(fileURLToPath(new URL('../../generated/openapi.json', import.meta.url)));
const { check } = own;
/** Each response has to match one of these. */
let accepted = [own];

function contractAt(file: string) {
  const document = JSON.parse(readFileSync(file, 'utf8'));
  const routes = Object.entries<Record<string, Operation>>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      pattern: new RegExp(`^/api/v1${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      operation,
    })),
  );
  return { routes, check: contractCheck(document) };
}

/** Accepts the contract of another build as well, while that serves too. @returns a function that ends it */
export function acceptContractAt(file: string): () => void {
  accepted = [own, contractAt(file)];
  return () => {
    accepted = [own];
  };
}

const seen = new Set<string>();
process.once('exit', () => {
  const file = process.env['CONTRACT_COVERAGE'];
  if (file && seen.size > 0) appendFileSync(file, [...seen].map((line) => `${line}\n`).join(''));
});

/** @throws when the response breaks the contract; ignores requests outside the contract. */
export function checkAgainstContract(method: string, path: string, response: ApiResponse): void {
  const pathname = path.split('?', 1)[0] ?? '';
  const errors = accepted.flatMap(({ routes, check }) => {
    const route = routes.find((one) => one.method === method && one.pattern.test(pathname));
    return route ? [objection(route.operation, check, response)] : [];
  });
  const [error] = errors;
  if (error && errors.every(Boolean)) throw error;
}

function objection(
  { operationId, responses }: Operation,
  check: typeof own.check,
  response: ApiResponse,
): Error | undefined {
  const { status, headers, text } = response;
  const where = `${operationId} ${status}`;
  // The contract's `default` is for unforeseen errors, and a test should foresee all of them.
  if (!(status in responses)) return new Error(`${where} is not documented: ${text}`);
  seen.add(where);
  const violations = check.ofResponse({ operationId, status, headers, body: text });
  if (violations.length === 0) return undefined;
  return new Error(`${where}: ${inWords(violations)}: ${text.slice(0, 2000)}`);
}

/** @throws when the value does not match the named schema of the contract. */
export function checkSchema(name: string, value: unknown): void {
  const violations = check.ofValue({ $ref: `#/components/schemas/${name}` }, value);
  if (violations.length > 0) throw new Error(`not a ${name}: ${inWords(violations)}`);
}

/** How an example differs from its schema; empty when it is valid. Open objects count as closed. */
export function exampleFaults(schema: object, value: unknown): string {
  return inWords(check.ofValue(schema, value));
}

/** Checks an error outside any operation, such as that of an unknown path. @throws unless it is our kind of problem */
export function checkProblem(response: ApiResponse): void {
  const { status, request_id } = response.body ?? {};
  checkSchema('Error', response.body);
  if (!/^application\/problem\+json(;|$)/.test(String(response.headers['content-type'])))
    throw new Error(`an error as ${response.headers['content-type']}`);
  if (status !== response.status || request_id !== response.headers['x-request-id'])
    throw new Error(`status and request id differ between head and body: ${response.text}`);
}

function inWords(violations: Violation[]): string {
  return violations.map(({ part, pointer, keyword }) => `${part} ${pointer} ${keyword}`).join(', ');
}
