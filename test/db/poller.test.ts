import type { FastifyBaseLogger } from 'fastify';
import { pino } from 'pino';
import t from 'tap';
import { startPoller } from '../../src/db/poller.ts';
import { eventually } from '../support/eventually.ts';

const log = pino({ level: 'silent' }) as unknown as FastifyBaseLogger;
const never = 1_000_000;

t.test('rounds follow each other while there is more to do, then wait for a nudge', async (t) => {
  let rounds = 0;
  const work = async () => {
    rounds += 1;
    return rounds % 3 !== 0;
  };
  const poller = startPoller('test', work, { idleMs: never, log });
  await eventually('three rounds', async () => rounds === 3);
  poller.nudge();
  await eventually('three more', async () => rounds === 6);
  await poller.stop();
  t.equal(rounds, 6);
});

t.test('a nudge during a round is not lost', async (t) => {
  const started = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  let rounds = 0;
  const work = async () => {
    rounds += 1;
    started.resolve();
    await go.promise;
    return false;
  };
  const poller = startPoller('test', work, { idleMs: never, log });
  await started.promise;
  poller.nudge();
  go.resolve();
  await eventually('a second round', async () => rounds === 2);
  await poller.stop();
  t.equal(rounds, 2);
});

t.test('a round that fails is tried again after a second, whatever nudges come', async (t) => {
  const times: number[] = [];
  const work = async () => {
    times.push(performance.now());
    throw new Error('no database');
  };
  const poller = startPoller('test', work, { idleMs: never, log });
  const nudging = setInterval(poller.nudge, 10);
  await eventually('a second try', async () => times.length === 2);
  clearInterval(nudging);
  t.ok((times[1] ?? 0) - (times[0] ?? 0) > 900);
  await poller.stop();
});

t.test('stop waits for the round in progress and begins no other', async (t) => {
  const go = Promise.withResolvers<void>();
  let ended = 0;
  const work = async () => {
    await go.promise;
    ended += 1;
    return true;
  };
  const poller = startPoller('test', work, { idleMs: never, log });
  const stopped = poller.stop();
  go.resolve();
  await stopped;
  t.equal(ended, 1);
});
