import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { makeCategory, makeItem, makeLocation, makeMenu, makeModifierGroup } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

/*
 * Random menus with modifiers, against a plain model: what getMenu shows, and what follows from it at a moment. Whatever
 * can be ordered has no reason against it and the other way round, and it changes next when its reasons do.
 * MODEL_SEED runs the same again.
 */

const seconds = 10;
const seed = Number(process.env['MODEL_SEED'] ?? Date.now() % 2_147_483_647);
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

// biome-ignore lint/suspicious/noExplicitAny: the contract check has validated it
type Resource = any;

/** Undefined is on, null off for good, a number off for so many hours. */
const absences = fc.oneof(
  fc.constant(undefined),
  fc.constant(undefined),
  fc.constant(null),
  fc.integer({ min: 1, max: 30 }),
);
const someHours = fc.oneof(
  { weight: 4, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.constant({ weekly: [] }) },
  {
    weight: 3,
    arbitrary: fc
      .record({ from: fc.integer({ min: 0, max: 23 }), length: fc.integer({ min: 1, max: 24 }) })
      .map(({ from, length }) => ({
        weekly: [
          {
            days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
            from: `${String(from).padStart(2, '0')}:00`,
            minutes: 60 * Math.min(length, 24 - from),
          },
        ],
      })),
  },
);
const minima = fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 3 }));
const uses = fc.uniqueArray(fc.record({ group: fc.nat({ max: 3 }), min: minima }), {
  maxLength: 2,
  selector: ({ group }) => group,
});
const worlds = fc.record({
  hours: fc.record({ location: someHours, menu: someHours, category: someHours }),
  isActive: fc.boolean(),
  items: fc.array(fc.record({ hours: someHours, absence: absences, uses }), { minLength: 1, maxLength: 3 }),
  /** On another menu of the location. */
  elsewhere: fc.record({ absence: absences, isGone: fc.boolean() }),
  groups: fc.array(
    fc.record({
      min: fc.integer({ min: 0, max: 3 }),
      each: fc.integer({ min: 1, max: 2 }),
      modifiers: fc.array(fc.record({ absence: absences, standsFor: fc.option(fc.nat({ max: 3 })), uses }), {
        minLength: 1,
        maxLength: 3,
      }),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  moments: fc.array(fc.integer({ min: -2, max: 40 * 60 }), { minLength: 3, maxLength: 6 }),
});
type World = typeof worlds extends fc.Arbitrary<infer W> ? W : never;

t.test(`what can be ordered follows from what the menu shows (MODEL_SEED=${seed})`, async (t) => {
  const { api } = await startTestService(t);
  let compared = 0;
  let last: Promise<unknown> = Promise.resolve();
  const codes = new Map<string, number>();

  const run = async (world: World) => {
    const now = Math.ceil(Date.now() / 1_000) * 1_000;
    const { menu_id, location_id, elsewhere } = await made(world, now);
    const menu = (await api.get(`/menus/${menu_id}`)).body.data;
    const location = (await api.get(`/locations/${location_id}`)).body.data;
    const gone = world.elsewhere.isGone;
    const model = modelOf({ location, menu, others: gone ? [] : [(await api.get(elsewhere)).body.data] });
    for (const minutes of world.moments) {
      const at = now + minutes * 60_000;
      const { body } = await api.get(`/menus/${menu_id}/availability?at=${new Date(at).toISOString()}`);
      const { reasons, next_change_at, is_orderable, items, modifiers } = body.data;
      assert.deepEqual(named({ reasons, next_change_at, is_orderable }), model.whole(at));
      assert.deepEqual(
        items.map(({ item_id, ...one }: Resource) => [item_id, named(one)]),
        model.items(at),
      );
      assert.deepEqual(
        modifiers.map(({ modifier_id, ...one }: Resource) => [modifier_id, named(one)]),
        model.modifiers(at),
      );
      compared += 1;
      for (const { reasons } of [...items, ...modifiers])
        for (const { code } of reasons) codes.set(code, (codes.get(code) ?? 0) + 1);
    }
  };

  const absenceOf = (absence: number | null | undefined, now: number) => ({
    ...(absence === null && { is_available: false }),
    ...(typeof absence === 'number' && { unavailable_until: new Date(now + absence * hourMs).toISOString() }),
  });

  async function made({ hours, isActive, items, elsewhere, groups }: World, now: number) {
    const { location_id } = await makeLocation(api, { timezone: 'UTC', hours: hours.location });
    const { menu_id } = await makeMenu(api, location_id, { hours: hours.menu });
    const category = await makeCategory(api, menu_id, { hours: hours.category });
    const other = await makeCategory(api, (await makeMenu(api, location_id)).menu_id);
    const stood: Resource[] = [await makeItem(api, other, absenceOf(elsewhere.absence, now))];
    for (const { hours, absence } of items)
      stood.push(await makeItem(api, category, { hours, ...absenceOf(absence, now) }));
    const mostOf = (place: number) => {
      const { modifiers, each } = groups[place] as World['groups'][number];
      return modifiers.length * each;
    };
    const madeGroups: Resource[] = [];
    for (const [place, { min, each, modifiers }] of groups.entries())
      madeGroups.push(
        await makeModifierGroup(api, location_id, {
          min_selections: Math.min(min, mostOf(place)),
          max_per_modifier: each,
          modifiers: modifiers.map(({ absence, standsFor }, n) => ({
            name: `M${n}`,
            item_id: standsFor === null ? null : (stood[standsFor]?.item_id ?? null),
            ...absenceOf(absence, now),
          })),
        }),
      );
    const setUses = async (path: string, wanted: World['items'][number]['uses'], least: number) => {
      const modifier_groups = wanted
        .filter(({ group }) => group >= least && group < groups.length)
        .map(({ group, min }) => ({
          modifier_group_id: madeGroups[group].modifier_group_id,
          min_selections: min === null ? null : Math.min(min, mostOf(group)),
        }));
      const response = await api.put(`${path}/modifier-groups`, { modifier_groups });
      assert.equal(response.status, 200, response.text);
    };
    for (const [place, { uses }] of items.entries())
      await setUses(`/menus/${menu_id}/items/${stood[place + 1].item_id}`, uses, 0);
    // Deeper groups come later, so there is no circle.
    for (const [place, { modifiers }] of groups.entries())
      for (const [n, { uses }] of modifiers.entries()) {
        const { modifier_group_id, modifiers: inGroup } = madeGroups[place];
        const path = `/locations/${location_id}/modifier-groups/${modifier_group_id}/modifiers`;
        await setUses(`${path}/${inGroup[n].modifier_id}`, uses, place + 1);
      }
    if (!isActive) await api.post(`/menus/${menu_id}/toggle`);
    const path = `/menus/${other.menu_id}/items/${stood[0].item_id}`;
    if (elsewhere.isGone) await api.delete(path);
    return { menu_id, location_id, elsewhere: path };
  }

  const agree = fc.asyncProperty(worlds, async (world) => {
    const running = run(world);
    last = running.catch(() => {});
    await running;
  });
  const details = await fc.check(agree, {
    seed,
    numRuns: 10_000,
    interruptAfterTimeLimit: seconds * 1_000,
    markInterruptAsFailure: false,
  });
  // The one that the clock has cut short.
  await last;
  t.comment(`${compared} moments of ${details.numRuns} menus: ${JSON.stringify([...codes])}`);
  t.notOk(
    details.failed,
    `MODEL_SEED=${seed}\n${fc.defaultReportMessage(details)}\n${details.errorInstance}`,
  );
  t.ok(compared > 10, 'it did something');
});

interface Said {
  is_orderable: boolean;
  /** 'item_off', 'required_modifiers_off 5' */
  reasons: string[];
  next_change_at: string | null;
}

function named({ is_orderable, reasons, next_change_at }: Resource): Said {
  const names = reasons.map(({ code, modifier_group_id }: Resource) =>
    [code, modifier_group_id].join(' ').trim(),
  );
  return { is_orderable, reasons: names, next_change_at };
}

/** What follows from the menu, looked up anew for each moment. */
function modelOf({ location, menu, others }: { location: Resource; menu: Resource; others: Resource[] }) {
  const categories: Resource[] = menu.categories;
  const items: Resource[] = categories
    .flatMap(({ items }) => items)
    .toSorted((a, b) => a.item_id - b.item_id);
  const groups: Resource[] = menu.modifier_groups;
  const modifiers: Resource[] = groups
    .flatMap(({ modifiers }) => modifiers)
    .toSorted((a, b) => a.modifier_id - b.modifier_id);
  const everyItem = [...items, ...others];

  const ofMenu = (at: number) => [
    ...(isOpen(location.hours, at) ? [] : ['location_closed']),
    ...(menu.is_active ? [] : ['menu_inactive']),
    ...(isOpen(menu.hours, at) ? [] : ['menu_hours']),
  ];
  const ofItem = (item: Resource, at: number) => [
    ...ofMenu(at),
    ...(isOpen(categories.find(({ category_id }) => category_id === item.category_id).hours, at)
      ? []
      : ['category_hours']),
    ...(isOpen(item.hours, at) ? [] : ['item_hours']),
    ...(isOn(item, at) ? [] : ['item_off']),
    ...missing(item, at),
  ];
  const own = (modifier: Resource, at: number): string[] => {
    const item = everyItem.find(({ item_id }) => item_id === modifier.item_id);
    return [
      ...(isOn(modifier, at) ? [] : ['modifier_off']),
      ...(modifier.item_id === null || (item && isOn(item, at)) ? [] : ['item_off']),
      ...missing(modifier, at),
    ];
  };
  const missing = (user: Resource, at: number): string[] =>
    user.modifier_groups.flatMap((use: Resource) => {
      const group = groups.find(({ modifier_group_id }) => modifier_group_id === use.modifier_group_id);
      const left = group.modifiers.filter((one: Resource) => own(one, at).length === 0).length;
      const needed = use.min_selections ?? group.min_selections;
      return left * group.max_per_modifier < needed
        ? [`required_modifiers_off ${use.modifier_group_id}`]
        : [];
    });

  const switched = [...everyItem, ...modifiers].flatMap(({ unavailable_until }) =>
    unavailable_until === null ? [] : [Date.parse(unavailable_until)],
  );
  const said = (reasonsAt: (at: number) => string[], at: number): Said => {
    const reasons = reasonsAt(at);
    const today = Math.floor(at / dayMs) * dayMs;
    const onTheHour = Array.from({ length: 50 }, (_, hour) => today + hour * hourMs);
    const next = [...switched, ...onTheHour]
      .filter((moment) => moment > at)
      .sort((a, b) => a - b)
      .find((moment) => String(reasonsAt(moment)) !== String(reasons));
    return {
      is_orderable: reasons.length === 0,
      reasons,
      next_change_at: next === undefined ? null : new Date(next).toISOString(),
    };
  };
  const ofItems = (at: number) =>
    items.map((item): [number, Said] => [item.item_id, said((moment) => ofItem(item, moment), at)]);
  const ofModifiers = (at: number) =>
    modifiers.map((modifier): [number, Said] => [
      modifier.modifier_id,
      said((moment) => [...ofMenu(moment), ...own(modifier, moment)], at),
    ]);
  return {
    items: ofItems,
    modifiers: ofModifiers,
    whole: (at: number): Said => {
      const own = said(ofMenu, at);
      const changes = [own, ...[...ofItems(at), ...ofModifiers(at)].map(([, one]) => one)].flatMap(
        ({ next_change_at }) => next_change_at ?? [],
      );
      return { ...own, next_change_at: changes.toSorted()[0] ?? null };
    },
  };
}

function isOn({ is_available, unavailable_until }: Resource, at: number): boolean {
  return is_available || (unavailable_until !== null && Date.parse(unavailable_until) <= at);
}

/** Of hours in UTC that do not go past midnight. */
function isOpen(hours: Resource, at: number): boolean {
  const minute = Math.floor((at % dayMs) / 60_000);
  return (
    hours === null ||
    hours.weekly.some(({ from, minutes }: Resource) => {
      const start = Number(from.slice(0, 2)) * 60 + Number(from.slice(3));
      return minute >= start && minute < start + minutes;
    })
  );
}
