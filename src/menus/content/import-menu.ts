import { type RawBuilder, sql } from 'kysely';
import type { components } from '../../../generated/api.ts';
import { type Database, inTransaction, patient } from '../../db/database.ts';
import type { Json } from '../../db/json.ts';
import { type Param, statement } from '../../db/statement.ts';
import { acceptedETags, requireMatch } from '../../http/conditional.ts';
import { type FieldError, parameterError } from '../../http/errors.ts';
import type { Call, Reply } from '../../http/handler.ts';
import { ok } from '../../http/reply.ts';
import { heldCurrency } from '../../locations/currency.ts';
import { missingItems } from '../../modifier-groups/items-of-modifiers.ts';
import { takeTurn } from '../../modifier-groups/lock.ts';
import { type MenuKey, requireMenu } from '../../records/menu-reach.ts';
import { requireReach } from '../../records/reach.ts';
import { isAtPath } from '../../records/record-kind.ts';
import { written } from '../../records/write.ts';
import { lockContent } from '../lock-content.ts';
import { menuKey, menus } from '../menu.ts';
import { selectMenuETag } from '../menu-detail.ts';
import { readStoredText, type StoredText, type WantedGroups } from '../stored-menu.ts';
import { applyEdits } from './apply.ts';
import { menuETagsOf } from './etags.ts';
import type { Edits, Outcome } from './planner.ts';
import { openPlanner, type RemotePlanner } from './planners.ts';

/**
 * Makes the menu equal to a document, in one transaction with its events. The changes are first computed without a
 * lock, so that an invalid document, a dry run and an import that changes nothing delay nobody. Once everything is
 * locked they are computed again, unless the menu has not changed meanwhile.
 */
export async function importMenu(call: Call<'importMenu'>): Promise<Reply<'importMenu'>> {
  const { database, params, query, caller, headers, body, bodyType } = call;
  const { menu_id } = params;
  const key = menuKey(params, caller);
  const dry_run = query.dry_run ?? false;
  const accepted = menuETagsOf(acceptedETags(headers['if-match']));
  const planner = openPlanner(caller.clientId, { menu_id, dry_run, body, bodyType });
  try {
    const wanted: WantedGroups = (await planner.speaksOfGroups()) ? 'of the location' : 'none';
    // The largest menu takes longer than a request may otherwise wait, while others keep the server busy.
    const found = await readStoredText(patient(database), key, wanted);
    const outcome = await planner.plan(found?.within_reach ? found : undefined);
    if (outcome.isWrong) throw parameterError(outcome.errors ?? []);
    const stored = requireReach(found, 'menu');
    requireMatch(accepted, stored.etag);
    const place = { account_id: key.account_id, location_id: stored.location_id };
    const edits = await editsOf(outcome, database, place);
    if (dry_run || edits.isEmpty) return ok(diffOf(edits), { ETag: stored.etag });
    const done = await apply(call, { key, place, accepted, planner, wanted }, { stored, outcome });
    return ok(diffOf(done.edits), { ETag: done.etag });
  } finally {
    planner.close();
  }
}

interface Place {
  account_id: number;
  location_id: number;
}

async function editsOf({ errors = [], mentions, edits }: Outcome, database: Database, place: Place) {
  const missing = await missingItems(
    database,
    place,
    mentions.map(({ item_id }) => item_id),
  );
  const notFound = mentions
    .filter(({ item_id }) => missing.has(item_id))
    .map(({ pointer }): FieldError => {
      return { field: pointer, code: 'not_found', message: 'is not an item of this location' };
    });
  if (errors.length + notFound.length > 0) throw parameterError([...errors, ...notFound]);
  if (!edits) throw new Error('there is no plan without a menu');
  return edits;
}

function diffOf({ diff }: Edits): Json<components['schemas']['MenuDiffResponse']> {
  return diff as Json<components['schemas']['MenuDiffResponse']>;
}

const lockCurrency = statement(
  'menus.importMenu.holdCurrency',
  (p: Param<MenuKey>) =>
    heldCurrency(sql`select location_id, account_id from menu where ${isAtPath(menus, p)}`) as RawBuilder<{
      currency: string;
    }>,
);

/** @returns the currency; undefined when the menu is gone. */
async function holdCurrency(transaction: Database, key: MenuKey): Promise<string | undefined> {
  const [location] = await lockCurrency(transaction, key);
  return location?.currency;
}

interface Import {
  key: MenuKey;
  place: Place;
  accepted: string[] | null;
  planner: RemotePlanner;
  wanted: WantedGroups;
}

/** A menu as it was read, and the difference between it and the document. */
interface Found {
  stored: StoredText;
  outcome: Outcome;
}

async function apply(
  { database, requestId, caller }: Call<'importMenu'>,
  { key, place, accepted, planner, wanted }: Import,
  foreseen: Found,
): Promise<{ edits: Edits; etag: string }> {
  const { groups: foreseenGroups } = foreseen.outcome.edits ?? {};
  let groups = foreseenGroups && { ...place, changed: foreseenGroups.changed };
  let latest: Found | undefined = foreseen;
  for (;;) {
    const done = await inTransaction(patient(database), async (transaction) => {
      // Either locks the currency.
      const currency = await (groups ? takeTurn(transaction, place) : holdCurrency(transaction, key));
      const locked = await lockContent(transaction, key, groups);
      if (!locked) return undefined;
      if (!(await isCurrent(transaction, currency))) latest = await find(transaction);
      if (!latest) return undefined;
      const { stored, outcome } = latest;
      // Something that is not locked was added to the menu: see lockPlaces.
      const { categories, items } = outcome.stored;
      if (categories !== locked.categories || items !== locked.items) return undefined;
      requireMatch(accepted, stored.etag);
      const edits = await editsOf(outcome, transaction, place);
      // Groups have changed meanwhile, so more of them must be locked.
      const needed = edits.groups?.changed;
      const held = groups && new Set(groups.changed);
      if (needed && !(held && needed.every((one) => held.has(one)))) {
        groups = { ...place, changed: [...needed, ...(held ?? [])] };
        return undefined;
      }
      const target = { ...place, menu_id: key.menu_id, client_id: caller.clientId, ...written(requestId) };
      await applyEdits(transaction, target, edits, planner);
      const [current] = await selectMenuETag(transaction, key);
      return { edits, etag: current?.etag ?? stored.etag };
    });
    if (done) return done;
    await requireMenu(database, key);
  }

  // The ETag covers everything that was read except the currency, and groups that the menu does not show.
  async function isCurrent(transaction: Database, currency: string | undefined): Promise<boolean> {
    if (wanted !== 'none' || currency !== latest?.stored.currency) return false;
    const [menu] = await selectMenuETag(transaction, key);
    return menu?.etag === latest?.stored.etag;
  }

  async function find(transaction: Database): Promise<Found | undefined> {
    const stored = await readStoredText(transaction, key, wanted);
    return stored && { stored, outcome: await planner.plan(stored) };
  }
}
