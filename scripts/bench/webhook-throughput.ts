import { makeEvents, type Scene, until, webhookBench } from './rig/webhooks.ts';

export const webhookThroughput = webhookBench(
  'webhookThroughput',
  'deliveries a second, from event to log',
  measure,
);

const endpoints = 10;

async function measure(scene: Scene): Promise<string[][]> {
  const { receiver, query, options, say } = scene;
  const events = options.quick ? 500 : 6_000;
  await scene.subscribe(Array.from({ length: endpoints }, (_, n) => `/ok/${n}`));
  await makeEvents(scene, events);
  const expected = (events + 1) * endpoints;
  await until(expected, async () => (await receiver.ask({ kind: 'read' })).arrivals.length);
  await until(expected, () => logged(query));

  const { arrivals } = await receiver.ask({ kind: 'read' });
  const rate = Math.round(steadyRate(arrivals));
  say(`webhookThroughput: ${rate}/s`);
  return [
    [
      `deliveries a second while ${(events * endpoints).toLocaleString('en')} go to ${endpoints} endpoints`,
      rate.toLocaleString('en'),
      'at least 2,000',
    ],
  ];
}

async function logged(query: Scene['query']): Promise<number> {
  const [row] = await query('select count(*)::int as attempts from delivery_log');
  return row?.['attempts'] as number;
}

/** Leaves out the first and the last tenth, in which throughput rises and falls. */
function steadyRate(arrivals: readonly number[]): number {
  const from = Math.floor(arrivals.length * 0.1);
  const to = Math.floor(arrivals.length * 0.9);
  return (to - from) / (((arrivals[to] as number) - (arrivals[from] as number)) / 1000);
}
