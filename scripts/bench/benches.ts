import { apiProcesses } from './api-processes.ts';
import type { Bench } from './bench.ts';
import { createItem } from './create-item.ts';
import { eventFeed } from './event-feed.ts';
import { getAvailability304, getAvailability500 } from './get-availability.ts';
import { getItem } from './get-item.ts';
import { getMenu60, getMenu304, getMenu500 } from './get-menu.ts';
import { importMenu } from './import-menu.ts';
import { menuReads } from './menu-reads.ts';
import { priceSelection } from './price-selection.ts';
import { requestCost } from './request-cost.ts';
import { responseCheck } from './response-check.ts';
import { setAvailability1, setAvailability100, setAvailability500 } from './set-availability.ts';
import { switchCost } from './switch-cost.ts';
import { toggleItem } from './toggle-item.ts';
import { toggleModifier } from './toggle-modifier.ts';
import { updateItem } from './update-item.ts';
import { webhookBacklog } from './webhook-backlog.ts';
import { webhookIdle } from './webhook-idle.ts';
import { webhookIsolation } from './webhook-isolation.ts';
import { webhookLatency } from './webhook-latency.ts';
import { webhookRelay } from './webhook-relay.ts';
import { webhookRetention } from './webhook-retention.ts';
import { webhookSnapshot } from './webhook-snapshot.ts';
import { webhookThroughput } from './webhook-throughput.ts';

/** Run when none is named. */
export const firstBenches: Bench[] = [getItem, getMenu60, getMenu500, updateItem, toggleItem];

export const benches: Bench[] = [
  ...firstBenches,
  getMenu304,
  getAvailability500,
  getAvailability304,
  toggleModifier,
  menuReads,
  requestCost,
  apiProcesses,
  createItem,
  setAvailability1,
  setAvailability100,
  setAvailability500,
  priceSelection,
  importMenu,
  eventFeed,
  responseCheck,
  webhookThroughput,
  webhookLatency,
  webhookIsolation,
  webhookBacklog,
  webhookRelay,
  webhookIdle,
  webhookSnapshot,
  webhookRetention,
  switchCost,
];
