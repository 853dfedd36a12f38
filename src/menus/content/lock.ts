import type { Database } from '../../db/database.ts';
import { lockContent } from '../lock-content.ts';
import type { MenuKey } from '../menu.ts';
import { readStored, type StoredMenu } from './stored.ts';

/**
 * Locks a menu and everything in it against other writers.
 * @returns the menu as it is now. Undefined when it is gone, or when something was put into it meanwhile, which is
 * not locked and now could not be without breaking the order: begin again with a new transaction.
 */
export async function lockStored(transaction: Database, key: MenuKey): Promise<StoredMenu | undefined> {
  const locked = await lockContent(transaction, key);
  const stored = locked && (await readStored(transaction, key));
  const whole = stored?.categories.length === locked?.categories && stored?.items.length === locked?.items;
  return whole ? stored : undefined;
}
