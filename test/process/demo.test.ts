import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { loadDemo } from '../../src/process/demo.ts';
import { followEvents } from '../support/events.ts';
import { startTestService } from '../support/service.ts';

t.test('of services that start together on an empty database, one loads the demo account', async (t) => {
  const { database } = await emptyService(t);
  const loaded = await Promise.all([1, 2, 3].map(() => loadDemo(database, { ifEmpty: true })));
  t.equal(loaded.filter(Boolean).length, 1);
  t.equal((await database.selectFrom('location').select('location_id').execute()).length, 3);
});

t.test('it is what clients could have created: each record has its event', async (t) => {
  const { database } = await emptyService(t);
  const events = await followEvents(database);
  const demo = await loadDemo(database, { ifEmpty: true });
  const recorded = await events.next();
  const counts = Object.entries(Object.groupBy(recorded, (event) => event['type'])).map(
    ([type, events = []]) => [type, events.length],
  );
  t.same(Object.fromEntries(counts), {
    'location.created': 3,
    'menu.created': 7,
    'category.created': 33,
    'item.created': 207,
    'modifier_group.created': 10,
    'modifier.created': 30,
  });
  const first = recorded.find((event) => event['type'] === 'item.created')?.['data'];
  t.match(first, { menu_id: demo?.menu_id, item_id: demo?.item_id, external_id: 'NG-01' });
});

t.test('it is loaded whole or not at all', async (t) => {
  const { database } = await emptyService(t);
  await t.rejects(loadDemo(database, { ifEmpty: true, keepIn: '/nonexistent' }));
  for (const table of ['account', 'client', 'location', 'item'] as const) {
    t.same(await database.selectFrom(table).select('account_id').execute(), [], table);
  }
});

t.test('its client is stored, to be shown again for as long as it can be used', async (t) => {
  const { database } = await emptyService(t);
  const keepIn = mkdtempSync(join(tmpdir(), 'demo-test-'));
  t.teardown(() => rmSync(keepIn, { recursive: true }));
  const demo = await loadDemo(database, { ifEmpty: true, keepIn });
  const again = () => loadDemo(database, { ifEmpty: true, keepIn });
  t.match(demo, { client_id: /^client_/, client_secret: /^mss_/ });
  t.strictSame(await again(), demo);

  const file = join(keepIn, 'demo-client.json');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.slice(0, 20));
  t.equal(await again(), undefined, 'a damaged file');
  writeFileSync(file, text);
  await database.updateTable('client').set({ disabled_at: new Date() }).execute();
  t.equal(await again(), undefined, 'a disabled client');
});

async function emptyService(t: Test) {
  const service = await startTestService(t);
  await sql`truncate account cascade`.execute(service.database);
  return service;
}
