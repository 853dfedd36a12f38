import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { answer } from './child.ts';
import type { Call } from './http-load.ts';
import { markNow } from './mark.ts';

/** Writes on a fixed schedule, as customers do, without waiting for earlier responses. */
export interface PacedRound {
  origin: string;
  token: string;
  calls: Call[];
  perSecond: number;
  seconds: number;
}

answer<PacedRound, number>(async ({ origin, token, calls, perSecond, seconds }) => {
  const pool = new Pool(origin, { connections: 64, pipelining: 1 });
  const answers: Promise<void>[] = [];
  const begin = performance.now();
  for (let sent = 0; sent < perSecond * seconds; sent++) {
    const wait = begin + (sent * 1000) / perSecond - performance.now();
    if (wait > 0) await sleep(wait);
    answers.push(write(pool, token, calls[sent % calls.length] as Call));
  }
  await Promise.all(answers);
  await pool.close();
  return answers.length;
});

async function write(pool: Pool, token: string, { method, path }: Call): Promise<void> {
  const { statusCode, body } = await pool.request({
    method,
    path: `/api/v1${path}`,
    headers: { authorization: `Bearer ${token}`, 'x-request-id': markNow() },
  });
  await body.dump();
  if (statusCode !== 200) throw new Error(`${method} ${path} returned ${statusCode}`);
}
