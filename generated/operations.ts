// Generated from openapi/ by `make generate`; do not edit.
import type { Handler } from '../src/http/handler.ts';
import type { Scope } from './scopes.ts';

export interface OperationFacts {
  method: string;
  /** Below the base path, with {parameters}. */
  path: string;
  /** Sets of scopes, one of which suffices; empty: public. */
  security: readonly (readonly Scope[])[];
  /** null: the operation takes no body. */
  body: { required: boolean; mediaTypes: readonly string[] } | null;
  /** Largest body in bytes; null: that of the service. */
  bodyLimit: number | null;
  /** Media types of its success, the first being the default. */
  mediaTypes: readonly string[];
  /** A quota of its own, in place of the client's. */
  rateLimit: { limit: number; windowSeconds: number; per: 'client' | 'address' } | null;
  /** Headers that tell of its end; null: it is not deprecated. */
  deprecation: { Deprecation: string; Sunset: string; Link: string } | null;
  /** Documented statuses. */
  statuses: readonly number[];
}

export type OperationId = keyof Handlers;

export const operations: Record<OperationId, OperationFacts> = {
  createCategory: {"method":"POST","path":"/menus/{menu_id}/categories","security":[["menus:write"]],"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[201,401,403,404,409,413,415,422,429,503]},
  createItem: {"method":"POST","path":"/menus/{menu_id}/items","security":[["menus:write"]],"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[201,401,403,404,409,413,415,422,429,503]},
  createLocation: {"method":"POST","path":"/locations","security":[["menus:write"]],"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[201,401,403,409,413,415,422,429,503]},
  createMenu: {"method":"POST","path":"/menus","security":[["menus:write"]],"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[201,401,403,409,413,415,422,429,503]},
  createWebhook: {"method":"POST","path":"/webhooks","security":[["webhooks:manage"]],"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[201,401,403,409,413,415,422,429,503]},
  deleteCategory: {"method":"DELETE","path":"/menus/{menu_id}/categories/{category_id}","security":[["menus:write"]],"body":null,"bodyLimit":null,"mediaTypes":[],"rateLimit":null,"deprecation":null,"statuses":[204,401,403,404,412,429,503]},
  deleteItem: {"method":"DELETE","path":"/menus/{menu_id}/items/{item_id}","security":[["menus:write"]],"body":null,"bodyLimit":null,"mediaTypes":[],"rateLimit":null,"deprecation":null,"statuses":[204,401,403,404,412,429,503]},
  deleteLocation: {"method":"DELETE","path":"/locations/{location_id}","security":[["menus:write"]],"body":null,"bodyLimit":null,"mediaTypes":[],"rateLimit":null,"deprecation":null,"statuses":[204,401,403,404,409,412,429,503]},
  deleteMenu: {"method":"DELETE","path":"/menus/{menu_id}","security":[["menus:write"]],"body":null,"bodyLimit":null,"mediaTypes":[],"rateLimit":null,"deprecation":null,"statuses":[204,401,403,404,412,429,503]},
  deleteWebhook: {"method":"DELETE","path":"/webhooks/{webhook_id}","security":[["webhooks:manage"]],"body":null,"bodyLimit":null,"mediaTypes":[],"rateLimit":null,"deprecation":null,"statuses":[204,401,403,404,412,429,503]},
  exportMenu: {"method":"GET","path":"/menus/{menu_id}/content","security":[["menus:read"]],"body":null,"bodyLimit":null,"mediaTypes":["application/json","text/csv"],"rateLimit":null,"deprecation":null,"statuses":[200,304,401,403,404,406,422,429,503]},
  getCategory: {"method":"GET","path":"/menus/{menu_id}/categories/{category_id}","security":[["menus:read"]],"body":null,"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,304,401,403,404,429,503]},
  getDelivery: {"method":"GET","path":"/webhooks/{webhook_id}/deliveries/{delivery_id}","security":[["webhooks:manage"]],"body":null,"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,404,429,503]},
  getEvent: {"method":"GET","path":"/events/{event_id}","security":[["menus:read"]],"body":null,"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,404,429,503]},
  getItem: {"method":"GET","path":"/menus/{menu_id}/items/{item_id}","security":[["menus:read"]],"body":null,"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,304,401,403,404,429,503]},
  getLocation: {"method":"GET","path":"/locations/{location_id}","security":[["menus:read"]],"body":null,"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,304,401,403,404,429,503]},
  getMenu: {"method":"GET","path":"/menus/{menu_id}","security":[["menus:read"]],"body":null,"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,304,401,403,404,429,503]},
  getReplay: {"method":"GET","path":"/webhooks/{webhook_id}/replays/{replay_id}","security":[["webhooks:manage"]],"body":null,"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,404,429,503]},
  getWebhook: {"method":"GET","path":"/webhooks/{webhook_id}","security":[["webhooks:manage"]],"body":null,"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,304,401,403,404,429,503]},
  importMenu: {"method":"PUT","path":"/menus/{menu_id}/content","security":[["menus:write"]],"body":{"required":true,"mediaTypes":["application/json","text/csv"]},"bodyLimit":16777216,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,404,412,413,415,422,429,503]},
  issueToken: {"method":"POST","path":"/oauth/token","security":[],"body":{"required":true,"mediaTypes":["application/x-www-form-urlencoded"]},"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":{"limit":30,"windowSeconds":60,"per":"address"},"deprecation":null,"statuses":[200,400,401,413,415,429,503]},
  listCategories: {"method":"GET","path":"/menus/{menu_id}/categories","security":[["menus:read"]],"body":null,"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,404,422,429,503]},
  listDeliveries: {"method":"GET","path":"/webhooks/{webhook_id}/deliveries","security":[["webhooks:manage"]],"body":null,"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,404,422,429,503]},
  listEvents: {"method":"GET","path":"/events","security":[["menus:read"]],"body":null,"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,422,429,503]},
  listItems: {"method":"GET","path":"/menus/{menu_id}/items","security":[["menus:read"]],"body":null,"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,404,422,429,503]},
  listLocations: {"method":"GET","path":"/locations","security":[["menus:read"]],"body":null,"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,422,429,503]},
  listMenus: {"method":"GET","path":"/menus","security":[["menus:read"]],"body":null,"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,422,429,503]},
  listWebhooks: {"method":"GET","path":"/webhooks","security":[["webhooks:manage"]],"body":null,"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,422,429,503]},
  reorderMenu: {"method":"PUT","path":"/menus/{menu_id}/order","security":[["menus:write"]],"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,404,412,413,415,422,429,503]},
  replayWebhook: {"method":"POST","path":"/webhooks/{webhook_id}/replay","security":[["webhooks:manage"]],"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[202,401,403,404,409,413,415,422,429,503]},
  retryDelivery: {"method":"POST","path":"/webhooks/{webhook_id}/deliveries/{delivery_id}/retry","security":[["webhooks:manage"]],"body":null,"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[202,401,403,404,409,422,429,503]},
  rotateWebhookSecret: {"method":"POST","path":"/webhooks/{webhook_id}/rotate-secret","security":[["webhooks:manage"]],"body":{"required":false,"mediaTypes":["application/json"]},"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,404,409,412,413,415,422,429,503]},
  setAvailability: {"method":"POST","path":"/menus/{menu_id}/availability","security":[["availability:write"]],"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,404,409,413,415,422,429,503]},
  testWebhook: {"method":"POST","path":"/webhooks/{webhook_id}/test","security":[["webhooks:manage"]],"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":{"limit":60,"windowSeconds":60,"per":"client"},"deprecation":null,"statuses":[200,401,403,404,409,413,415,422,429,503]},
  toggleItem: {"method":"POST","path":"/menus/{menu_id}/items/{item_id}/toggle","security":[["availability:write"]],"body":null,"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,400,401,403,404,409,412,429,503]},
  toggleMenu: {"method":"POST","path":"/menus/{menu_id}/toggle","security":[["availability:write"]],"body":null,"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,400,401,403,404,409,412,429,503]},
  updateCategory: {"method":"PUT","path":"/menus/{menu_id}/categories/{category_id}","security":[["menus:write"]],"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,404,412,413,415,422,429,503]},
  updateItem: {"method":"PUT","path":"/menus/{menu_id}/items/{item_id}","security":[["menus:write"],["availability:write"]],"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,404,412,413,415,422,429,503]},
  updateLocation: {"method":"PUT","path":"/locations/{location_id}","security":[["menus:write"]],"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,404,412,413,415,422,429,503]},
  updateMenu: {"method":"PUT","path":"/menus/{menu_id}","security":[["menus:write"]],"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,404,412,413,415,422,429,503]},
  updateWebhook: {"method":"PUT","path":"/webhooks/{webhook_id}","security":[["webhooks:manage"]],"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,404,412,413,415,422,429,503]},
};

export interface Handlers {
  createCategory: Handler<'createCategory'>;
  createItem: Handler<'createItem'>;
  createLocation: Handler<'createLocation'>;
  createMenu: Handler<'createMenu'>;
  createWebhook: Handler<'createWebhook'>;
  deleteCategory: Handler<'deleteCategory'>;
  deleteItem: Handler<'deleteItem'>;
  deleteLocation: Handler<'deleteLocation'>;
  deleteMenu: Handler<'deleteMenu'>;
  deleteWebhook: Handler<'deleteWebhook'>;
  exportMenu: Handler<'exportMenu'>;
  getCategory: Handler<'getCategory'>;
  getDelivery: Handler<'getDelivery'>;
  getEvent: Handler<'getEvent'>;
  getItem: Handler<'getItem'>;
  getLocation: Handler<'getLocation'>;
  getMenu: Handler<'getMenu'>;
  getReplay: Handler<'getReplay'>;
  getWebhook: Handler<'getWebhook'>;
  importMenu: Handler<'importMenu'>;
  issueToken: Handler<'issueToken'>;
  listCategories: Handler<'listCategories'>;
  listDeliveries: Handler<'listDeliveries'>;
  listEvents: Handler<'listEvents'>;
  listItems: Handler<'listItems'>;
  listLocations: Handler<'listLocations'>;
  listMenus: Handler<'listMenus'>;
  listWebhooks: Handler<'listWebhooks'>;
  reorderMenu: Handler<'reorderMenu'>;
  replayWebhook: Handler<'replayWebhook'>;
  retryDelivery: Handler<'retryDelivery'>;
  rotateWebhookSecret: Handler<'rotateWebhookSecret'>;
  setAvailability: Handler<'setAvailability'>;
  testWebhook: Handler<'testWebhook'>;
  toggleItem: Handler<'toggleItem'>;
  toggleMenu: Handler<'toggleMenu'>;
  updateCategory: Handler<'updateCategory'>;
  updateItem: Handler<'updateItem'>;
  updateLocation: Handler<'updateLocation'>;
  updateMenu: Handler<'updateMenu'>;
  updateWebhook: Handler<'updateWebhook'>;
}
