import { once } from 'node:events';
import type { ManyDeployment } from '../chaos/deployment/many.ts';
import type { ServiceProcess } from '../chaos/deployment/service-process.ts';
import type { Fault, Stage } from '../chaos/faults/fault.ts';
import type { Receivers } from '../chaos/receivers.ts';
import { eventually } from '../support/eventually.ts';

type ManyFault = Fault<ManyDeployment>;

/** Within which events that happen after the death of a worker arrive. */
const goOnSeconds = 5;

/** @param receivers where the deliveries arrive. */
export const killEach = (receivers: Receivers): ManyFault => ({
  name: 'kill-each',
  about: 'kill -9 of each API process and each worker in turn',
  async strike(stage) {
    const { apis, workers, haproxy } = stage.deployment;
    for (const api of apis) {
      await api.stop('SIGKILL');
      await eventually('haproxy has noticed', async () => !(await haproxy.isUp(api.name)));
      await stage.restart(api);
      await eventually('it is served again', () => haproxy.isUp(api.name));
    }
    for (const worker of workers) {
      await worker.stop('SIGKILL');
      await deliveriesGoOn(stage, receivers);
      await stage.restart(worker);
    }
  },
});

/** @param receivers where the deliveries arrive. */
export const drainEach = (receivers: Receivers): ManyFault => ({
  name: 'drain-each',
  about: 'SIGTERM of each API process and each worker in turn; another is added in its place',
  async strike(stage) {
    const { apis, workers, haproxy } = stage.deployment;
    for (const api of apis) {
      await stopWell(stage, api);
      await stage.restart(api);
      await eventually('it is served again', () => haproxy.isUp(api.name));
      await eventually('the added one gets its share', async () => (await responsesOf(api)) > 5);
    }
    for (const worker of workers) await replaceWorker(stage, worker, receivers);
  },
});

/**
 * For a build that does not know DRAIN_SECONDS: each API process is taken out of haproxy first.
 * @param receivers where the deliveries arrive.
 */
export const replaceEach = (receivers: Receivers): ManyFault => ({
  name: 'replace-each',
  about: 'each API process and each worker in turn is stopped, and one of this build is started in its place',
  async strike(stage) {
    const { apis, workers, haproxy } = stage.deployment;
    for (const api of apis) {
      await haproxy.takeOut(api.name);
      await stopWell(stage, api);
      await stage.restart(api);
      await haproxy.putBack(api.name);
      await eventually('it is served again', () => haproxy.isUp(api.name));
    }
    for (const worker of workers) await replaceWorker(stage, worker, receivers);
  },
});

export const redisAway: ManyFault = {
  name: 'redis-away',
  about: 'kill -9 of Redis, which comes back empty',
  async strike({ deployment: { apis, redis } }) {
    const all = (up: string) => async () =>
      (await Promise.all(apis.map((api) => metric(api, 'menus_redis_up')))).every((value) => value === up);
    await eventually('each process counts there', all('1'));
    const exit = once(redis.server, 'exit');
    redis.server.kill('SIGKILL');
    await exit;
    await eventually('each process says so', all('0'));
    await redis.restart();
    await eventually('each process counts there again', all('1'));
  },
};

async function replaceWorker(
  stage: Stage<ManyDeployment>,
  worker: ServiceProcess,
  receivers: Receivers,
): Promise<void> {
  await stopWell(stage, worker);
  await deliveriesGoOn(stage, receivers);
  await stage.restart(worker);
}

async function stopWell({ mishap }: Stage<ManyDeployment>, service: ServiceProcess): Promise<void> {
  const { ended, stdout } = await service.stop('SIGTERM');
  if (ended !== 0) mishap('a drain ends well', `${service.name} ended with ${ended}: ${stdout.slice(-500)}`);
}

async function deliveriesGoOn({ mishap }: Stage<ManyDeployment>, { arrived }: Receivers): Promise<void> {
  const since = Date.now();
  const before = new Set(arrived.fast.keys());
  await eventually('an event that happened since arrives', async () => {
    for (const [id, { body }] of arrived.fast)
      if (!before.has(id) && Date.parse(JSON.parse(body).timestamp) > since) return true;
    return false;
  });
  const seconds = (Date.now() - since) / 1000;
  if (seconds > goOnSeconds)
    mishap('deliveries go on within five seconds', `they took ${seconds.toFixed(1)} s`);
}

/** Of operations of the API, so without health checks and metrics. */
async function responsesOf({ address }: ServiceProcess): Promise<number> {
  const text = await (await fetch(`${address}/metrics`)).text();
  const counts = text.matchAll(
    /^menus_http_request_duration_seconds_count\{(?!.*operation="none").*\} (\d+)$/gm,
  );
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

async function metric({ address }: ServiceProcess, name: string): Promise<string | undefined> {
  const text = await (await fetch(`${address}/metrics`)).text();
  return new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1];
}
