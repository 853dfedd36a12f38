import { availableParallelism, cpus, release, totalmem, type } from 'node:os';

/** Describes the machine in one line; `load` is its load average before the run. */
export function machineFacts(postgresVersion: string, load: number): string {
  const cores = `${availableParallelism()} × ${cpus()[0]?.model.replaceAll(/\s+/g, ' ').trim() ?? 'unknown CPU'}`;
  const memory = `${Math.round(totalmem() / 1024 ** 3)} GiB`;
  return `${cores}, ${memory}, ${type()} ${release()}, load ${load.toFixed(1)} before the start; Node ${process.versions.node}, PostgreSQL ${postgresVersion} (embedded, as it comes: fsync on)`;
}
