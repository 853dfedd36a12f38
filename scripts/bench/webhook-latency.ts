import { quantile, type Scene, until, webhookBench } from './rig/webhooks.ts';

export const webhookLatency = webhookBench(
  'webhookLatency',
  'time from a write to its delivery, at 200 writes a second',
  measure,
);

const perSecond = 200;

async function measure({ write, subscribe, receiver, options, say }: Scene): Promise<string[][]> {
  const seconds = options.quick ? 3 : 15;
  await subscribe(['/ok/1']);
  // Receivers rarely see the first seconds after a start.
  await write(perSecond, 2);
  await until(perSecond * 2, async () => (await receiver.ask({ kind: 'read' })).latencies.length);
  await receiver.ask({ kind: 'reset', secrets: {} });
  await write(perSecond, seconds);
  await until(perSecond * seconds, async () => (await receiver.ask({ kind: 'read' })).latencies.length);

  const { latencies } = await receiver.ask({ kind: 'read' });
  const [p50, p99] = [0.5, 0.99].map((share) => `${Math.round(quantile(latencies, share))} ms`);
  say(`webhookLatency: p50 ${p50}, p99 ${p99}`);
  const measured = `from sending a write to the arrival of its event, ${perSecond} writes a second`;
  return [
    [`p50 ${measured}`, p50 as string, ''],
    [`p99 ${measured}`, p99 as string, 'under 250 ms'],
  ];
}
