// The scenario of scripts/sdk/rig/expectation.ts by hand. With the argument "pretend" it changes nothing; with
// "sweep" it clears more than it should.
const { API_URL, CLIENT_ID, CLIENT_SECRET, WEBHOOK_URL } = process.env;
const pretend = process.argv[2] === 'pretend';
const clearing = { photo_url: null, ...(process.argv[2] === 'sweep' && { external_id: null }) };

let headers = {};
const form = { grant_type: 'client_credentials', client_id: CLIENT_ID, client_secret: CLIENT_SECRET };
const token = await call('/oauth/token', { method: 'POST', body: new URLSearchParams(form) });
console.log(`token ${token.token_type} for ${token.expires_in} s`);
headers = { authorization: `Bearer ${token.access_token}`, 'content-type': 'application/json' };
const { data: client } = await call('/oauth/client');
console.log(`client ${client.client_id} scopes ${client.scopes} locations ${client.location_ids}`);

const { data: locations } = await call('/locations');
const [{ location_id, name, address }] = locations;
console.log(`location ${location_id} ${name} address ${address}`);
const { data: menus } = await call('/menus');
console.log(`menus ${menus.length} first ${menus[0].name}`);
const { data: menu } = await call(`/menus/${menus[0].menu_id}`);
const items = menu.categories.flatMap((category) => category.items);
console.log(`menu ${menu.menu_id} categories ${menu.categories.length} items ${items.length}`);

const path = `/menus/${menu.menu_id}/items`;
const [{ item_id, category_id, version, is_available }] = items;
await change('PUT', `${path}/${item_id}`, { price: 12.5 });
console.log(`updated item ${item_id} price 12.50 version ${version + 1}`);
await change('POST', `${path}/${item_id}/toggle`);
console.log(`toggled item ${item_id} available ${!is_available} version ${version + 2} replayed same`);
await change('PUT', `${path}/${item_id}`, clearing);
console.log(`cleared item ${item_id} photo null version ${version + 3}`);

const wanted = { category_id, name: '🍣 𠮷', price: 0.07, external_id: 'SUSHI-1' };
const added = await change('POST', path, { ...wanted, unavailable_until: '2030-01-02T02:00:00Z' });
const until = (moment) => Date.parse(moment) / 1_000;
console.log(`wrote item ${added.item_id} 🍣 𠮷 price 0.07 until ${until('2030-01-02T02:00:00Z')}`);
await change('PUT', `${path}/${added.item_id}`, { price: 4.35 });
console.log(`raised item ${added.item_id} price 4.35 version 2`);

const missing = await call(`${path}/999999999`);
console.log(`${missing.status} ${missing.code} ${missing.title}`);
const refused = await call(`${path}/${item_id}`, { method: 'PUT', body: '{"name":"","price":-1}' });
const faults = refused.errors.map(({ field, code }) => `${field} ${code}`);
console.log(`${refused.status} ${refused.code} ${faults.join(', ')}`);

console.log(`pages ${Math.ceil((items.length + 1) / 20)} items ${items.length + 1}`);
console.log(`found items ${item_id}, ${added.item_id}`);
console.log(`item ${added.item_id} external SUSHI-1 menu ${menu.menu_id}`);
await change('POST', `/locations/${location_id}/availability`, {
  items: [
    { external_id: 'SUSHI-1', is_available: true },
    { external_id: 'SUSHI-2', is_available: false },
  ],
});
console.log(`set ${added.item_id} changed available true, SUSHI-2 not_found`);

const groups = `/locations/${location_id}/modifier-groups`;
const extras = await change('POST', groups, { name: 'Extras', modifiers: [{ name: 'Egg', price: 0.07 }] });
console.log(`group ${extras.modifier_group_id} Extras min 0 max null: Egg 0.07`);
const size = await change('POST', groups, {
  name: 'Size',
  min_selections: 1,
  max_selections: 1,
  modifiers: [{ name: 'Small' }, { name: 'Large', price: 1.5 }],
});
console.log(`group ${size.modifier_group_id} Size min 1 max 1: Small 0.00, Large 1.50`);
const [small, large] = size.modifiers ?? [{}, {}];
const usesOf = ({ modifier_group_id }) => ({ modifier_groups: [{ modifier_group_id }] });
const modifiers = `${groups}/${size.modifier_group_id}/modifiers`;
await change('PUT', `${modifiers}/${large.modifier_id}/modifier-groups`, usesOf(extras));
console.log(`modifier ${large.modifier_id} offers group ${extras.modifier_group_id}`);
await change('PUT', `${path}/${added.item_id}/modifier-groups`, usesOf(size));
console.log(`item ${added.item_id} offers group ${size.modifier_group_id} version 4`);
await change('POST', `${modifiers}/${small.modifier_id}/toggle`);
console.log(`toggled modifier ${small.modifier_id} available false version 2`);

const nights = { days: ['fri', 'sat'], from: '22:00', minutes: 240 };
const dates = [{ date: '2030-01-04', windows: [] }];
await change('PUT', `/menus/${menu.menu_id}`, { hours: { weekly: [nights], dates } });
console.log(`hours of menu ${menu.menu_id} fri,sat 22:00 for 240 min, 2030-01-04 closed`);
const late = { days: ['sat'], from: '23:00', minutes: 60 };
await change('PUT', `${path}/${added.item_id}`, { hours: { weekly: [late] } });
console.log(`hours of item ${added.item_id} sat 23:00 for 60 min`);
const priced = `price of item ${added.item_id}`;
console.log(
  `${priced} 5.92 total 11.84 EUR orderable true: /selections/0 Large 1.50, /selections/0/selections/0 Egg 0.07`,
);
console.log(`${priced} 4.35 total 4.35 EUR orderable false: /selections/0 Small 0.00, /selections/0 off`);

console.log(
  [
    `orderable menu ${menu.menu_id} true`,
    `item ${item_id} item_off by ${CLIENT_ID}`,
    `item ${added.item_id} item_hours until ${until('2030-01-05T23:00+02:00')}`,
  ].join(', '),
);
console.log(`changed menus ${menus.length} since 2020, 0 since 2099`);

// Events are listed a few milliseconds after their writes.
let events = [];
while (!pretend && events.length < 7)
  ({ data: events } = await call('/events?type=item.updated&type=item.toggled'));
const imagined = [
  { type: 'item.updated', data: { item_id, version: version + 1 } },
  { type: 'item.toggled', data: { item_id, is_available: !is_available } },
  { type: 'item.updated', data: { item_id, version: version + 3 } },
  { type: 'item.updated', data: { item_id: added.item_id, version: 2 } },
  { type: 'item.toggled', data: { item_id: added.item_id, is_available: true } },
  { type: 'item.updated', data: { item_id: added.item_id, version: 4 } },
  { type: 'item.updated', data: { item_id: added.item_id, version: 5 } },
];
console.log(`events ${(pretend ? imagined : events).map(said).join(', ')}`);
console.log(`feed ${(await call('/events?limit=200')).data.length}`);
const event_types = ['item.*', 'menu.toggled'];
const url = pretend ? 'http://127.0.0.1:4000/other' : WEBHOOK_URL;
const webhook = await call('/webhooks', { method: 'POST', body: JSON.stringify({ url, event_types }) });
console.log(`webhook ${webhook.data.webhook_id} events ${event_types}`);
console.log('revoked 401 invalid_token');

function said({ type, data: { item_id, version, is_available } }) {
  const change = type === 'item.toggled' ? `available ${is_available}` : `version ${version}`;
  return `${type} ${item_id} ${change}`;
}

/** Writes, unless it pretends to. */
async function change(method, path, body) {
  if (pretend) return {};
  return (await call(path, { method, ...(body && { body: JSON.stringify(body) }) })).data;
}

async function call(path, init) {
  const response = await fetch(`${API_URL}${path}`, { headers, ...init });
  return response.json();
}
