import { pino } from 'pino';
import { openDatabase } from '../../src/db/database.ts';
import { createSeal } from '../../src/db/seal.ts';
import { createSender } from '../../src/webhooks/delivery/deliver.ts';
import { createDestination } from '../../src/webhooks/delivery/destination.ts';
import { startWorker } from '../../src/worker.ts';
import { shiftClock } from '../support/clock.ts';
import type { WorkerSettings } from './processes.ts';

/*
 * The worker role in a process of its own, to be killed. Its lease is short, so that nobody waits for it, and its
 * clock may be wrong.
 */

const settings: WorkerSettings = JSON.parse(process.env['WORKER_SETTINGS'] ?? '');
shiftClock(settings.clockOffsetMs);
const database = openDatabase(settings.connection);
const destination = createDestination({ allowedNetworks: ['127.0.0.0/8'] });
const send = createSender({
  destination,
  userAgent: 'menu-management-service/test',
  timeoutMs: settings.leaseMs / 2,
});
const worker = startWorker({
  database,
  send: settings.neverSend
    ? () => {
        process.send?.('claimed');
        return new Promise(() => {});
      }
    : send,
  seal: createSeal(Buffer.from(settings.encryptionKey, 'base64')),
  log: pino({ level: process.env['TEST_LOG'] ?? 'silent' }) as never,
  retentionDays: 30,
  leaseMs: settings.leaseMs,
  idleMs: 10,
  retryDelay: () => 50,
});
process.once('SIGTERM', async () => {
  await worker.stop();
  await destination.close();
  await database.destroy();
  process.exit(0);
});
process.send?.('started');
