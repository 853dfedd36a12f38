import type { Client } from '../client.ts';

export const client: Client = {
  name: 'kotlin',
  edition: '3.0',
  needs: {
    'javac --release 17 -version': 'a JDK, 17 or newer (default-jdk-headless)',
    'mvn --version': 'Maven (maven)',
  },
  keep: ['.m2'],
  generate: [],
  // Two Mavens that run at once and fetch the same files want a repository each. -q would hide warnings too.
  build: [
    [
      'mvn',
      '-B',
      '-ntp',
      '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
      '-Dmaven.repo.local=.m2',
      'process-classes',
    ],
  ],
  // Java 17 knows the first of these, later ones the second.
  run: [
    'java',
    '-Dfile.encoding=UTF-8',
    '-Dstdout.encoding=UTF-8',
    '-cp',
    'target/classes:target/libraries/*',
    'ScenarioKt',
  ],
  explained: [
    {
      line: /\/target\/generated-sources\/openapi\/.*ApiClient\.kt:\S+ Elvis operator .*'ResponseBody'\.$/,
      reason: 'the templates are for OkHttp 4 too, where a body can be null',
    },
  ],
  loose: {
    files: /^target\/generated-sources\/openapi\/.*\/(apis|models)\/\w+\.kt$/,
    pattern: /^(?!\s*(\*|\/\/|\/\*|import )).*\b(Any\b|JsonElement\b|JsonObject\b)/,
    allowed: [
      {
        line: /fun (en|de)code\(data: kotlin\.Any\?\)/,
        reason: 'turn whatever they are given into an enumeration',
      },
      { line: /^\s+JsonObject\(jsonMap\)$/, reason: 'how the union of events writes one' },
    ],
  },
};
