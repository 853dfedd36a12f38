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

t.test('with DRAIN_SECONDS it is not ready at once, and serves until they are over', async (t) => {
  const { service, url, api } = await startDemoProcess(t, { DRAIN_SECONDS: '4' });
  const dispatcher = new Agent({ keepAliveTimeout: 60_000 });
  t.teardown(() => dispatcher.destroy());
  const authorization = `Bearer ${await api.token()}`;
  const read = async () => {
    const response = await request(`${url}/api/v1/menus?limit=1`, { headers: { authorization }, dispatcher });
    await response.body.dump();
    return response;
  };
  t.equal((await read()).headers['connection'], 'keep-alive');
  const begun = performance.now();
  const end = service.stop('SIGTERM');
  await eventually('it is not ready', async () => {
    const { status, body } = await api.get('//health/ready', { token: null });
    return status === 503 && body.status === 'stopping';
  });
  t.equal((await api.get('//health/live', { token: null })).status, 200);
  const { statusCode, headers } = await read();
  t.equal(statusCode, 200, 'who has not noticed is served');
  t.equal(headers['connection'], 'close', 'and told to connect elsewhere');
  const { ended, stdout, stderr } = await end;
  t.equal(ended, 0);
  t.ok(performance.now() - begun >= 4_000);
  t.notMatch(stdout + stderr, /"level":[456]0/);
});
