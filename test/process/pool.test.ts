import pg from 'pg';
import t from 'tap';
import { createClient, fetchToken } from '../../scripts/launch.ts';
import { databaseEnvironment, startProcess } from '../support/process.ts';

t.setTimeout(120_000);

t.test('with DATABASE_POOL=1 a process has one connection, and serves and delivers', async (t) => {
  const env = { ...(await databaseEnvironment(t)), DATABASE_POOL: '1' };
  const { url } = await startProcess(t, env);
  const authorization = `Bearer ${await fetchToken(url, await createClient(env, 'Demo'))}`;
  const call = (method: string, path: string, headers = {}) =>
    fetch(`${url}/api/v1${path}`, { method, headers: { authorization, ...headers } });
  const { data } = (await (await call('GET', '/menus/1/items?limit=20')).json()) as {
    data: { item_id: number }[];
  };
  const responses = await Promise.all(
    data.map(({ item_id }, n) =>
      call('POST', `/menus/1/items/${item_id}/toggle`, n % 2 ? { 'idempotency-key': 'k' } : {}),
    ),
  );
  t.equal(responses.length, 20);
  t.strictSame([...new Set(responses.map(({ status }) => status))], [200]);
  const observer = new pg.Client({ connectionString: env.DATABASE_URL, application_name: 'observer' });
  await observer.connect();
  const { rows } = await observer.query(`select from pg_stat_activity
    where datname = current_database() and application_name = 'menu-management-service'`);
  await observer.end();
  t.equal(rows.length, 1);
});
