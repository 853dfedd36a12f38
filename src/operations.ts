import type { Handlers } from '../generated/operations.ts';
import { issueToken } from './accounts/issue-token.ts';
import { getItem } from './items/get-item.ts';
import { listItems } from './items/list-items.ts';
import { toggleItem } from './items/toggle-item.ts';
import { updateItem } from './items/update-item.ts';
import { getLocation } from './locations/get-location.ts';
import { listLocations } from './locations/list-locations.ts';
import { exportMenu } from './menus/export-menu.ts';
import { getMenu } from './menus/get-menu.ts';
import { importMenu } from './menus/import-menu.ts';
import { listMenus } from './menus/list-menus.ts';
import { createWebhook } from './webhooks/create-webhook.ts';
import { deleteWebhook } from './webhooks/delete-webhook.ts';
import { getWebhook } from './webhooks/get-webhook.ts';
import { listWebhooks } from './webhooks/list-webhooks.ts';

/** The whole API on one page: every operation of the contract and its handler. */
export const handlers = {
  issueToken,

  listLocations,
  getLocation,

  listMenus,
  getMenu,
  exportMenu,
  importMenu,

  listItems,
  getItem,
  updateItem,
  toggleItem,

  createWebhook,
  listWebhooks,
  getWebhook,
  deleteWebhook,
} satisfies Handlers;
