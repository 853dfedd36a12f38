import type { components } from '../../generated/api.ts';
import { clockOf } from '../hours/clock.ts';
import type { Hours } from '../hours/hours.ts';
import { type ScheduleState, scheduleOf } from '../hours/schedule.ts';
import { inSlices } from '../hours/slices.ts';
import { type AbsenceRules, createMetFrom, type GroupRules, type UseRules } from './required-groups.ts';

type MenuAvailability = components['schemas']['MenuAvailability'];
type ItemAvailability = components['schemas']['ItemAvailability'];
type ModifierAvailability = components['schemas']['ModifierAvailability'];
type Reason = components['schemas']['UnavailableReason'];

/** Everything that decides which parts of a menu can be ordered, at any moment. Instants are Unix milliseconds. */
export interface MenuRules {
  menu_id: number;
  timezone: string;
  is_active: boolean;
  location_hours: Hours | null;
  menu_hours: Hours | null;
  /** The hours of the categories that have any. */
  category_hours: [category_id: number, hours: Hours][];
  items: ItemRules[];
  /** All groups that can be reached from the items. */
  modifier_groups: GroupRules[];
}

export type ItemRules = [
  item_id: number,
  category_id: number,
  hours: Hours | null,
  /** Null for an item that is available. */
  absence: AbsenceRules | null,
  uses: UseRules[],
];

/** What can be ordered at a given moment, and until when that holds; null: forever. */
export interface Told {
  availability: MenuAvailability;
  until: number | null;
}

/** Lists every reason of every level, since all levels must hold. Other calls get their turn in between. */
export async function orderabilityAt(rules: MenuRules, at: number): Promise<Told> {
  const stateOf = createStates(rules.timezone, at);
  const [location = open, menu = open] = await inSlices(
    [
      ['location_closed', rules.location_hours],
      ['menu_hours', rules.menu_hours],
    ] as const,
    ([code, hours]) => levelOf(code, stateOf(hours)),
  );
  const inactive: Level = { reasons: rules.is_active ? [] : [{ code: 'menu_inactive' }], until: null };
  const all = together([location, inactive, menu]);
  const categories = new Map(
    await inSlices(rules.category_hours, ([id, hours]): [number, Level] => [
      id,
      levelOf('category_hours', stateOf(hours)),
    ]),
  );
  const metFrom = createMetFrom(rules.modifier_groups);

  let until = all.until;
  /** The state of one record, from its own levels and those that apply to all. */
  const said = (own: Level[]) => {
    const level = together([all, ...own]);
    until = earlier(until, level.until);
    return saidOf(level);
  };
  const items = await inSlices(
    rules.items,
    ([item_id, category_id, hours, absence, uses]): ItemAvailability => {
      const own = [
        categories.get(category_id) ?? open,
        hours ? levelOf('item_hours', stateOf(hours)) : open,
        absenceAt('item_off', absence, at),
        requiredAt(uses, metFrom, at),
      ];
      return { item_id, ...said(own) };
    },
  );
  const inGroups = await inSlices(rules.modifier_groups, ([, , , inGroup]) =>
    inGroup.map(([modifier_id, absence, itemAbsence, uses]): ModifierAvailability => {
      const own = [
        absenceAt('modifier_off', absence, at),
        absenceAt('item_off', itemAbsence, at),
        requiredAt(uses, metFrom, at),
      ];
      return { modifier_id, ...said(own) };
    }),
  );
  const modifiers = inGroups.flat().sort((one, other) => one.modifier_id - other.modifier_id);

  const availability = {
    menu_id: rules.menu_id,
    at: new Date(at).toISOString(),
    ...saidOf({ ...all, until }),
    items,
    modifiers,
  };
  return { availability, until };
}

/** What prevents an order, and until when; null: forever. */
interface Level {
  reasons: Reason[];
  until: number | null;
}

const open: Level = { reasons: [], until: null };

function together(levels: Level[]): Level {
  if (levels.length === 0) return open;
  return {
    reasons: levels.flatMap(({ reasons }) => reasons),
    until: levels.reduce<number | null>((until, level) => earlier(until, level.until), null),
  };
}

function saidOf({ reasons, until }: Level) {
  return { is_orderable: reasons.length === 0, reasons, next_change_at: moment(until) };
}

function levelOf(code: string, { isOpen, nextChange }: ScheduleState): Level {
  return { reasons: isOpen ? [] : [{ code }], until: nextChange };
}

function absenceAt(code: 'item_off' | 'modifier_off', absence: AbsenceRules | null, at: number): Level {
  if (!absence || (absence.until !== null && absence.until <= at)) return open;
  const { until, since, by } = absence;
  const reason = { code, unavailable_until: moment(until), unavailable_since: since, unavailable_by: by };
  return { reasons: [reason], until };
}

/** A reason for each of the groups that cannot be met. */
function requiredAt(uses: readonly UseRules[], metFrom: (use: UseRules) => number, at: number): Level {
  return together(
    uses.flatMap((use) => {
      const from = metFrom(use);
      if (from <= at) return [];
      const { modifier_group_id } = use;
      const reasons = [{ code: 'required_modifiers_off', modifier_group_id }];
      return [{ reasons, until: from === Infinity ? null : from }];
    }),
  );
}

/** The states of hours at the moment; hours that many items share are evaluated once. */
function createStates(timezone: string, at: number): (hours: Hours | null) => ScheduleState {
  const known = new Map<string, ScheduleState>();
  return (hours) => {
    if (!hours) return { isOpen: true, nextChange: null };
    const text = JSON.stringify(hours);
    const state = known.get(text) ?? scheduleOf(hours, clockOf(timezone)).at(at);
    known.set(text, state);
    return state;
  };
}

function earlier(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

function moment(instant: number | null): string | null {
  return instant === null ? null : new Date(instant).toISOString();
}
