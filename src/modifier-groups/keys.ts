import type { Caller } from '../http/caller.ts';
import { type Reach, reachOf } from '../records/reach.ts';

/** Path of one modifier group and who asks. */
export interface GroupKey extends Reach {
  location_id: number;
  modifier_group_id: number;
}

/** Path of one modifier and who asks. */
export interface ModifierKey extends GroupKey {
  modifier_id: number;
}

type Path<Key extends Reach> = Omit<Key, keyof Reach>;

/** The group that the path of a request names, with what its caller may reach. */
export function groupKey({ location_id, modifier_group_id }: Path<GroupKey>, caller: Caller): GroupKey {
  return { location_id, modifier_group_id, ...reachOf(caller) };
}

/** The modifier that the path of a request names, with what its caller may reach. */
export function modifierKey(params: Path<ModifierKey>, caller: Caller): ModifierKey {
  return { ...groupKey(params, caller), modifier_id: params.modifier_id };
}
