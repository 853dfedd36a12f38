import { readdirSync } from 'node:fs';
import t from 'tap';
import document from '../../generated/openapi.json' with { type: 'json' };
import { readExamples } from '../../src/process/examples.ts';
import { checkSchema } from '../support/contract.ts';
import { startTestService } from '../support/service.ts';

const examples = await readExamples();
const menus = examples.flatMap((one) => one.menus);

t.test('there are examples of both media types, and every file is used', async (t) => {
  const files = readdirSync(new URL('../../examples/menus/', import.meta.url));
  t.equal(menus.length, files.length);
  for (const [bodyType, ending] of Object.entries({ 'application/json': '.json', 'text/csv': '.csv' })) {
    const own = files.filter((file) => file.endsWith(ending));
    t.ok(own.length > 0, ending);
    t.equal(menus.filter((menu) => menu.bodyType === bodyType).length, own.length);
  }
});

t.test('each keeps to the contract, and to the allergens that it recommends', async (t) => {
  const { description } = document.components.schemas.Allergens;
  const recommended = new Set([...description.matchAll(/`(\w+)`/g)].map(([, label]) => label));
  t.equal(recommended.size, 15);
  for (const { location } of examples) t.doesNotThrow(() => checkSchema('LocationCreate', location));
  for (const { menu, content, body, bodyType } of menus) {
    t.doesNotThrow(() => checkSchema('MenuCreate', { location_id: 1, ...menu }));
    t.doesNotThrow(() => checkSchema(bodyType === 'text/csv' ? 'MenuCsv' : 'MenuDocument', body));
    t.doesNotThrow(() => checkSchema('MenuContent', content));
    const items = content.categories.flatMap((category) => category.items);
    const labels = items.flatMap((item) => item.allergens);
    t.same([...new Set(labels).difference(recommended)], [], menu.name);
  }
});

t.test('each fills an empty menu by importMenu, and exportMenu gives it back', async (t) => {
  const service = await startTestService(t);
  const api = await service.client({ account: 'Examples' });
  for (const { location, menus } of examples) {
    const { location_id } = (await api.post('/locations', location)).body.data;
    for (const { menu, content, body, bodyType } of menus) {
      const created = await api.post('/menus', { location_id, name: 'Empty' });
      const path = `/menus/${created.body.data.menu_id}/content`;
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const imported = await api.call('PUT', path, { body: text, headers: { 'content-type': bodyType } });
      t.equal(imported.status, 200, menu.name);
      const { categories, items } = imported.body.data;
      t.equal(categories.created.length, content.categories.length);
      t.equal(items.created.length, content.categories.flatMap((category) => category.items).length);
      const exported = await api.get(`${path}?availability=true`, { headers: { accept: bodyType } });
      if (bodyType === 'text/csv') t.equal(exported.text, body, 'byte for byte');
      else t.strictSame(exported.body, body);
    }
  }
});
