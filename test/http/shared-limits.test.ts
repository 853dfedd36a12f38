import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/process.ts';
import { startTestService } from '../support/service.ts';

const skip = spawnSync('redis-server', ['--version']).error ? 'redis-server is not installed here' : false;

t.test('services that share a Redis count the calls of a client together', { skip }, async (t) => {
  const { url: redisUrl } = await startRedis(t);
  const one = await startTestService(t, { redisUrl, rateLimitPerMinute: 3 });
  const other = await startTestService(t, {
    redisUrl,
    rateLimitPerMinute: 3,
    connect: async () => one.connection,
  });
  const token = await one.api.token();
  const call = (service: typeof one) => service.api.get('/locations', { token });
  t.equal((await call(one)).headers['ratelimit']?.slice(0, 13), '"default";r=2');
  t.equal((await call(other)).headers['ratelimit']?.slice(0, 13), '"default";r=1');
  t.equal((await call(one)).status, 200);
  t.equal((await call(other)).status, 429);
  t.equal((await call(one)).status, 429);
});

t.test('while Redis is away calls are served and not counted', { skip }, async (t) => {
  const { url: redisUrl, server } = await startRedis(t);
  const { api } = await startTestService(t, { redisUrl, rateLimitPerMinute: 1 });
  t.equal((await api.get('/locations')).status, 200);
  t.equal((await api.get('/locations')).status, 429);
  server.kill('SIGKILL');
  await eventually('a call is served', async () => (await api.get('/locations')).status === 200);
  t.equal((await api.get('/locations')).status, 200);
});

async function startRedis(t: Test): Promise<{ url: string; server: ChildProcess }> {
  const port = await freePort();
  const server = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', ''], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(async () => {
    if (server.exitCode === null && server.signalCode === null) {
      server.kill('SIGKILL');
      await once(server, 'exit');
    }
  });
  for await (const line of createInterface(server.stdout)) if (line.includes('Ready to accept')) break;
  return { url: `redis://127.0.0.1:${port}`, server };
}
