import { allScopes, type Scope } from '../../generated/scopes.ts';

export { allScopes, type Scope };

/** Whether the text names a scope of this service. */
export function isScope(text: string): text is Scope {
  return (allScopes as readonly string[]).includes(text);
}

/** The granted scopes with those they imply: `menus:write` brings availability:write and menus:read. */
export function impliedScopes(granted: readonly Scope[]): ReadonlySet<Scope> {
  const scopes = new Set(granted);
  if (scopes.has('menus:write')) scopes.add('availability:write').add('menus:read');
  return scopes;
}
