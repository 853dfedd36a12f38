import type { Client } from '../client.ts';
import { generateWith, java } from '../openapi-generator.ts';

export const client: Client = {
  name: 'go-openapi-generator',
  edition: '3.0',
  needs: { ...java, 'go -C scripts/sdk/go env GOVERSION': 'Go 1.25 or newer' },
  keep: ['.venv'],
  generate: generateWith('go'),
  build: [
    ['go', 'vet', './...'],
    ['go', 'build', '-buildvcs=false', '-o', 'scenario', '.'],
  ],
  run: ['./scenario'],
  explained: [
    {
      line: /WARN .* - (model_webhook_test\.go with suffix|type) \(reserved word\) cannot be used as \w+( name)?\. Renamed to \w+(\.go)?$/,
      reason: 'names in Go; the requests stay the same',
    },
  ],
  loose: {
    files: /^generated\/model_\w+\.go$/,
    // Of the types, the fields.
    pattern: /^\t\w+ .*(interface\{\}|\bany\b).* `json:/,
  },
};
