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

const { data: menus } = await call('/menus');
console.log(`menus ${menus.length} first ${menus[0].name}`);
const { data: menu } = await call(`/menus/${menus[0].menu_id}`);
const items = menu.categories.flatMap((category) => category.items);
console.log(`menu ${menu.menu_id} categories ${menu.categories.length} items ${items.length}`);

const path = `/menus/${menu.menu_id}/items`;
const [{ item_id, version, is_available }] = items;
if (!pretend) await call(`${path}/${item_id}`, { method: 'PUT', body: '{"price":12.5}' });
console.log(`updated item ${item_id} price 12.50 version ${version + 1}`);
if (!pretend) await call(`${path}/${item_id}/toggle`, { method: 'POST' });
console.log(`toggled item ${item_id} available ${!is_available} version ${version + 2} replayed same`);

if (!pretend) await call(`${path}/${item_id}`, { method: 'PUT', body: JSON.stringify(clearing) });
console.log(`cleared item ${item_id} photo null version ${version + 3}`);

const missing = await call(`${path}/999999999`);
console.log(`${missing.status} ${missing.code} ${missing.title}`);
const refused = await call(`${path}/${item_id}`, { method: 'PUT', body: '{"name":"","price":-1}' });
const faults = refused.errors.map(({ field, code }) => `${field} ${code}`);
console.log(`${refused.status} ${refused.code} ${faults.join(', ')}`);

console.log(`pages ${Math.ceil(items.length / 20)} items ${items.length}`);
const { data: events } = await call('/events?type=item.updated&type=item.toggled');
const imagined = [
  { type: 'item.updated', data: { item_id, version: version + 1 } },
  { type: 'item.toggled', data: { item_id, is_available: !is_available } },
  { type: 'item.updated', data: { item_id, version: version + 3 } },
];
console.log(`events ${(pretend ? imagined : events).map(said).join(', ')}`);
const event_types = ['item.*', 'menu.toggled'];
const url = pretend ? 'http://127.0.0.1:4000/other' : WEBHOOK_URL;
const webhook = await call('/webhooks', { method: 'POST', body: JSON.stringify({ url, event_types }) });
console.log(`webhook ${webhook.data.webhook_id} events ${event_types}`);

function said({ type, data: { item_id, version, is_available } }) {
  const change = type === 'item.toggled' ? `available ${is_available}` : `version ${version}`;
  return `${type} ${item_id} ${change}`;
}

async function call(path, init) {
  const response = await fetch(`${API_URL}${path}`, { headers, ...init });
  return response.json();
}
