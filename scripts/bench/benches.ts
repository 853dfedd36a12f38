import type { Bench } from './bench.ts';
import { createItem } from './create-item.ts';
import { getItem } from './get-item.ts';
import { getMenu60, getMenu304, getMenu500 } from './get-menu.ts';
import { importMenu } from './import-menu.ts';
import { responseCheck } from './response-check.ts';
import { setAvailability1, setAvailability100, setAvailability500 } from './set-availability.ts';
import { toggleItem } from './toggle-item.ts';
import { updateItem } from './update-item.ts';
import { webhookBacklog } from './webhook-backlog.ts';
import { webhookIsolation } from './webhook-isolation.ts';
import { webhookLatency } from './webhook-latency.ts';
import { webhookThroughput } from './webhook-throughput.ts';

/** Run when none is named. */
export const firstBenches: Bench[] = [getItem, getMenu60, getMenu500, updateItem, toggleItem];

export const benches: Bench[] = [
  ...firstBenches,
  getMenu304,
  createItem,
  setAvailability1,
  setAvailability100,
  setAvailability500,
  importMenu,
  responseCheck,
  webhookThroughput,
  webhookLatency,
  webhookIsolation,
  webhookBacklog,
];
