import type { Handlers } from '../generated/operations.ts';
import { issueToken } from './accounts/issue-token.ts';
import { getEvent } from './events/get-event.ts';
import { listEvents } from './events/list-events.ts';
import { getItem } from './items/get-item.ts';
import { listItems } from './items/list-items.ts';
import { toggleItem } from './items/toggle-item.ts';
import { updateItem } from './items/update-item.ts';
import { getLocation } from './locations/get-location.ts';
import { listLocations } from './locations/list-locations.ts';
import { getMenu } from './menus/get-menu.ts';
import { listMenus } from './menus/list-menus.ts';
import { createWebhook } from './webhooks/create-webhook.ts';
import { deleteWebhook } from './webhooks/delete-webhook.ts';
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

/** The whole API on one page: every operation of the contract and its handler. */
export const handlers = {
  issueToken,

  listLocations,
  getLocation,

  listMenus,
  getMenu,

  listItems,
  getItem,
  updateItem,
  toggleItem,

  createWebhook,
  listWebhooks,
  getWebhook,
  updateWebhook,
  deleteWebhook,
  rotateWebhookSecret,
  testWebhook,
  replayWebhook,
  getReplay,

  listDeliveries,
  getDelivery,
  retryDelivery,

  listEvents,
  getEvent,
} satisfies Handlers;
