import type { Client } from '../../../scripts/sdk/client.ts';

/** A client whose generator and scenario are those of this directory; it passes. */
export const client: Client = {
  name: 'good',
  edition: '3.1',
  needs: { [`${process.execPath} --version`]: 'Node' },
  keep: [],
  generate: [[process.execPath, 'generator.js', 'price: number']],
  build: [],
  run: [process.execPath, 'scenario.js'],
  explained: [{ line: /^this generator is deprecated$/, reason: 'it says so always' }],
  loose: { files: /^generated\.ts$/, pattern: /\bany\b/ },
};
