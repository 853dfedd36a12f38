import type { Client } from '../client.ts';
import { generateWith, java } from '../openapi-generator.ts';

/** By openapi-generator; the setters check lengths, bounds and patterns. */
export const client: Client = {
  name: 'php',
  edition: '3.0',
  needs: {
    ...java,
    'php -r exit(extension_loaded("curl")&&extension_loaded("mbstring")?0:1);':
      'PHP with its extensions (php-cli php-curl php-mbstring)',
    'php -r require("GuzzleHttp/autoload.php");': 'Guzzle (php-guzzlehttp-guzzle)',
  },
  keep: ['.venv'],
  generate: generateWith('php'),
  // In one process each file is loaded, and so compiled.
  build: [['php', 'src/load-all.php']],
  run: ['php', 'src/scenario.php'],
  explained: [
    {
      line: /WARN .* Cannot convert OpenAPI default of type .*ArrayNode to a PHP literal; omitting defaultValue$/,
      reason: 'the service knows its defaults',
    },
  ],
  loose: {
    files: /^generated\/lib\/Model\/\w+\.php$/,
    pattern: /=> '(mixed|object)(\[\])?'/,
  },
};
