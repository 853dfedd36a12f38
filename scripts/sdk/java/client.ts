import type { Client } from '../client.ts';

const generated = /\/target\/generated-sources\/openapi\//;

export const client: Client = {
  name: 'java',
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
    'Scenario',
  ],
  explained: [
    { line: /^\[WARNING\] Ignoring complex example on request body$/, reason: 'examples are for people' },
    { line: /^\[WARNING\] COMPILATION WARNING : $/, reason: 'the heading of the next' },
    {
      line: new RegExp(`${generated.source}.*serial(ization)?Inclusion\\(.* has been deprecated$`, 'i'),
      reason: 'the templates are for Jackson 2.18 too, which has nothing newer',
    },
    {
      line: new RegExp(
        `${generated.source}.*WebhookPayload(Des|S)erializer has no definition of serialVersionUID$`,
      ),
      reason: 'nobody serializes the serializer',
    },
  ],
  loose: {
    files: /^target\/generated-sources\/openapi\/.*\/(api|model)\/(?!AbstractOpenApiSchema)\w+\.java$/,
    pattern: /^(?!\s*(\*|\/\/|import )).*\b(Object|JsonNode)\b/,
    allowed: [
      {
        line: /boolean equals\(Object |String toIndentedString\(Object |deepHashCode\(new Object\[\]/,
        reason: 'methods that every class has',
      },
      {
        line: /(get|set)ActualInstance\(|JsonNode tree = |Object deserialized = |result2 = /,
        reason: 'Java has no unions: a WebhookPayload holds one of its events, and reads it by its type',
      },
    ],
  },
};
