import t from 'tap';
import { Agent, request } from 'undici';
import { startProcess } from '../support/process.ts';
import { until } from '../support/until.ts';

t.test('a stop finishes the requests in flight, refuses new ones and then ends', async (t) => {
  const service = await startProcess(t);
  const { url, api, database, kill, exit, output } = service;
  const authorization = `Bearer ${await api.token()}`;
  const { menu_id } = (await api.get('/menus')).body.data[0];
  const { item_id, is_available } = (await api.get(`/menus/${menu_id}/items`)).body.data[0];
  const path = `/api/v1/menus/${menu_id}/items/${item_id}/toggle`;
  const dispatcher = new Agent({ keepAliveTimeout: 60_000 });
  t.teardown(() => dispatcher.destroy());
  const idle = await request(`${url}/health/live`, { dispatcher });
  await idle.body.dump();

  const { inFlight, stoppedAt } = await database.transaction().execute(async (transaction) => {
    await transaction
      .selectFrom('item')
      .select('item_id')
      .where('item_id', '=', item_id)
      .forUpdate()
      .execute();
    const inFlight = request(url + path, { method: 'POST', headers: { authorization }, dispatcher });
    await until(async () => {
      const waiting = await database
        .selectFrom('pg_stat_activity' as never)
        .select('pid' as never)
        .where('wait_event_type' as never, '=', 'Lock' as never)
        .where('datname' as never, '=', String(service.connection.database) as never)
        .execute();
      return waiting.length > 0;
    });
    kill('SIGTERM');
    await until(() =>
      request(`${url}/health/live`, { headers: { connection: 'close' } }).then(
        ({ body }) => body.dump().then(() => false),
        () => true,
      ),
    );
    return { inFlight, stoppedAt: performance.now() };
  });

  const answer = await inFlight;
  t.equal(answer.statusCode, 200);
  t.equal(answer.headers['connection'], 'close');
  t.match(await answer.body.json(), { data: { item_id, is_available: !is_available } });
  t.equal(await exit, 0);
  t.ok(performance.now() - stoppedAt < 5_000, 'idle connections do not hold it up');
  t.notMatch(output(), /"level":[456]0/, 'and nothing went wrong meanwhile');
  const events = await database.selectFrom('event').select('type').execute();
  t.strictSame(events, [{ type: 'item.toggled' }], 'what was acknowledged is there');
});
