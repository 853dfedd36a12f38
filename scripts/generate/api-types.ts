import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tool } from './tool.ts';

/** Types of every schema and operation, from the bundle in the scratch directory. */
export async function apiTypes(scratch: string): Promise<string> {
  const output = join(scratch, 'api.ts');
  const input = join(scratch, 'openapi-inline-headers.json');
  const document = JSON.parse(await readFile(join(scratch, 'openapi.json'), 'utf8'));
  await writeFile(input, JSON.stringify(inlineHeaders(document)));
  // A configuration of its own: openapi-typescript would read one from the root and stop at its lint errors.
  const config = join(scratch, 'redocly.yaml');
  await writeFile(config, 'extends: []\n');
  await tool('openapi-typescript', [
    input,
    '--output',
    output,
    '--redocly',
    config,
    '--alphabetize',
    '--default-non-nullable=false',
  ]);
  return readFile(output, 'utf8');
}

interface Documented {
  components: { headers: Record<string, object>; responses: Record<string, Response> };
  paths: Record<string, Record<string, { responses: Record<string, Response> }>>;
}

interface Response {
  headers?: Record<string, { $ref?: string }>;
}

// Behind a reference openapi-typescript takes every header for a required one.
function inlineHeaders(document: Documented): Documented {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const responses = [document.components.responses, ...operations.map((operation) => operation.responses)];
  for (const { headers = {} } of responses.flatMap((named) => Object.values(named))) {
    for (const [name, { $ref }] of Object.entries(headers)) {
      if ($ref) headers[name] = document.components.headers[$ref.split('/').at(-1) ?? ''] ?? {};
    }
  }
  return document;
}
