import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tool } from './tool.ts';

export interface OpenApiDocument {
  info: { version: string };
  paths: Record<string, Record<string, Operation>>;
}

export interface Operation {
  operationId: string;
  security?: Record<string, string[]>[];
  requestBody?: { required?: boolean; content: Record<string, unknown> };
  responses: Record<string, { content?: Record<string, unknown> }>;
  'x-body-limit'?: number;
  'x-rate-limit'?: { limit: number; window_seconds: number; per: 'client' | 'address' };
}

/**
 * A contract's files as one document; components are named by their files. Leaves it in the scratch directory.
 * @param source its root file; that of the service unless given
 */
export async function bundle(scratch: string, source = 'openapi/openapi.yaml'): Promise<OpenApiDocument> {
  const file = join(scratch, 'openapi.json');
  await tool('redocly', ['bundle', source, '--output', file]);
  return JSON.parse(await readFile(file, 'utf8'));
}
