import type { Bench } from './bench.ts';
import { getItem } from './get-item.ts';
import { getMenu60, getMenu304, getMenu500 } from './get-menu.ts';
import { toggleItem } from './toggle-item.ts';
import { updateItem } from './update-item.ts';

/** Run when none is named. */
export const firstBenches: Bench[] = [getItem, getMenu60, getMenu500, updateItem, toggleItem];

export const benches: Bench[] = [...firstBenches, getMenu304];
