import type { Deployment } from '../deployment/deployment.ts';
import type { ServiceProcess } from '../deployment/service-process.ts';
import type { Random } from '../random.ts';

/** What a fault works with. */
export interface Stage<D extends Deployment> {
  deployment: D;
  random: Random;
  /** Starts a process again; it must be ready soon. */
  restart(service: ServiceProcess, env?: Record<string, string>): Promise<void>;
  /** Reports a violation. */
  mishap(rule: string, detail: string): void;
}

/** Something that goes wrong while the load runs. */
export interface Fault<D extends Deployment> {
  name: string;
  /** What happens, for the report. */
  about: string;
  /** Why it cannot be produced here; undefined when it can. */
  lacks?(deployment: D): string | undefined;
  /** Produces the fault and undoes it: afterwards everything runs again. */
  strike(stage: Stage<D>): Promise<void>;
}

/** One of the services, or all of them. */
export function someOf(random: Random, services: readonly ServiceProcess[]): ServiceProcess[] {
  return random.chance(0.5) ? [random.pick(services)] : [...services];
}
