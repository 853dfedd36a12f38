import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Deprecation, declareDeprecation } from './deprecation.ts';
import { tool } from './tool.ts';

export interface OpenApiDocument {
  info: { version: string };
  paths: Record<string, Record<string, Operation>>;
  components?: {
    responses?: Record<string, Response>;
    securitySchemes?: Record<string, { flows?: Record<string, { scopes: object }> }>;
  };
}

export interface Operation {
  operationId: string;
  security?: Record<string, string[]>[];
  requestBody?: { required?: boolean; content: Record<string, { schema?: object }> };
  responses: Record<string, Response>;
  'x-body-limit'?: number;
  'x-concurrency-limit'?: number;
  'x-rate-limit'?: { limit: number; window_seconds: number; per: 'client' | 'address' };
  'x-deprecation'?: Deprecation;
}

export interface Response {
  $ref?: string;
  headers?: Record<string, object>;
  content?: Record<string, unknown>;
}

/**
 * A contract's files as one document; components are named by their files. Leaves it in the scratch directory.
 * @param source its root file; that of the service unless given
 */
export async function bundle(scratch: string, source = 'openapi/openapi.yaml'): Promise<OpenApiDocument> {
  const file = join(scratch, 'openapi.json');
  await tool('redocly', ['bundle', source, '--output', file]);
  const document: OpenApiDocument = JSON.parse(await readFile(file, 'utf8'));
  declareDeprecation(document);
  await writeFile(file, JSON.stringify(document));
  return document;
}
