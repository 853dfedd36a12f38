import type { OpenApiDocument, Operation } from './bundle.ts';
import { deprecationHeaders } from './deprecation.ts';

/** The table the server is wired by, and the type that every handler page must satisfy. */
export function operationTable(document: OpenApiDocument): string {
  const rows = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => row(method, path, operation)),
  );
  rows.sort((a, b) => (a.id < b.id ? -1 : 1));
  return `// Generated from openapi/ by \`make generate\`; do not edit.
import type { Handler } from '../src/http/handler.ts';
import type { Scope } from './scopes.ts';

export interface OperationFacts {
  method: string;
  /** Below the base path, with {parameters}. */
  path: string;
  /** Sets of scopes, one of which suffices; empty: public. */
  security: readonly (readonly Scope[])[];
  /** Whether it may change anything; a POST that only reads does not. */
  writes: boolean;
  /** null: the operation takes no body. */
  body: { required: boolean; mediaTypes: readonly string[] } | null;
  /** Largest body in bytes; null: that of the service. */
  bodyLimit: number | null;
  /** Calls that a client may have under way at a time, in one process; null: any number. */
  concurrencyLimit: number | null;
  /** Media types of its success, the first being the default. */
  mediaTypes: readonly string[];
  /** A quota of its own, in place of the client's. */
  rateLimit: { limit: number; windowSeconds: number; per: 'client' | 'address' } | null;
  /** Headers that tell of its end; null: it is not deprecated. */
  deprecation: { Deprecation: string; Sunset: string; Link: string } | null;
  /** Documented statuses. */
  statuses: readonly number[];
}

export type OperationId = keyof Handlers;

export const operations: Record<OperationId, OperationFacts> = {
${rows.map(({ id, facts }) => `  ${id}: ${JSON.stringify(facts)},`).join('\n')}
};

export interface Handlers {
${rows.map(({ id }) => `  ${id}: Handler<'${id}'>;`).join('\n')}
}
`;
}

/** Whether an operation may change anything: neither a GET does, nor what a scope of reading suffices for. */
export function mayWrite(method: string, { security = [] }: Pick<Operation, 'security'>): boolean {
  const isRead = (requirement: object) =>
    Object.values(requirement)
      .flat()
      .every((scope) => scope.endsWith(':read'));
  return method !== 'get' && !(security.length > 0 && security.every(isRead));
}

function row(method: string, path: string, operation: Operation) {
  const { operationId: id, security, requestBody, responses } = operation;
  const { 'x-rate-limit': limit, 'x-deprecation': deprecation } = operation;
  const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const facts = {
    method: method.toUpperCase(),
    path,
    security: security?.map((requirement) => Object.values(requirement).flat()),
    writes: mayWrite(method, operation),
    body: requestBody
      ? { required: requestBody.required ?? false, mediaTypes: Object.keys(requestBody.content) }
      : null,
    bodyLimit: operation['x-body-limit'] ?? null,
    concurrencyLimit: operation['x-concurrency-limit'] ?? null,
    mediaTypes: [...new Set(successes.flatMap(([, { content = {} }]) => Object.keys(content)))],
    rateLimit: limit ? { limit: limit.limit, windowSeconds: limit.window_seconds, per: limit.per } : null,
    deprecation: deprecation ? deprecationHeaders(deprecation) : null,
    statuses: Object.keys(responses)
      .filter((status) => status !== 'default')
      .map(Number),
  };
  return { id, facts };
}
