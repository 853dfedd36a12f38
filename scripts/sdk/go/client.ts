import type { Client } from '../client.ts';

export const client: Client = {
  name: 'go',
  edition: '3.0',
  quick: true,
  // Older ones fail on this go.mod, or fetch the version it asks for.
  needs: { 'go -C scripts/sdk/go env GOVERSION': 'Go 1.25 or newer' },
  keep: [],
  generate: [['go', 'tool', 'oapi-codegen', '-config', 'oapi-codegen.yaml', 'openapi.json']],
  build: [
    ['go', 'vet', './...'],
    ['go', 'build', '-buildvcs=false', '-o', 'scenario', '.'],
  ],
  run: ['./scenario'],
  loose: {
    files: /^menus\/menus\.gen\.go$/,
    pattern: /^(?!\s*\/\/).*(interface\{\}|\bany\b|json\.RawMessage)/,
    allowed: [
      {
        line: /^func \(t WebhookPayload\) ValueByDiscriminator\(\) \(interface\{\}, error\) \{$|^\tunion json\.RawMessage$/,
        reason: 'Go has no unions: a type switch, or AsItemToggledEvent() and the like, tells the event',
      },
    ],
  },
};
