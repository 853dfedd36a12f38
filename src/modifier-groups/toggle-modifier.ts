import { sql } from 'kysely';
import { data } from '../db/json.ts';
import { build, type Param } from '../db/statement.ts';
import { acceptedETags, eTagMatches, type IfMatch, requireWritten } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { ok } from '../http/reply.ts';
import { isAvailable } from '../records/absence.ts';
import { isReachable } from '../records/record-kind.ts';
import { absenceNotes, previousOfToggle, type Switching } from '../records/switches.ts';
import { change, raised, type Written, write, written } from '../records/write.ts';
import { type ModifierKey, modifierKey } from './keys.ts';
import { modifiers, requireModifier } from './modifier.ts';
import { sharedToggle } from './shared-toggle.ts';

/**
 * Flips the availability that readers of the modifier see at this moment, in one statement with its event, whatever
 * menus show it.
 */
export async function toggleModifier(call: Call<'toggleModifier'>): Promise<Reply<'toggleModifier'>> {
  const { database, params, caller, headers, requestId } = call;
  const key = modifierKey(params, caller);
  const if_match = acceptedETags(headers['if-match']);
  const values = { ...key, if_match, client_id: caller.clientId, ...written(requestId) };
  const toggled = await (if_match ? toggle : toggleShared)(database, values);
  const { etag, resource } = await requireWritten(toggled, () => requireModifier(database, key));
  return ok(data(resource), { ETag: etag });
}

const toggle = write(
  'modifierGroups.toggleModifier',
  (p: Param<ModifierKey & IfMatch & Written & Switching>) =>
    build
      .updateTable('modifier')
      .set({
        is_available: sql`not ${isAvailable('modifier')}`,
        unavailable_until: null,
        ...absenceNotes(p, 'modifier', sql`not ${isAvailable('modifier')}`),
        ...raised(p, 'modifier'),
      })
      .where(isReachable(modifiers, p))
      .where(eTagMatches(p, modifiers.eTag()))
      .returning([
        ...change(modifiers, 'modifier.toggled', { previous: previousOfToggle }),
        modifiers.eTag('new').as('etag'),
      ]),
  ['etag', 'resource'],
  { through: 'modifier' },
);

const toggleShared = sharedToggle(toggle);
