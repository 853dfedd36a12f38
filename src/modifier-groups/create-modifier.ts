import { type Database, inTransaction } from '../db/database.ts';
import { data } from '../db/json.ts';
import { parameterError } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { created } from '../http/reply.ts';
import { priceErrors, priceText } from '../locations/currency.ts';
import { requireSensibleAbsence } from '../records/absence.ts';
import { creation } from '../records/create.ts';
import { firstNotes } from '../records/switches.ts';
import { written } from '../records/write.ts';
import { requireItemOf } from './items-of-modifiers.ts';
import { type GroupKey, groupKey } from './keys.ts';
import { takeTurn } from './lock.ts';
import { type Modifier, modifierDefaults, modifierLimit, modifiers, newModifierFields } from './modifier.ts';
import { requireGroup } from './modifier-group.ts';
import { readRules, requireDefaultsMet } from './rules.ts';

/**
 * Creates a modifier in a group, in one transaction with its event.
 * @throws 404 or 403 for the group, 422 for its item, its price or the number of modifiers
 */
export async function createModifier(call: Call<'createModifier'>): Promise<Reply<'createModifier'>> {
  const { params, body, caller, requestId } = call;
  requireSensibleAbsence(body);
  const key = groupKey(params, caller);
  const modifier = await inTransaction(call.database, async (database) => {
    await requireGroup(database, key);
    const currency = await takeTurn(database, key);
    await requireRoom(database, key, body.default_quantity ?? 0);
    await requireItemOf(database, key, body.item_id);
    const { price = modifierDefaults.price } = body;
    const errors = priceErrors(price, currency, '/price');
    if (errors.length > 0) throw parameterError(errors);
    const is_available = body.is_available ?? body.unavailable_until == null;
    const [row] = await insert(database, {
      ...key,
      ...modifierDefaults,
      ...body,
      is_available,
      ...firstNotes(is_available, caller.clientId),
      name: body.name.trim(),
      price: priceText(price, currency),
      ...written(requestId),
    });
    if (row) return row;
    await requireGroup(database, key);
    throw new Error('insert returned no row');
  });
  const { location_id, modifier_group_id } = params;
  const group = `/api/v1/locations/${location_id}/modifier-groups/${modifier_group_id}`;
  const location = `${group}/modifiers/${modifier.id}`;
  return created(data(modifier.resource), { ETag: modifier.etag, Location: location });
}

async function requireRoom(database: Database, key: GroupKey, default_quantity: number): Promise<void> {
  const [rules] = await readRules(database, { ...key, groups: [key.modifier_group_id] });
  if (!rules) return;
  const defaults = [...rules.defaults, { modifier_id: 0, default_quantity }];
  if (defaults.length > modifierLimit) {
    const message = `the group has ${modifierLimit} modifiers, and may not have more`;
    throw parameterError([{ field: '', code: 'too_many', message }]);
  }
  requireDefaultsMet({ ...rules, defaults });
}

type NewModifier = Pick<Modifier, Exclude<keyof typeof newModifierFields, 'price' | 'sort_order'>> & {
  /** With all decimal places of the currency. */
  price: string;
  sort_order: number | null;
};

const insert = creation<GroupKey, NewModifier, Modifier>(
  {
    name: 'modifierGroups.createModifier',
    kind: modifiers,
    parent: {
      table: 'modifier_group',
      path: ['modifier_group_id', 'location_id'],
      inherited: ['modifier_group_id'],
      held: true,
    },
    fields: newModifierFields,
  },
  { through: 'modifier' },
);
