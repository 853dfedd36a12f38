import type { components } from '../generated/api.ts';
import type { Handlers } from '../generated/operations.ts';
import type { AuthenticateClient } from './accounts/authenticate-client.ts';
import { getCurrentClient } from './accounts/get-current-client.ts';
import { issueToken } from './accounts/issue-token.ts';
import { revokeToken } from './accounts/revoke-token.ts';
import type { Tokens } from './accounts/tokens.ts';
import { createCategory } from './categories/create-category.ts';
import { deleteCategory } from './categories/delete-category.ts';
import { getCategory } from './categories/get-category.ts';
import { listCategories } from './categories/list-categories.ts';
import { updateCategory } from './categories/update-category.ts';
import type { Seal } from './db/seal.ts';
import { getEvent } from './events/get-event.ts';
import { listEvents } from './events/list-events.ts';
import { createItem } from './items/create-item.ts';
import { deleteItem } from './items/delete-item.ts';
import { getItem } from './items/get-item.ts';
import { getItemById } from './items/get-item-by-id.ts';
import { listItems } from './items/list-items.ts';
import { searchItems } from './items/search-items.ts';
import { setAvailability } from './items/set-availability.ts';
import { setLocationAvailability } from './items/set-location-availability.ts';
import { toggleItem } from './items/toggle-item.ts';
import { updateItem } from './items/update-item.ts';
import { createLocation } from './locations/create-location.ts';
import { deleteLocation } from './locations/delete-location.ts';
import { getLocation } from './locations/get-location.ts';
import { listLocations } from './locations/list-locations.ts';
import { updateLocation } from './locations/update-location.ts';
import { exportMenu } from './menus/content/export-menu.ts';
import { importMenu } from './menus/content/import-menu.ts';
import { createMenu } from './menus/create-menu.ts';
import { deleteMenu } from './menus/delete-menu.ts';
import { getAvailability } from './menus/get-availability.ts';
import { getMenu } from './menus/get-menu.ts';
import { listMenus } from './menus/list-menus.ts';
import { priceSelection } from './menus/pricing/price-selection.ts';
import { reorderMenu } from './menus/reorder-menu.ts';
import { toggleMenu } from './menus/toggle-menu.ts';
import { updateMenu } from './menus/update-menu.ts';
import { createModifier } from './modifier-groups/create-modifier.ts';
import { createModifierGroup } from './modifier-groups/create-modifier-group.ts';
import { deleteModifier } from './modifier-groups/delete-modifier.ts';
import { deleteModifierGroup } from './modifier-groups/delete-modifier-group.ts';
import { getModifier } from './modifier-groups/get-modifier.ts';
import { getModifierGroup } from './modifier-groups/get-modifier-group.ts';
import { listModifierGroupUses } from './modifier-groups/list-modifier-group-uses.ts';
import { listModifierGroups } from './modifier-groups/list-modifier-groups.ts';
import { setItemModifierGroups } from './modifier-groups/set-item-modifier-groups.ts';
import { setModifierAvailability } from './modifier-groups/set-modifier-availability.ts';
import { setModifierModifierGroups } from './modifier-groups/set-modifier-modifier-groups.ts';
import { toggleModifier } from './modifier-groups/toggle-modifier.ts';
import { updateModifier } from './modifier-groups/update-modifier.ts';
import { updateModifierGroup } from './modifier-groups/update-modifier-group.ts';
import { createWebhook } from './webhooks/create-webhook.ts';
import { deleteWebhook } from './webhooks/delete-webhook.ts';
import type { Send } from './webhooks/delivery/deliver.ts';
import type { Destination } from './webhooks/delivery/destination.ts';
import { getDelivery } from './webhooks/get-delivery.ts';
import { getReplay } from './webhooks/get-replay.ts';
import { getWebhook } from './webhooks/get-webhook.ts';
import { listDeliveries } from './webhooks/list-deliveries.ts';
import { listWebhooks } from './webhooks/list-webhooks.ts';
import { replayWebhook } from './webhooks/replay-webhook.ts';
import { retryDelivery } from './webhooks/retry-delivery.ts';
import { rotateWebhookSecret } from './webhooks/rotate-webhook-secret.ts';
import { testWebhook } from './webhooks/test-webhook.ts';
import { updateWebhook } from './webhooks/update-webhook.ts';

/** What some operations need besides the database; created once at start. */
export interface Services {
  tokens: Tokens;
  authenticateClient: AuthenticateClient;
  seal: Seal;
  destination: Destination;
  send: Send;
  webhooksPerAccount: number;
  /** The limits that getCurrentClient reports. */
  clientLimits: components['schemas']['ClientLimits'];
}

/** The whole API on one page: every operation of the contract and its handler. */
export const createHandlers = ({
  tokens,
  authenticateClient,
  seal,
  destination,
  send,
  webhooksPerAccount,
  clientLimits,
}: Services): Handlers => ({
  issueToken: issueToken({ tokens, authenticateClient }),
  revokeToken: revokeToken({ tokens, authenticateClient }),
  getCurrentClient: getCurrentClient({ limits: clientLimits }),

  listLocations,
  createLocation,
  getLocation,
  updateLocation,
  deleteLocation,

  listMenus,
  createMenu,
  getMenu,
  getAvailability,
  updateMenu,
  deleteMenu,
  toggleMenu,
  reorderMenu,
  exportMenu,
  importMenu,

  listCategories,
  createCategory,
  getCategory,
  updateCategory,
  deleteCategory,

  listItems,
  createItem,
  getItem,
  getItemById,
  searchItems,
  updateItem,
  deleteItem,
  priceSelection,
  toggleItem,
  setAvailability,
  setLocationAvailability,

  listModifierGroups,
  createModifierGroup,
  getModifierGroup,
  updateModifierGroup,
  deleteModifierGroup,
  listModifierGroupUses,
  createModifier,
  getModifier,
  updateModifier,
  deleteModifier,
  toggleModifier,
  setModifierAvailability,
  setItemModifierGroups,
  setModifierModifierGroups,

  createWebhook: createWebhook({ seal, destination, webhooksPerAccount }),
  listWebhooks,
  getWebhook,
  updateWebhook: updateWebhook({ destination }),
  deleteWebhook,
  rotateWebhookSecret: rotateWebhookSecret({ seal }),
  testWebhook: testWebhook({ seal, send }),
  replayWebhook,
  getReplay,

  listDeliveries,
  getDelivery,
  retryDelivery,

  listEvents,
  getEvent,
});
