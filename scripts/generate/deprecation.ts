import type { OpenApiDocument, Response } from './bundle.ts';

/** `x-deprecation` of an operation: dates (UTC), and the page that says what to use instead. */
export interface Deprecation {
  since: string;
  sunset: string;
  link: string;
}

/** The headers that tell of it: RFC 9745 (a structured-field date), RFC 8594 (an HTTP-date), RFC 8288. */
export function deprecationHeaders({ since, sunset, link }: Deprecation) {
  return {
    Deprecation: `@${Date.parse(since) / 1000}`,
    Sunset: new Date(sunset).toUTCString(),
    Link: `<${link}>; rel="deprecation"`,
  };
}

/** Declares these headers on every response of each deprecated operation; changes the document. */
export function declareDeprecation({ paths = {}, components }: OpenApiDocument): void {
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    const deprecation = operation['x-deprecation'];
    if (!deprecation) continue;
    for (const [status, { $ref, ...inline }] of Object.entries(operation.responses)) {
      // A response that other operations share is written out for this one.
      const response = $ref ? components?.responses?.[$ref.slice($ref.lastIndexOf('/') + 1)] : inline;
      const headers = { ...declarations(deprecation), ...response?.headers };
      operation.responses[status] = { ...response, headers } as Response;
    }
  }
}

function declarations(deprecation: Deprecation): Record<string, object> {
  const { Deprecation, Sunset, Link } = deprecationHeaders(deprecation);
  return {
    Deprecation: {
      description: 'Date of the deprecation in Unix seconds, RFC 9745.',
      required: true,
      schema: { type: 'string', maxLength: 32, pattern: '^@[0-9]+$' },
      example: Deprecation,
    },
    Sunset: {
      description: 'The operation stays available at least until this date, RFC 8594.',
      required: true,
      schema: { type: 'string', maxLength: 29 },
      example: Sunset,
    },
    Link: {
      description: 'With `rel="deprecation"`, the page that says what to use instead, RFC 9745.',
      schema: { type: 'string', maxLength: 16384 },
      example: Link,
    },
  };
}
