import pg from 'pg';
import { backendTime } from './rig/backend-time.ts';
import { makeEvents, quantile, type Scene, until, webhookBench } from './rig/webhooks.ts';

export const webhookSnapshot = webhookBench(
  'webhookSnapshot',
  'deliveries a second while a snapshot is open, as during a dump',
  measure,
);

/** Three times the same work in a round: without a snapshot, under one, and under it again behind all that has ended. */
async function measure(scene: Scene): Promise<string[][]> {
  const { options, server, say } = scene;
  const events = options.quick ? 200 : 4_000;
  await scene.subscribe(Array.from({ length: 10 }, (_, n) => `/ok/${n}`));
  await cost(scene, events);
  const ratios: number[] = [];
  for (let round = 0; round < options.rounds; round += 1) {
    const undisturbed = await cost(scene, events);
    const reader = new pg.Client({ ...server.connection, ssl: false });
    await reader.connect();
    try {
      await reader.query('begin isolation level repeatable read');
      await reader.query('select count(*) from delivery');
      await cost(scene, events);
      const disturbed = await cost(scene, events);
      say(`webhookSnapshot: ${undisturbed.toFixed(0)} µs for each delivery, then ${disturbed.toFixed(0)} µs`);
      ratios.push(disturbed / undisturbed);
    } finally {
      await reader.end();
    }
    await scene.query('vacuum delivery, endpoint_due, outbox, attempt');
  }
  return [
    [
      `processor time of PostgreSQL for each delivery under a snapshot, after ${(10 * events).toLocaleString('en')} that ended under it, to that without one`,
      `${quantile(ratios, 0.5).toFixed(2)} times`,
      'at most 1.25',
    ],
  ];
}

/** CPU time of PostgreSQL per delivery, in microseconds. */
async function cost(scene: Scene, events: number): Promise<number> {
  const took = await backendTime(scene, async () => {
    await makeEvents(scene, events);
    await until(0, async () => -(await unfinished(scene)), { everyMs: 50, patienceMs: 120_000 });
  });
  return (took * 1_000) / (10 * events);
}

async function unfinished({ query }: Scene): Promise<number> {
  const [row] = await query(
    "select (select count(*) from outbox) + (select count(*) from delivery where state in ('held', 'pending')) as left",
  );
  return Number(row?.['left']);
}
