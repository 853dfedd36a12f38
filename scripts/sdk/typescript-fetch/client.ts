import type { Client } from '../client.ts';

/** Types by openapi-typescript, calls by openapi-fetch. */
export const client: Client = {
  name: 'typescript-fetch',
  edition: '3.1',
  quick: true,
  needs: { 'npm --version': 'npm' },
  keep: [],
  generate: [
    ['npm', 'ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'],
    // Its default makes every field of a request that has a default a required one.
    ['openapi-typescript', 'openapi.json', '--output=src/generated.ts', '--default-non-nullable=false'],
  ],
  build: [['tsc', '-p', '.']],
  run: ['node', 'build/scenario.js'],
  explained: [{ line: /npm warn Unknown (user|env) config/, reason: 'about settings of npm on the machine' }],
  loose: {
    files: /^src\/generated\.ts$/,
    pattern: /^(?!\s*\/?\*).*\b(any|unknown|Record<string, never>)\b/,
    allowed: [{ line: /^\s*\[name: string\]: unknown;$/, reason: 'headers that the document does not name' }],
  },
};
