import t from 'tap';
import { databaseEnvironment, servingBelow, startProcess } from '../support/process.ts';

t.setTimeout(120_000);

t.test('with several processes, a scrape of any of them covers all', async (t) => {
  const service = await startProcess(t, { ...(await databaseEnvironment(t)), WORKERS: '2' });
  t.equal(servingBelow(service.pid).length, 2);
  // A connection each, so that both processes get some.
  const headers = { connection: 'close' };
  for (let n = 0; n < 60; n += 1) await fetch(`${service.url}/unknown`, { headers });
  for (let n = 0; n < 6; n += 1) {
    const response = await fetch(`${service.url}/metrics`, { headers });
    t.equal(response.status, 200);
    const text = await response.text();
    t.match(text, `menus_http_request_duration_seconds_count{operation="none",status="404"} 60\n`);
    t.match(text, 'menus_webhook_backlog{state="pending"} 0\n', 'what all read of one table is not added up');
  }
});

t.test('a process of the worker role serves its health and its metrics, and no API', async (t) => {
  const service = await startProcess(t, { ...(await databaseEnvironment(t)), ROLE: 'worker' });
  const url = /metrics\s+(\S+)\/metrics/.exec(service.greeting)?.[1];
  const status = async (path: string) => (await fetch(`${url}${path}`)).status;
  t.equal(await status('/health/live'), 200);
  t.equal(await status('/health/ready'), 200);
  t.equal(await status('/api/v1/menus'), 404);
  t.equal(await status('/openapi.json'), 404);
  const response = await fetch(`${url}/metrics`);
  t.match(await response.text(), 'menus_webhook_attempts_total{outcome="delivered"} 0');
  t.equal((await service.stop('SIGTERM')).ended, 0);
});
