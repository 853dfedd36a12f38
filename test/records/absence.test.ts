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

t.test(
  'an absence that is over before the database gets to it changes nothing and is not reported',
  async (t) => {
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
          (until) => api.put(itemPath, { unavailable_until: until }),
          (until) =>
            api.post(`/menus/${item.menu_id}/availability`, {
              items: [{ item_id: item.item_id, ...off(until) }],
            }),
          (until) =>
            api.post(`/locations/${location.location_id}/availability`, {
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
        const before = (await api.get(path)).text;
        await events.next();
        t.equal((await switchOff(inTheMeantime())).status, 200);
        t.equal((await api.get(path)).text, before, `${name} ${place}`);
        t.same(await events.next(), []);
        t.equal(await restore(), 0);
      }
    }
  },
);
