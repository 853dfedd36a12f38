import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { Undoing } from '../chaos/deployment/deployment.ts';
import { deployMany } from '../chaos/deployment/many.ts';
import { Random } from '../chaos/random.ts';
import { playRound } from '../chaos/round.ts';
import { setScene } from '../chaos/scene.ts';
import { acceptContractAt } from '../support/contract.ts';
import { notInstalled } from '../support/proxies.ts';
import { noRedis } from '../support/redis.ts';
import { checkOutPreviousRelease, whyMissing } from '../tools/previous-release.ts';
import { replaceEach } from './faults.ts';

t.setTimeout(290_000);

// CI must have it, and fails without.
const skip = notInstalled('haproxy') || noRedis || (process.env['CI'] ? false : (whyMissing() ?? false));

t.test('the processes of the previous release are replaced one by one under load', { skip }, async (t) => {
  const undoing = new Undoing();
  const logs = mkdtempSync(join(tmpdir(), 'cluster-logs-'));
  t.teardown(() => rmSync(logs, { recursive: true }));
  t.teardown(() => undoing.run());
  const directory = checkOutPreviousRelease(t);
  t.teardown(acceptContractAt(join(directory, 'generated/openapi.json')));
  const scene = await setScene(deployMany({ directory }), { seed: '1', logs, env: {}, undoing, clients: 2 });
  const round = await playRound(scene, replaceEach(scene.receivers), new Random('1'));
  t.comment(`${round.acknowledged} acknowledged, ${round.unknown} unknown`);
  t.same(round.violations, []);
  t.equal(round.unknown, 0, 'no request fails');
  t.ok(round.acknowledged > 0);
});
