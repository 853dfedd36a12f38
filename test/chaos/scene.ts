import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../../scripts/launch.ts';
import type { Deployment, Surroundings, Undoing } from './deployment/deployment.ts';
import { Follower } from './feed.ts';
import { Journal } from './journal.ts';
import { Load } from './load.ts';
import { Random } from './random.ts';
import { paces, startReceivers } from './receivers.ts';
import type { Scene } from './round.ts';
import { Session } from './session.ts';

export interface SceneOptions {
  seed: string;
  /** A directory for what the processes print. */
  logs: string;
  /** Added to the environment of every process of the service. */
  env: Record<string, string>;
  undoing: Undoing;
  /** The number of concurrent clients. */
  clients?: number;
}

/** Sets up a deployment with clients, receivers and first records; `undoing` removes all of it. */
export async function setScene<D extends Deployment>(
  deploy: (surroundings: Surroundings) => Promise<D>,
  { seed, logs, env, undoing, clients = 6 }: SceneOptions,
): Promise<Scene<D>> {
  const scratch = await mkdtemp(join(tmpdir(), 'chaos-'));
  undoing.teardown(() => rm(scratch, { recursive: true, force: true, maxRetries: 9 }));
  // Postgres may run as another user.
  await chmod(scratch, 0o755);
  const receivers = await startReceivers(new Random(`${seed} receivers`));
  undoing.teardown(() => receivers.stop());
  const deployment = await deploy({ scratch, logs, receiverPort: receivers.port, env });
  undoing.teardown(() => deployment.stop());
  const credentials = await createClient(deployment.env, 'Chaos');
  const callees = deployment.callees ?? deployment.services;
  const [session] = callees.map((callee) => new Session(callee, credentials));
  if (!session) throw new Error('a deployment without a service');
  for (const pace of paces) {
    const url = `http://127.0.0.1:${deployment.receiverProxy.port}/${pace}`;
    const { data } = await session.bodyOf('POST', '/webhooks', { url });
    receivers.secrets[pace] = data.secret;
  }
  const journal = new Journal();
  const load = new Load(journal, { callees, credentials, seed, clients });
  const sessions = callees.map((callee) => new Session(callee, credentials));
  const follower = new Follower(sessions, new Random(`${seed} follower`), journal);
  undoing.teardown(() => follower.stop());
  await load.prepare();
  return { deployment, journal, load, receivers, follower, session };
}
