import { join } from 'node:path';
import { childrenOf, killAll, postgresOf } from '../../support/process.ts';
import { startProxy } from '../../support/proxy.ts';
import { commonEnv, type Deployment, type Surroundings, Undoing } from './deployment.ts';
import { ServiceProcess } from './service-process.ts';

/** The service with its defaults: one process that runs its own Postgres. */
export interface EmbeddedDeployment extends Deployment {
  service: ServiceProcess;
  /** Its Postgres, the postmaster first; empty when there is none. */
  postgres(): number[];
}

export async function deployEmbedded(surroundings: Surroundings): Promise<EmbeddedDeployment> {
  const { scratch, logs, receiverPort } = surroundings;
  const undoing = new Undoing();
  const directory = join(scratch, 'data');
  const env = { ...commonEnv, DATA_DIR: directory };
  const service = await ServiceProcess.create('the service', { ...env, ...surroundings.env }, logs);
  const postgres = () => postgresOf(directory).flatMap((pid) => [pid, ...childrenOf(pid)]);
  undoing.teardown(async () => {
    await service.clear();
    killAll(postgres());
  });
  try {
    const receiverProxy = await startProxy(undoing, { host: '127.0.0.1', port: receiverPort });
    await service.start();
    return {
      services: [service],
      service,
      env,
      receiverProxy,
      connection: () => ({
        host: join(directory, 'postgres'),
        port: 5432,
        user: 'postgres',
        database: 'menus',
      }),
      postgres,
      stop: () => undoing.run(),
    };
  } catch (error) {
    await undoing.run();
    throw error;
  }
}
