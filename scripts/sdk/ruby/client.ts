import type { Client } from '../client.ts';
import { generateWith, java } from '../openapi-generator.ts';

/** By openapi-generator; the models check lengths, bounds and patterns. */
export const client: Client = {
  name: 'ruby',
  edition: '3.0',
  needs: { ...java, 'ruby -rtyphoeus -e exit': 'Ruby with Typhoeus (ruby ruby-typhoeus)' },
  keep: ['.venv'],
  generate: generateWith('ruby'),
  build: [['ruby', '-Igenerated/lib', '-rmenus', '-e', 'exit']],
  run: ['ruby', '-Igenerated/lib', 'src/scenario.rb'],
  explained: [
    {
      line: /WARN .* - until \(reserved word\) cannot be used as model name\. Renamed to Modeluntil$/,
      reason: 'the parameter stays `until`',
    },
  ],
  loose: {
    files: /^generated\/lib\/menus\/models\/\w+\.rb$/,
    pattern: /=> :'(Object|Hash<.*>)'/,
  },
};
