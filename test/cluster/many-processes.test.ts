import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Undoing } from '../chaos/deployment/deployment.ts';
import { deployMany, type ManyDeployment } from '../chaos/deployment/many.ts';
import type { Fault } from '../chaos/faults/fault.ts';
import { Random } from '../chaos/random.ts';
import { explanation } from '../chaos/report.ts';
import { playRound } from '../chaos/round.ts';
import { setScene } from '../chaos/scene.ts';
import { notInstalled } from '../support/proxies.ts';
import { noRedis } from '../support/redis.ts';
import { drainEach, killEach, redisAway } from './faults.ts';
import { Greedy, share } from './greedy.ts';

/*
 * Three API processes and two workers behind haproxy, under the load of test/chaos. After each round everything that
 * was acknowledged is compared with its model.
 */

t.setTimeout(290_000);

const skip = notInstalled('haproxy') || noRedis;
const seed = '1';

t.test('many processes are killed, drained and added under load', { skip }, async (t) => {
  const undoing = new Undoing();
  const logs = mkdtempSync(join(tmpdir(), 'cluster-logs-'));
  t.teardown(() => rmSync(logs, { recursive: true }));
  t.teardown(() => undoing.run());
  const scene = await setScene(deployMany(), { seed, logs, env: {}, undoing, clients: 2 });
  const greedy = await Greedy.start(scene.deployment);

  const play = async (t: Test, fault: Fault<ManyDeployment>) => {
    const round = await playRound(scene, fault, new Random(`${seed} ${fault.name}`));
    t.comment(`${fault.name}: ${round.acknowledged} acknowledged, ${round.unknown} unknown`);
    t.same(round.violations, [], explanation(round, Number(seed)).next().value);
    t.ok(round.acknowledged > 0);
    return round;
  };
  await t.test('kill -9 loses nothing that was acknowledged, and deliveries continue', async (t) => {
    await play(t, killEach(scene.receivers));
  });
  await t.test('a drain fails no request, and a new process gets its share', async (t) => {
    t.equal((await play(t, drainEach(scene.receivers))).unknown, 0);
  });
  await t.test('no limit is exceeded by more than the share of a window', async (t) => {
    const permitted = await greedy.stop();
    t.comment(`${greedy.allowed} calls allowed, ${greedy.refused} refused`);
    t.ok(greedy.allowed >= share);
    t.ok(greedy.allowed <= permitted + share, `${greedy.allowed}, not ${permitted}`);
    t.ok(greedy.refused > 0);
  });
  await t.test('without Redis calls go on, and each process says so', async (t) => {
    // A process says so, too, when the machine is so busy that Redis has been slow.
    const before = timesSaid(logs);
    t.equal((await play(t, redisAway)).unknown, 0);
    const after = timesSaid(logs);
    for (const { name } of scene.deployment.apis) t.ok((after[name] ?? 0) > (before[name] ?? 0), name);
    t.equal(Object.keys(after).length, scene.deployment.apis.length, 'and nobody else');
  });
});

/** How often each process has said that it counts for itself; `logs` has a file for each time that one was started. */
function timesSaid(logs: string): Record<string, number> {
  const times: Record<string, number> = {};
  for (const file of readdirSync(logs)) {
    const said = readFileSync(join(logs, file), 'utf8').split(
      'Redis is unavailable: each process counts calls for itself',
    );
    const name = file.replace(/-\d+\.log$/, '');
    if (said.length > 1) times[name] = (times[name] ?? 0) + said.length - 1;
  }
  return times;
}
