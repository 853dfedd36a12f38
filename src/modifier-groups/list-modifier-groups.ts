import { sql } from 'kysely';
import { build, filteredStatement } from '../db/statement.ts';
import type { Call, Reply } from '../http/handler.ts';
import { type ListRow, type PageRequest, pageRequest, pageResponse } from '../http/pagination.ts';
import { type LocationKey, locationKey, requireLocation } from '../locations/location.ts';
import { withinReach } from '../records/reach.ts';
import { isUpdatedSince } from '../records/updated-since.ts';
import { groupJson, type ModifierGroup } from './modifier-group.ts';

/** A page of the modifier groups of a location, by id. @throws 404 or 403 for the location */
export async function listModifierGroups(
  call: Call<'listModifierGroups'>,
): Promise<Reply<'listModifierGroups'>> {
  const { database, params, query, caller } = call;
  const wanted = pageRequest(query);
  const key = locationKey(params, caller);
  const { external_id, updated_since } = query;
  const rows = await selectGroups(database, { ...key, ...wanted, external_id, updated_since });
  // Only an empty page needs to know why.
  if (rows.length === 0) await requireLocation(database, key);
  return pageResponse(rows, wanted, call);
}

interface Filters {
  external_id?: string | undefined;
  updated_since?: string | undefined;
}
type Values = LocationKey & PageRequest & Filters;

const selectGroups = filteredStatement<Values, ListRow<ModifierGroup>, keyof Filters>(
  'modifierGroups.listModifierGroups',
  ['external_id', 'updated_since'],
  (p, present) =>
    build
      .selectFrom('modifier_group')
      .select(['modifier_group_id as id', groupJson().as('resource')])
      .where('location_id', '=', p('location_id', 'bigint'))
      .where(withinReach(p, 'modifier_group'))
      .where('modifier_group_id', '>', p('after', 'bigint'))
      .$if(present.includes('external_id'), (groups) =>
        groups.where('external_id', '=', p('external_id', 'text')),
      )
      .$if(present.includes('updated_since'), (groups) =>
        groups.where(
          sql<boolean>`(${isUpdatedSince(p)} or exists (
            select from modifier where modifier.modifier_group_id = modifier_group.modifier_group_id
              and modifier.account_id = modifier_group.account_id and ${isUpdatedSince(p)}))`,
        ),
      )
      .orderBy('modifier_group_id')
      .limit(p('limit', 'bigint')),
);
