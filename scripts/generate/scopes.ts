import type { OpenApiDocument } from './bundle.ts';

/** The scopes of the contract, in its order. In a file of their own: operations.ts imports from src, where they are used. */
export function scopeList({ components }: OpenApiDocument): string {
  const schemes = Object.values(components?.securitySchemes ?? {});
  const flows = schemes.flatMap(({ flows = {} }) => Object.values(flows));
  const names = [...new Set(flows.flatMap(({ scopes }) => Object.keys(scopes)))];
  return `// Generated from openapi/ by \`make generate\`; do not edit.
export const allScopes = [${names.map((name) => `'${name}'`).join(', ')}] as const;

export type Scope = (typeof allScopes)[number];
`;
}
