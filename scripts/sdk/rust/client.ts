import type { Client } from '../client.ts';
import { generateWith, java } from '../openapi-generator.ts';

export const client: Client = {
  name: 'rust',
  edition: '3.0',
  needs: { ...java, 'cargo --version': 'Rust 1.85 or newer with Cargo (cargo-web)' },
  keep: ['.venv', 'target'],
  generate: generateWith('rust'),
  build: [['cargo', 'build', '--quiet', '--locked']],
  run: ['target/debug/scenario'],
  explained: [
    {
      line: /WARN .*AbstractRustCodegen - \S+ cannot be used as an? [\w/ ]+ name\. Renamed to \S+$/,
      reason: 'names in Rust; the requests stay the same',
    },
  ],
  loose: {
    files: /^generated\/src\/models\/\w+\.rs$/,
    pattern: /serde_json::Value/,
  },
};
