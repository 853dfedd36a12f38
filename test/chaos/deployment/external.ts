import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type DatabaseProxy, startDatabaseProxy } from '../../support/database-proxy.ts';
import { startProxy } from '../../support/proxy.ts';
import { encryptionKey } from '../../support/service.ts';
import { Cluster } from './cluster.ts';
import { commonEnv, type Deployment, type Surroundings, Undoing } from './deployment.ts';
import { type Disk, mountDisk } from './disk.ts';
import { ServiceProcess } from './service-process.ts';

/** Two processes of the service on a Postgres behind a proxy, as operators run it. */
export interface ExternalDeployment extends Deployment {
  /** The server that takes writes. */
  primary: Cluster;
  databaseProxy: DatabaseProxy;
  /** That of the database; absent where none can be mounted. */
  disk: Disk | undefined;
  /** A directory for another cluster. */
  nextDirectory(): string;
  /** Makes another server take the writes, and removes the old one. */
  succeed(successor: Cluster): Promise<void>;
}

export async function deployExternal(surroundings: Surroundings): Promise<ExternalDeployment> {
  const { scratch, logs, receiverPort } = surroundings;
  const undoing = new Undoing();
  const disk = process.env['CI'] ? undefined : mountDisk(join(scratch, 'disk'));
  undoing.teardown(() => disk?.remove());
  let clusters = 0;
  const nextDirectory = () => join(disk?.directory ?? scratch, `cluster-${++clusters}`);
  try {
    const directory = nextDirectory();
    let primary = await Cluster.create(directory);
    undoing.teardown(() => primary.kill());
    await primary.start();
    await primary.query('create database menus', 'postgres');
    const databaseProxy = await startDatabaseProxy(undoing, primary.connection());
    const receiverProxy = await startProxy(undoing, { host: '127.0.0.1', port: receiverPort });
    const { port } = databaseProxy.connection;
    const env = {
      ...commonEnv,
      DATABASE_URL: `postgres://postgres@127.0.0.1:${port}/menus`,
      ENCRYPTION_KEY: encryptionKey.toString('base64'),
    };
    const create = (name: string) => ServiceProcess.create(name, { ...env, ...surroundings.env }, logs);
    const services = [await create('process-a'), await create('process-b')];
    for (const service of services) {
      undoing.teardown(() => service.clear());
      await service.start();
    }
    return {
      services,
      env,
      receiverProxy,
      databaseProxy,
      disk,
      nextDirectory,
      get primary() {
        return primary;
      },
      async succeed(successor) {
        const old = primary;
        primary = successor;
        databaseProxy.leadTo(successor.connection());
        await old.kill();
        await rm(old.directory, { recursive: true, force: true });
      },
      connection: () => primary.connection(),
      stop: () => undoing.run(),
    };
  } catch (error) {
    await undoing.run();
    throw error;
  }
}
