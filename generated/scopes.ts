// Generated from openapi/ by `make generate`; do not edit.
export const allScopes = ['menus:read', 'menus:write', 'availability:write', 'webhooks:manage'] as const;

export type Scope = (typeof allScopes)[number];
