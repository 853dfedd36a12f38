import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from '../../../scripts/launch.ts';
import { encryptionKey } from '../../support/service.ts';
import { Cluster } from '../deployment/cluster.ts';
import { commonEnv, type Undoing } from '../deployment/deployment.ts';
import { ServiceProcess } from '../deployment/service-process.ts';
import { Calendar, keepLimits, retentionDays } from './calendar.ts';
import { SteadyLoad } from './load.ts';
import { persistently } from './persistently.ts';
import { startReceivers } from './receivers.ts';
import { type Sample, takeSample } from './sample.ts';

/** Of a run, however long it is. */
export const days = 24;
const samplingMs = 5_000;

export interface Moment {
  /** Since the load began. */
  minute: number;
  /** How many days have passed for the database. */
  day: number;
  sample: Sample;
}

export interface SoakOptions {
  minutes: number;
  /** A directory for what the service prints. */
  logs: string;
  undoing: Undoing;
  say(line: string): void;
}

/** Samples of the whole run, one every few seconds. */
export async function* soak({ minutes, logs, undoing, say }: SoakOptions): AsyncGenerator<Moment> {
  const scratch = await mkdtemp(join(tmpdir(), 'soak-'));
  undoing.teardown(() => rm(scratch, { recursive: true, force: true, maxRetries: 9 }));
  // Postgres may run as another user.
  await chmod(scratch, 0o755);
  const calendar = new Calendar(scratch);
  const cluster = await Cluster.create(join(scratch, 'cluster'), calendar.env);
  undoing.teardown(() => cluster.kill());
  await cluster.start();
  await cluster.query('create database menus', 'postgres');
  const limits = keepLimits(cluster);
  undoing.teardown(() => limits.stop());
  const { host, port, user } = cluster.connection();
  const env = {
    ...commonEnv,
    DATABASE_URL: `postgresql:///menus?${new URLSearchParams({ host, port: String(port), user: String(user) })}`,
    ENCRYPTION_KEY: encryptionKey.toString('base64'),
    EVENT_RETENTION_DAYS: String(retentionDays),
  };
  const service = await ServiceProcess.create('the service', env, logs);
  undoing.teardown(() => service.clear());
  await service.start();
  const receivers = await startReceivers();
  undoing.teardown(() => receivers.stop());
  const load = new SteadyLoad(service.address, await createClient(env, 'Soak'));
  await load.prepare(receivers);
  undoing.teardown(() => load.stop());
  load.start();

  const started = performance.now();
  const minute = () => (performance.now() - started) / 60_000;
  while (minute() < minutes) {
    await pause(samplingMs);
    const taken = load.take();
    const sample = await persistently('a sample is taken', () => takeSample(service.address, cluster, taken));
    yield { minute: minute(), day: calendar.days, sample };
    for (const [what, count] of taken.failures) say(`${minute().toFixed(1)} min  ${what} (${count} times)`);
    if (minute() / minutes > (calendar.days + 1) / days) {
      await calendar.passDay(cluster);
      const { rss_mb, queue, request_p99_ms } = sample;
      say(
        `day ${String(calendar.days).padStart(2)}  RSS ${rss_mb?.toFixed(0)} MiB, ${queue} wait, p99 ${request_p99_ms?.toFixed(0)} ms, ` +
          `came: ${Object.entries(receivers.arrived)
            .map(([manner, count]) => `${manner} ${count}`)
            .join(', ')}`,
      );
    }
  }
}
