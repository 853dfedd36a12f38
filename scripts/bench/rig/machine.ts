import { availableParallelism, cpus, release, totalmem, type } from 'node:os';

/** What the figures were measured on, in a line; `load` is the average before it began. */
export function machineFacts(postgresVersion: string, load: number): string {
  const cores = `${availableParallelism()} × ${cpus()[0]?.model.replaceAll(/\s+/g, ' ').trim() ?? 'unknown CPU'}`;
  const memory = `${Math.round(totalmem() / 1024 ** 3)} GiB`;
  return `${cores}, ${memory}, ${type()} ${release()}, load ${load.toFixed(1)} before the start; Node ${process.versions.node}, PostgreSQL ${postgresVersion} (embedded, as it comes: fsync on)`;
}
