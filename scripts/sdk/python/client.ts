import type { Client } from '../client.ts';

/** Models and calls by openapi-python-client, on httpx and attrs. */
export const client: Client = {
  name: 'python',
  edition: '3.1',
  quick: true,
  needs: { 'python3 -m ensurepip --version': 'python3-venv (Python 3.11 or newer)' },
  keep: ['.venv'],
  generate: [
    ['python3', '-m', 'venv', '.venv'],
    ['pip', 'install', '--quiet', '--disable-pip-version-check', '--requirement', 'requirements.txt'],
    [
      ['openapi-python-client', 'generate', '--path', 'openapi.json', '--config', 'config.yml'],
      ['--meta', 'none', '--output-path', 'src/menu_management'],
    ].flat(),
  ],
  build: [['mypy', 'src']],
  run: ['python', 'src/scenario.py'],
  explained: [
    {
      line: /^Warning\(s\) encountered while generating|^WARNING parsing PUT \/menus\/\{menu_id\}\/content within menus/,
      reason: 'it generates no CSV body for importMenu; the JSON one is there',
    },
  ],
  loose: {
    files: /^src\/menu_management\/(api|models)\/.*\.py$/,
    // The dictionaries are JSON on its way in and out of the models.
    pattern: /(?<!(dict|Mapping)\[str, )\bAny\b(?! label)/,
    allowed: [
      { line: /^\s*(Any,|from typing import .*)$/, reason: 'an import' },
      { line: /def __(get|set)item__\(self, key: str/, reason: 'fields beyond those of the document' },
      { line: /response_(200|204|304) = cast\(Any, None\)/, reason: 'a response without a body' },
      { line: /^(\) -> |\s+)(Response\[)?Any \| \w/, reason: 'an operation with such a response' },
    ],
  },
};
