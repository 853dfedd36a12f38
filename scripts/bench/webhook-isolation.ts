import { call, type Endpoint, quantile, type Scene, until, webhookBench } from './rig/webhooks.ts';

export const webhookIsolation = webhookBench(
  'webhookIsolation',
  'how much 10 dead endpoints among 100 slow down the other 90',
  measure,
);

const perSecond = 10;
const observed = 90;
const others = 10;

/** Alternates rounds in which the other 10 endpoints respond and rounds in which they hang; only the 90 are measured. */
async function measure(scene: Scene): Promise<string[][]> {
  const { options, say } = scene;
  const seconds = options.quick ? 3 : 20;
  await scene.subscribe(Array.from({ length: observed }, (_, n) => `/ok/${n}`));
  await round(scene, '/quiet', 2);
  const pairs: { healthy: number; dead: number }[] = [];
  for (let pair = 0; pair < options.rounds; pair++) {
    const healthy = await round(scene, '/quiet', seconds);
    const dead = await round(scene, '/hang', seconds);
    say(
      `webhookIsolation: p99 ${healthy.toFixed(0)} ms with 10 that answer, ${dead.toFixed(0)} with 10 that hang`,
    );
    pairs.push({ healthy, dead });
  }
  const middle = (values: number[]) => quantile(values, 0.5);
  const change = (middle(pairs.map(({ healthy, dead }) => dead / healthy)) - 1) * 100;
  const measured = `p99 from write to arrival at ${observed} endpoints, ${perSecond} writes a second`;
  return [
    [`${measured}, 10 more that answer`, `${middle(pairs.map((pair) => pair.healthy)).toFixed(0)} ms`, ''],
    [`the same, 10 more that never answer`, `${middle(pairs.map((pair) => pair.dead)).toFixed(0)} ms`, ''],
    ['change, median of the rounds', `${change.toFixed(0)} %`, 'less than 10 %'],
  ];
}

/** Returns the p99 at the observed endpoints. */
async function round(scene: Scene, kind: string, seconds: number): Promise<number> {
  const { receiver, service } = scene;
  const added: Endpoint[] = await scene.subscribe(Array.from({ length: others }, (_, n) => `${kind}/${n}`));
  await scene.write(perSecond, seconds);
  const read = () => receiver.ask({ kind: 'read' });
  await until(perSecond * seconds * observed, async () => (await read()).latencies.length);
  const { latencies } = await read();
  await receiver.ask({ kind: 'release' });
  for (const { webhook_id } of added) await call(service, 'DELETE', `/webhooks/${webhook_id}`);
  return quantile(latencies, 0.99);
}
