import type { Client } from '../client.ts';

/** Models alone, by datamodel-code-generator: pydantic checks what httpx sends and receives. */
export const client: Client = {
  name: 'python-pydantic',
  edition: '3.1',
  needs: { 'python3 -m ensurepip --version': 'Python with venv (python3 python3-venv)' },
  keep: ['.venv', '.mypy_cache'],
  generate: [
    ['python3', '-m', 'venv', '.venv'],
    ['pip', 'install', '--quiet', '--disable-pip-version-check', '--requirement', 'requirements.txt'],
    [
      ['datamodel-codegen', '--input', 'openapi.json', '--input-file-type', 'openapi'],
      ['--output', 'src/menus.py', '--output-model-type', 'pydantic_v2.BaseModel'],
      ['--target-python-version', '3.11', '--use-annotated', '--collapse-root-models'],
      ['--enum-field-as-literal', 'none', '--formatters', 'builtin'],
    ].flat(),
  ],
  build: [['mypy', 'src']],
  run: ['python', 'src/scenario.py'],
  explained: [
    {
      line: /UserWarning: Pydantic does not take pattern on (AnyUrl|SecretStr)/,
      reason: 'URLs and secrets are types of their own, without a pattern',
    },
    {
      line: /UserWarning: format of '(iana-time-zone|iso-4217-currency)' not understood for 'string'/,
      reason: 'no tool has to know them: the prose says what they are',
    },
    { line: /warn_about_dropped_constraints\(self/, reason: 'the line of code that warns' },
  ],
  loose: { files: /^src\/menus\.py$/, pattern: /\bAny\b(?! label)/ },
};
