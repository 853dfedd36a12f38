import type { Client } from '../client.ts';

/**
 * Types, one function for each operation and the client's own runtime by @hey-api/openapi-ts, which checks requests and
 * responses with zod.
 */
export const client: Client = {
  name: 'typescript-hey-api',
  edition: '3.1',
  needs: { 'npm --version': 'npm' },
  keep: [],
  generate: [
    ['npm', 'ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'],
    ['openapi-ts'],
  ],
  build: [['tsc', '-p', '.']],
  run: ['node', 'build/scenario.js'],
  explained: [{ line: /npm warn Unknown (user|env) config/, reason: 'about settings of npm on the machine' }],
  loose: {
    files: /^src\/generated\/(types|sdk)\.gen\.ts$/,
    // A number at the end of a name tells two components of one name apart.
    pattern: /^(?!\s*\/?\*).*\b(any|unknown|Record<string, never>)\b|^export type \w+\d /,
    allowed: [
      { line: /^export type Options<|^\s*meta\?: /, reason: 'what a caller hands to its own interceptors' },
      { line: /^\s*200: unknown;$/, reason: 'a response without a body' },
    ],
  },
};
