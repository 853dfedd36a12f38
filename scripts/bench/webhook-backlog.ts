import { call, makeEvents, type Scene, until, webhookBench } from './rig/webhooks.ts';

export const webhookBacklog = webhookBench(
  'webhookBacklog',
  'draining 500,000 deliveries (takes minutes)',
  measure,
);

const endpoints = 10;

/** Disables the endpoints while the backlog builds up, as when customers repair their servers. */
async function measure(scene: Scene): Promise<string[][]> {
  const { receiver, query, service, options, say } = scene;
  const events = options.quick ? 2_000 : 50_000;
  const subscribed = await scene.subscribe(
    Array.from({ length: endpoints }, (_, n) => `/ok/${n}`),
    { enabled: false },
  );
  await makeEvents(scene, events);
  const expected = (events + 1) * endpoints;
  await until(
    expected,
    async () => (await query('select count(*)::int from delivery'))[0]?.['count'] as number,
    {
      everyMs: 1_000,
    },
  );
  say(`webhookBacklog: ${expected} deliveries wait`);
  for (const { webhook_id } of subscribed) {
    await call(service, 'PUT', `/webhooks/${webhook_id}`, { enabled: true });
  }
  await until(expected, async () => (await receiver.ask({ kind: 'read' })).arrivals.length, {
    everyMs: 2_000,
  });

  const { arrivals } = await receiver.ask({ kind: 'read' });
  const seconds = ((arrivals.at(-1) as number) - (arrivals[0] as number)) / 1000;
  const tenths = ratesByTenth(arrivals);
  const slowing = Math.max(...tenths) / Math.min(...tenths);
  say(`webhookBacklog: ${Math.round(expected / seconds)}/s, by tenths ${tenths.map(Math.round).join(' ')}`);
  const measured = `a backlog of ${(events * endpoints).toLocaleString('en')} deliveries to ${endpoints} endpoints`;
  return [
    [`deliveries a second, draining ${measured}`, Math.round(expected / seconds).toLocaleString('en'), ''],
    ['its fastest tenth to its slowest', `${slowing.toFixed(2)} times`, 'at most 2 times'],
  ];
}

function ratesByTenth(arrivals: readonly number[]): number[] {
  const size = Math.floor((arrivals.length - 1) / 10);
  return Array.from({ length: 10 }, (_, tenth) => {
    const [from, to] = [arrivals[tenth * size] as number, arrivals[(tenth + 1) * size] as number];
    return size / ((to - from) / 1000);
  });
}
