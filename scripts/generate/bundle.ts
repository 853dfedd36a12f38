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

/** The contract's files as one document; components are named by their files. Leaves it in the scratch directory. */
export async function bundle(scratch: string): Promise<OpenApiDocument> {
  const file = join(scratch, 'openapi.json');
  await tool('redocly', ['bundle', 'openapi/openapi.yaml', '--output', file]);
  return JSON.parse(await readFile(file, 'utf8'));
}
