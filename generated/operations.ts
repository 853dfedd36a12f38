// Generated from openapi/ by `make generate`; do not edit.
import type { Handler } from '../src/http/handler.ts';
import type { Scope } from './scopes.ts';

export interface OperationFacts {
  method: string;
  /** Below the base path, with {parameters}. */
  path: string;
  /** Sets of scopes, one of which suffices; empty: public. */
  security: readonly (readonly Scope[])[];
  /** Whether it may change anything; a POST that only reads does not. */
  writes: boolean;
  /** null: the operation takes no body. */
  body: { required: boolean; mediaTypes: readonly string[] } | null;
  /** Largest body in bytes; null: that of the service. */
  bodyLimit: number | null;
  /** Calls that a client may have under way at a time, in one process; null: any number. */
  concurrencyLimit: number | null;
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
  createCategory: {"method":"POST","path":"/menus/{menu_id}/categories","security":[["menus:write"]],"writes":true,"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":131072,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[201,400,401,403,404,409,413,415,422,429,503]},
  createItem: {"method":"POST","path":"/menus/{menu_id}/items","security":[["menus:write"]],"writes":true,"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":262144,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[201,400,401,403,404,409,413,415,422,429,503]},
  createLocation: {"method":"POST","path":"/locations","security":[["menus:write"]],"writes":true,"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":65536,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[201,400,401,403,409,413,415,422,429,503]},
  createMenu: {"method":"POST","path":"/menus","security":[["menus:write"]],"writes":true,"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":131072,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[201,400,401,403,409,413,415,422,429,503]},
  createModifier: {"method":"POST","path":"/locations/{location_id}/modifier-groups/{modifier_group_id}/modifiers","security":[["menus:write"]],"writes":true,"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":262144,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[201,400,401,403,404,409,413,415,422,429,503]},
  createModifierGroup: {"method":"POST","path":"/locations/{location_id}/modifier-groups","security":[["menus:write"]],"writes":true,"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":2097152,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[201,400,401,403,404,409,413,415,422,429,503]},
  createWebhook: {"method":"POST","path":"/webhooks","security":[["webhooks:manage","menus:read"]],"writes":true,"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":131072,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[201,400,401,403,409,413,415,422,429,503]},
  deleteCategory: {"method":"DELETE","path":"/menus/{menu_id}/categories/{category_id}","security":[["menus:write"]],"writes":true,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":[],"rateLimit":null,"deprecation":null,"statuses":[204,401,403,404,412,429,503]},
  deleteItem: {"method":"DELETE","path":"/menus/{menu_id}/items/{item_id}","security":[["menus:write"]],"writes":true,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":[],"rateLimit":null,"deprecation":null,"statuses":[204,401,403,404,412,429,503]},
  deleteLocation: {"method":"DELETE","path":"/locations/{location_id}","security":[["menus:write"]],"writes":true,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":[],"rateLimit":null,"deprecation":null,"statuses":[204,401,403,404,409,412,429,503]},
  deleteMenu: {"method":"DELETE","path":"/menus/{menu_id}","security":[["menus:write"]],"writes":true,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":[],"rateLimit":null,"deprecation":null,"statuses":[204,401,403,404,412,429,503]},
  deleteModifier: {"method":"DELETE","path":"/locations/{location_id}/modifier-groups/{modifier_group_id}/modifiers/{modifier_id}","security":[["menus:write"]],"writes":true,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":[],"rateLimit":null,"deprecation":null,"statuses":[204,401,403,404,409,412,429,503]},
  deleteModifierGroup: {"method":"DELETE","path":"/locations/{location_id}/modifier-groups/{modifier_group_id}","security":[["menus:write"]],"writes":true,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":[],"rateLimit":null,"deprecation":null,"statuses":[204,401,403,404,409,412,422,429,503]},
  deleteWebhook: {"method":"DELETE","path":"/webhooks/{webhook_id}","security":[["webhooks:manage"]],"writes":true,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":[],"rateLimit":null,"deprecation":null,"statuses":[204,401,403,404,412,429,503]},
  exportMenu: {"method":"GET","path":"/menus/{menu_id}/content","security":[["menus:read"]],"writes":false,"body":null,"bodyLimit":null,"concurrencyLimit":16,"mediaTypes":["application/json","text/csv"],"rateLimit":null,"deprecation":null,"statuses":[200,304,401,403,404,406,422,429,503]},
  getAvailability: {"method":"GET","path":"/menus/{menu_id}/availability","security":[["menus:read"]],"writes":false,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,304,401,403,404,422,429,503]},
  getCategory: {"method":"GET","path":"/menus/{menu_id}/categories/{category_id}","security":[["menus:read"]],"writes":false,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,304,401,403,404,429,503]},
  getCurrentClient: {"method":"GET","path":"/oauth/client","security":[[]],"writes":false,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,429,503]},
  getDelivery: {"method":"GET","path":"/webhooks/{webhook_id}/deliveries/{delivery_id}","security":[["webhooks:manage"]],"writes":false,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,404,429,503]},
  getEvent: {"method":"GET","path":"/events/{event_id}","security":[["menus:read"]],"writes":false,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,404,429,503]},
  getItem: {"method":"GET","path":"/menus/{menu_id}/items/{item_id}","security":[["menus:read"]],"writes":false,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,304,401,403,404,429,503]},
  getItemById: {"method":"GET","path":"/items/{item_id}","security":[["menus:read"]],"writes":false,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,304,401,403,404,429,503]},
  getLocation: {"method":"GET","path":"/locations/{location_id}","security":[["menus:read"]],"writes":false,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,304,401,403,404,429,503]},
  getMenu: {"method":"GET","path":"/menus/{menu_id}","security":[["menus:read"]],"writes":false,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,304,401,403,404,429,503]},
  getModifier: {"method":"GET","path":"/locations/{location_id}/modifier-groups/{modifier_group_id}/modifiers/{modifier_id}","security":[["menus:read"]],"writes":false,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,304,401,403,404,429,503]},
  getModifierGroup: {"method":"GET","path":"/locations/{location_id}/modifier-groups/{modifier_group_id}","security":[["menus:read"]],"writes":false,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,304,401,403,404,429,503]},
  getReplay: {"method":"GET","path":"/webhooks/{webhook_id}/replays/{replay_id}","security":[["webhooks:manage"]],"writes":false,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,404,429,503]},
  getWebhook: {"method":"GET","path":"/webhooks/{webhook_id}","security":[["webhooks:manage"]],"writes":false,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,304,401,403,404,429,503]},
  importMenu: {"method":"PUT","path":"/menus/{menu_id}/content","security":[["menus:write"]],"writes":true,"body":{"required":true,"mediaTypes":["application/json","text/csv"]},"bodyLimit":16777216,"concurrencyLimit":2,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,404,412,413,415,422,429,503]},
  issueToken: {"method":"POST","path":"/oauth/token","security":[],"writes":true,"body":{"required":true,"mediaTypes":["application/x-www-form-urlencoded"]},"bodyLimit":32768,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":{"limit":30,"windowSeconds":60,"per":"address"},"deprecation":null,"statuses":[200,400,401,413,415,429,503]},
  listCategories: {"method":"GET","path":"/menus/{menu_id}/categories","security":[["menus:read"]],"writes":false,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,304,401,403,404,422,429,503]},
  listDeliveries: {"method":"GET","path":"/webhooks/{webhook_id}/deliveries","security":[["webhooks:manage"]],"writes":false,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,404,422,429,503]},
  listEvents: {"method":"GET","path":"/events","security":[["menus:read"]],"writes":false,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,422,429,503]},
  listItems: {"method":"GET","path":"/menus/{menu_id}/items","security":[["menus:read"]],"writes":false,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,304,401,403,404,422,429,503]},
  listLocations: {"method":"GET","path":"/locations","security":[["menus:read"]],"writes":false,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,304,401,403,422,429,503]},
  listMenus: {"method":"GET","path":"/menus","security":[["menus:read"]],"writes":false,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,304,401,403,422,429,503]},
  listModifierGroupUses: {"method":"GET","path":"/locations/{location_id}/modifier-groups/{modifier_group_id}/uses","security":[["menus:read"]],"writes":false,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,304,401,403,404,422,429,503]},
  listModifierGroups: {"method":"GET","path":"/locations/{location_id}/modifier-groups","security":[["menus:read"]],"writes":false,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,304,401,403,404,422,429,503]},
  listWebhooks: {"method":"GET","path":"/webhooks","security":[["webhooks:manage"]],"writes":false,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,422,429,503]},
  priceSelection: {"method":"POST","path":"/menus/{menu_id}/items/{item_id}/price","security":[["menus:read"]],"writes":false,"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":1048576,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,404,413,415,422,429,503]},
  reorderMenu: {"method":"PUT","path":"/menus/{menu_id}/order","security":[["menus:write"]],"writes":true,"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":1048576,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,404,412,413,415,422,429,503]},
  replayWebhook: {"method":"POST","path":"/webhooks/{webhook_id}/replay","security":[["webhooks:manage"]],"writes":true,"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":16384,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[202,400,401,403,404,409,413,415,422,429,503]},
  retryDelivery: {"method":"POST","path":"/webhooks/{webhook_id}/deliveries/{delivery_id}/retry","security":[["webhooks:manage"]],"writes":true,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[202,400,401,403,404,409,422,429,503]},
  revokeToken: {"method":"POST","path":"/oauth/revoke","security":[],"writes":true,"body":{"required":true,"mediaTypes":["application/x-www-form-urlencoded"]},"bodyLimit":131072,"concurrencyLimit":null,"mediaTypes":[],"rateLimit":{"limit":30,"windowSeconds":60,"per":"address"},"deprecation":null,"statuses":[200,400,401,413,415,429,503]},
  rotateWebhookSecret: {"method":"POST","path":"/webhooks/{webhook_id}/rotate-secret","security":[["webhooks:manage"]],"writes":true,"body":{"required":false,"mediaTypes":["application/json"]},"bodyLimit":16384,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,400,401,403,404,409,412,413,415,422,429,503]},
  searchItems: {"method":"GET","path":"/items","security":[["menus:read"]],"writes":false,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,304,401,403,422,429,503]},
  setAvailability: {"method":"POST","path":"/menus/{menu_id}/availability","security":[["availability:write"]],"writes":true,"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":1048576,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,400,401,403,404,409,413,415,422,429,503]},
  setItemModifierGroups: {"method":"PUT","path":"/menus/{menu_id}/items/{item_id}/modifier-groups","security":[["menus:write"]],"writes":true,"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":16384,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,404,412,413,415,422,429,503]},
  setLocationAvailability: {"method":"POST","path":"/locations/{location_id}/availability","security":[["availability:write"]],"writes":true,"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":1048576,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,400,401,403,404,409,413,415,422,429,503]},
  setModifierAvailability: {"method":"POST","path":"/locations/{location_id}/modifier-availability","security":[["availability:write"]],"writes":true,"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":1048576,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,400,401,403,404,409,413,415,422,429,503]},
  setModifierModifierGroups: {"method":"PUT","path":"/locations/{location_id}/modifier-groups/{modifier_group_id}/modifiers/{modifier_id}/modifier-groups","security":[["menus:write"]],"writes":true,"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":16384,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,404,412,413,415,422,429,503]},
  testWebhook: {"method":"POST","path":"/webhooks/{webhook_id}/test","security":[["webhooks:manage"]],"writes":true,"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":16384,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":{"limit":60,"windowSeconds":60,"per":"client"},"deprecation":null,"statuses":[200,400,401,403,404,409,413,415,422,429,503]},
  toggleItem: {"method":"POST","path":"/menus/{menu_id}/items/{item_id}/toggle","security":[["availability:write"]],"writes":true,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,400,401,403,404,409,412,429,503]},
  toggleMenu: {"method":"POST","path":"/menus/{menu_id}/toggle","security":[["availability:write"]],"writes":true,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,400,401,403,404,409,412,429,503]},
  toggleModifier: {"method":"POST","path":"/locations/{location_id}/modifier-groups/{modifier_group_id}/modifiers/{modifier_id}/toggle","security":[["availability:write"]],"writes":true,"body":null,"bodyLimit":null,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,400,401,403,404,409,412,429,503]},
  updateCategory: {"method":"PUT","path":"/menus/{menu_id}/categories/{category_id}","security":[["menus:write"]],"writes":true,"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":131072,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,404,412,413,415,422,429,503]},
  updateItem: {"method":"PUT","path":"/menus/{menu_id}/items/{item_id}","security":[["menus:write"],["availability:write"]],"writes":true,"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":262144,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,404,412,413,415,422,429,503]},
  updateLocation: {"method":"PUT","path":"/locations/{location_id}","security":[["menus:write"]],"writes":true,"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":65536,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,404,412,413,415,422,429,503]},
  updateMenu: {"method":"PUT","path":"/menus/{menu_id}","security":[["menus:write"]],"writes":true,"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":131072,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,404,412,413,415,422,429,503]},
  updateModifier: {"method":"PUT","path":"/locations/{location_id}/modifier-groups/{modifier_group_id}/modifiers/{modifier_id}","security":[["menus:write"],["availability:write"]],"writes":true,"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":262144,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,404,412,413,415,422,429,503]},
  updateModifierGroup: {"method":"PUT","path":"/locations/{location_id}/modifier-groups/{modifier_group_id}","security":[["menus:write"]],"writes":true,"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":131072,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,404,412,413,415,422,429,503]},
  updateWebhook: {"method":"PUT","path":"/webhooks/{webhook_id}","security":[["webhooks:manage"]],"writes":true,"body":{"required":true,"mediaTypes":["application/json"]},"bodyLimit":131072,"concurrencyLimit":null,"mediaTypes":["application/json"],"rateLimit":null,"deprecation":null,"statuses":[200,401,403,404,412,413,415,422,429,503]},
};

export interface Handlers {
  createCategory: Handler<'createCategory'>;
  createItem: Handler<'createItem'>;
  createLocation: Handler<'createLocation'>;
  createMenu: Handler<'createMenu'>;
  createModifier: Handler<'createModifier'>;
  createModifierGroup: Handler<'createModifierGroup'>;
  createWebhook: Handler<'createWebhook'>;
  deleteCategory: Handler<'deleteCategory'>;
  deleteItem: Handler<'deleteItem'>;
  deleteLocation: Handler<'deleteLocation'>;
  deleteMenu: Handler<'deleteMenu'>;
  deleteModifier: Handler<'deleteModifier'>;
  deleteModifierGroup: Handler<'deleteModifierGroup'>;
  deleteWebhook: Handler<'deleteWebhook'>;
  exportMenu: Handler<'exportMenu'>;
  getAvailability: Handler<'getAvailability'>;
  getCategory: Handler<'getCategory'>;
  getCurrentClient: Handler<'getCurrentClient'>;
  getDelivery: Handler<'getDelivery'>;
  getEvent: Handler<'getEvent'>;
  getItem: Handler<'getItem'>;
  getItemById: Handler<'getItemById'>;
  getLocation: Handler<'getLocation'>;
  getMenu: Handler<'getMenu'>;
  getModifier: Handler<'getModifier'>;
  getModifierGroup: Handler<'getModifierGroup'>;
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
  listModifierGroupUses: Handler<'listModifierGroupUses'>;
  listModifierGroups: Handler<'listModifierGroups'>;
  listWebhooks: Handler<'listWebhooks'>;
  priceSelection: Handler<'priceSelection'>;
  reorderMenu: Handler<'reorderMenu'>;
  replayWebhook: Handler<'replayWebhook'>;
  retryDelivery: Handler<'retryDelivery'>;
  revokeToken: Handler<'revokeToken'>;
  rotateWebhookSecret: Handler<'rotateWebhookSecret'>;
  searchItems: Handler<'searchItems'>;
  setAvailability: Handler<'setAvailability'>;
  setItemModifierGroups: Handler<'setItemModifierGroups'>;
  setLocationAvailability: Handler<'setLocationAvailability'>;
  setModifierAvailability: Handler<'setModifierAvailability'>;
  setModifierModifierGroups: Handler<'setModifierModifierGroups'>;
  testWebhook: Handler<'testWebhook'>;
  toggleItem: Handler<'toggleItem'>;
  toggleMenu: Handler<'toggleMenu'>;
  toggleModifier: Handler<'toggleModifier'>;
  updateCategory: Handler<'updateCategory'>;
  updateItem: Handler<'updateItem'>;
  updateLocation: Handler<'updateLocation'>;
  updateMenu: Handler<'updateMenu'>;
  updateModifier: Handler<'updateModifier'>;
  updateModifierGroup: Handler<'updateModifierGroup'>;
  updateWebhook: Handler<'updateWebhook'>;
}
