import type { components } from '../../generated/api.ts';
import { type Database, inTransaction } from '../db/database.ts';
import { data } from '../db/json.ts';
import type { Call, Reply } from '../http/handler.ts';
import { ok } from '../http/reply.ts';
import { priceUpdate } from '../locations/price-update.ts';
import { describingFields, requireScopeFor, requireSensibleAbsence } from '../records/absence.ts';
import { absenceNotes, isOnAfter, nextAvailability, type Switching } from '../records/switches.ts';
import { partialUpdate } from '../records/update.ts';
import { requireItemOf } from './items-of-modifiers.ts';
import { type ModifierKey, modifierKey } from './keys.ts';
import { takeTurn } from './lock.ts';
import {
  type Modifier,
  modifierEventTypes,
  modifierFields,
  modifiers,
  previousOfModifier,
  requireModifier,
} from './modifier.ts';
import { withReturn } from './planned-return.ts';
import { readRules, requireDefaultsMet } from './rules.ts';

type ModifierUpdate = Omit<components['schemas']['ModifierUpdate'], 'restore'>;

/**
 * Changes the fields present in the body. A mere change of availability takes one statement and is not serialized
 * with other changes of groups.
 */
export async function updateModifier(call: Call<'updateModifier'>): Promise<Reply<'updateModifier'>> {
  const { params, caller, headers, requestId } = call;
  requireScopeFor(call.body, caller);
  requireSensibleAbsence(call.body);
  const key = { ...modifierKey(params, caller), client_id: caller.clientId };
  const body = await withReturn(call.database, key, call.body);
  const { etag, resource } = await (describingFields(body).length > 0
    ? inTransaction(call.database, async (database) => {
        await requireModifier(database, key);
        await takeTurn(database, key);
        await requireFitting(database, key, body);
        return update({ database, headers, requestId }, key, body);
      })
    : update(call, key, body));
  return ok(data(resource), { ETag: etag });
}

async function requireFitting(database: Database, key: ModifierKey, body: ModifierUpdate): Promise<void> {
  await requireItemOf(database, key, body.item_id);
  const { default_quantity } = body;
  if (default_quantity === undefined) return;
  const [rules] = await readRules(database, { ...key, groups: [key.modifier_group_id] });
  if (!rules) return;
  const defaults = rules.defaults.map((one) =>
    one.modifier_id === key.modifier_id ? { ...one, default_quantity } : one,
  );
  requireDefaultsMet({ ...rules, defaults });
}

const price = priceUpdate(modifiers);

const update = partialUpdate<ModifierKey & Switching, ModifierUpdate, Modifier>({
  name: 'modifierGroups.updateModifier',
  kind: modifiers,
  fields: modifierFields,
  require: requireModifier,
  eventTypes: modifierEventTypes,
  previous: previousOfModifier,
  next: (p) => nextAvailability(p, 'modifier'),
  assign: (p) => ({
    ...absenceNotes(p, 'modifier', isOnAfter(p, 'modifier')),
    price: price.assigned(p),
  }),
  terms: price.terms,
  options: { through: 'modifier' },
});
