import { restoreDue } from '../records/restore-due.ts';
import { items } from './item.ts';

/** Records that items are available again. @returns how many; more may be due. */
export const restoreDueItems = restoreDue(
  'items.restoreDueItems',
  { ...items, table: 'item' },
  {
    inSeveralMenus: true,
  },
);
