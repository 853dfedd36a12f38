import { sql } from 'kysely';
import t from 'tap';
import { Agent, request } from 'undici';
import { startDemoProcess } from '../support/demo-process.ts';
import { eventually } from '../support/eventually.ts';

t.test('a stop finishes the requests in flight, refuses new ones and then ends', async (t) => {
  const { service, url, api, database } = await startDemoProcess(t);
  const authorization = `Bearer ${await api.token()}`;
  const { menu_id } = (await api.get('/menus')).body.data[0];
  const { item_id, is_available } = (await api.get(`/menus/${menu_id}/items`)).body.data[0];
  const path = `/api/v1/menus/${menu_id}/items/${item_id}/toggle`;
  const dispatcher = new Agent({ keepAliveTimeout: 60_000 });
  t.teardown(() => dispatcher.destroy());
  const idle = await request(`${url}/health/live`, { dispatcher });
  await idle.body.dump();

  const { inFlight, end, stoppedAt } = await database.transaction().execute(async (transaction) => {
    await transaction
      .selectFrom('item')
      .select('item_id')
      .where('item_id', '=', item_id)
      .forUpdate()
      .execute();
    const inFlight = request(url + path, { method: 'POST', headers: { authorization }, dispatcher });
    await eventually('the toggle waits for the row', async () => {
      const { rows } = await sql`select from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database()`.execute(database);
      return rows.length > 0;
    });
    const end = service.stop('SIGTERM');
    await eventually('no new connection is accepted', () =>
      request(`${url}/health/live`, { headers: { connection: 'close' } }).then(
        ({ body }) => body.dump().then(() => false),
        () => true,
      ),
    );
    return { inFlight, end, stoppedAt: performance.now() };
  });

  const response = await inFlight;
  t.equal(response.statusCode, 200);
  t.equal(response.headers['connection'], 'close');
  t.match(await response.body.json(), { data: { item_id, is_available: !is_available } });
  const { ended, stdout, stderr } = await end;
  t.equal(ended, 0);
  t.ok(performance.now() - stoppedAt < 5_000, 'idle connections do not hold it up');
  t.notMatch(stdout + stderr, /"level":[456]0/, 'and nothing went wrong meanwhile');
  const events = await database.selectFrom('event').select('type').execute();
  t.strictSame(events, [{ type: 'item.toggled' }], 'what was acknowledged is there');
});
