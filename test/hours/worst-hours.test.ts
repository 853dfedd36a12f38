import { sql } from 'kysely';
import t from 'tap';
import { type Hours, weekdays } from '../../src/hours/hours.ts';
import { type DistantCall, distantClient } from '../support/distant-client.ts';
import { longestSlices } from '../support/longest-slices.ts';
import { makeLocation, makeMenu, makeModifierGroup } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

// What a request beside it may wait, in ms of processor time.
const longestWait = 50;

t.test('no hours that the contract permits keep another request waiting', async (t) => {
  const { api, database, url } = await startTestService(t);
  // Its clocks change twice a year for ever.
  const { location_id } = await makeLocation(api, { timezone: 'Europe/Dublin', hours: worstHours(0) });
  const { menu_id } = await makeMenu(api, location_id, { hours: worstHours(1) });
  const { modifier_group_id } = await makeModifierGroup(api, location_id);
  await sql`
    insert into category (account_id, location_id, menu_id, name, sort_order, hours)
    select account_id, location_id, menu_id, 'More', n, own.hours
    from menu, unnest(${Array.from({ length: 1_000 }, (_, n) => JSON.stringify(worstHours(n)))}::text[]::json[])
      with ordinality as own (hours, n)
    where menu_id = ${menu_id}`.execute(database);
  const items = await sql<{ item_id: number; category_id: number }>`
    insert into item (account_id, location_id, menu_id, category_id, name, price, sort_order)
    select account_id, location_id, menu_id, category_id, 'Nigiri', 1, sort_order
    from category where menu_id = ${menu_id} returning item_id, category_id`.execute(database);
  const modifiers = await sql<{ modifier_id: number }>`
    insert into modifier (account_id, location_id, modifier_group_id, name, sort_order)
    select account_id, location_id, modifier_group_id, 'Sauce', n from modifier_group, generate_series(1, 500) as n
    where modifier_group_id = ${modifier_group_id} returning modifier_id`.execute(database);
  const restored = { is_available: false, restore: 'next_opening' };
  const post = (path: string, body: object): DistantCall => ({
    method: 'POST',
    path,
    body: JSON.stringify(body),
  });
  const ids = items.rows.map(({ item_id }) => Number(item_id));
  const long_ago = '2000-01-01T00:00:00Z';
  const cases: Record<string, DistantCall[]> = {
    '500 modifiers that return by the hours of the location': [
      post(`/locations/${location_id}/modifier-availability`, {
        modifiers: modifiers.rows.map(({ modifier_id }) => ({
          modifier_id: Number(modifier_id),
          ...restored,
        })),
      }),
    ],
    '500 items that each return by other hours': [
      post(`/menus/${menu_id}/availability`, {
        items: ids.slice(0, 500).map((item_id) => ({ item_id, ...restored })),
      }),
    ],
    'a menu of 1,000 categories long ago': [
      { method: 'GET', path: `/menus/${menu_id}/availability?at=${long_ago}` },
    ],
    'the same of 16 moments at once': Array.from({ length: 16 }, (_, day) => ({
      method: 'GET',
      path: `/menus/${menu_id}/availability?at=2000-01-${10 + day}T00:00:00Z`,
    })),
    'a price long ago': [post(`/menus/${menu_id}/items/${ids[0]}/price`, { at: long_ago })],
  };
  const call = distantClient(t, { url, token: await api.token() });
  const slices = longestSlices(t);
  for (const [what, calls] of Object.entries(cases)) {
    // What a call costs it costs each time; a collection of garbage comes now and then.
    const waits: number[] = [];
    for (let tries = 0; tries < 5 && !(Math.min(...waits) <= longestWait); tries += 1) {
      slices.takeLongest();
      const responses = await Promise.all(calls.map(call));
      waits.push(slices.takeLongest());
      for (const { status } of responses) if (![200, 422].includes(status)) t.fail(`${what}: ${status}`);
    }
    const wait = Math.min(...waits);
    t.comment(`${what}: ${waits.map(Math.round).join(', ')} ms`);
    t.ok(wait <= longestWait, `${what}: the process was held for ${wait.toFixed(0)} ms`);
  }
});

/** As many windows as there can be, in a hundred years; each number gives others. */
function worstHours(number: number): Hours {
  const two = (value: number) => String(value).padStart(2, '0');
  return {
    weekly: Array.from({ length: 21 }, (_, place) => ({
      days: [...weekdays],
      from: `${two(place)}:${two(number % 60)}`,
      minutes: 1440,
    })),
    dates: Array.from({ length: 50 }, (_, place) => ({
      date: `${2050 + place}-${two(1 + (number % 12))}-${two(1 + (place % 28))}`,
      windows: Array.from({ length: 4 }, (_, hour) => ({
        from: `${two(hour)}:${two(number % 60)}`,
        minutes: 1440,
      })),
    })),
    valid_from: '2000-01-01',
    valid_until: '2099-12-31',
  };
}
