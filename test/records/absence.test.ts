import t from 'tap';
import { restoreDueItems } from '../../src/items/restore-items.ts';
import { restoreDueModifiers } from '../../src/modifier-groups/restore-modifiers.ts';
import { shiftClock } from '../support/clock.ts';
import { followEvents } from '../support/events.ts';
import { makeModifierGroup, makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

// A return that has passed when the database gets to its write, as after a wait: to the process it is yet to come.
t.teardown(shiftClock(-10_000));
const inTheMeantime = () => new Date(Date.now() + 5_000).toISOString();

t.test('a return that passes before it is written is told of with what was before', async (t) => {
  const { api, database } = await startTestService(t);
  const events = await followEvents(database);
  const { location, item } = await makeTree(api);
  const group = await makeModifierGroup(api, location.location_id, { modifiers: [{ name: 'A' }] });
  const [modifier] = group.modifiers;
  const groupPath = `/locations/${location.location_id}/modifier-groups/${group.modifier_group_id}`;
  const itemPath = `/menus/${item.menu_id}/items/${item.item_id}`;
  const modifierPath = `${groupPath}/modifiers/${modifier.modifier_id}`;
  const off = (unavailable_until: string) => ({ is_available: false, unavailable_until });
  const kinds: [
    name: string,
    path: string,
    switches: ((until: string) => Promise<{ status: number }>)[],
    restore: () => Promise<number>,
  ][] = [
    [
      'item',
      itemPath,
      [
        (until) => api.put(itemPath, off(until)),
        (until) =>
          api.post(`/menus/${item.menu_id}/availability`, {
            items: [{ item_id: item.item_id, ...off(until) }],
          }),
      ],
      () => restoreDueItems(database),
    ],
    [
      'modifier',
      modifierPath,
      [
        (until) => api.put(modifierPath, off(until)),
        (until) =>
          api.post(`/locations/${location.location_id}/modifier-availability`, {
            modifiers: [{ modifier_id: modifier.modifier_id, ...off(until) }],
          }),
      ],
      () => restoreDueModifiers(database),
    ],
  ];
  for (const [name, path, switches, restore] of kinds) {
    for (const [place, switchOff] of switches.entries()) {
      await events.next();
      const until = inTheMeantime();
      t.equal((await switchOff(until)).status, 200);
      t.match((await api.get(path)).body.data, { is_available: true, unavailable_until: null });
      const [toggled, ...more] = await events.next();
      t.same(more, []);
      t.match(toggled, { type: `${name}.toggled`, data: { is_available: true } }, `${name} ${place}`);
      t.same(toggled?.['previous'], { is_available: true, unavailable_until: null });
      t.equal(await restore(), 1);
      const [restored] = await events.next();
      t.same(restored?.['previous'], { is_available: false, unavailable_until: until });
    }
  }
});
