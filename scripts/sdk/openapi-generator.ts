/** What openapi-generator runs on, for `needs`. */
export const java = { 'java -version': 'a Java runtime (default-jdk-headless)' };

/**
 * Generates a client into `generated/` with openapi-generator 7.25.0, which is installed from PyPI.
 * @param language as openapi-generator names it; `config.yaml` of the client's folder has its options
 */
export function generateWith(language: string): string[][] {
  return [
    ['python3', '-m', 'venv', '.venv'],
    ['pip', 'install', '--quiet', '--disable-pip-version-check', 'openapi-generator-cli==7.25.0'],
    [
      [
        'env',
        'JAVA_OPTS=-Dlog.level=warn',
        'openapi-generator-cli',
        'generate',
        '--generator-name',
        language,
        '--input-spec',
        'openapi.json',
      ],
      ['--config', 'config.yaml', '--output', 'generated'],
      ['--global-property', 'apiTests=false,modelTests=false,apiDocs=false,modelDocs=false'],
    ].flat(),
  ];
}
