import { cp, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { type Outcome, root, runToEnd } from '../../support/process.ts';

export interface Folder {
  /** Gone when the test ends. */
  directory: string;
  /** In it, a folder for each client. */
  clients: string;
}

/** Clients that are like the one beside this file. @param changes by name, what is different, as properties */
export async function clientsIn(t: Test, changes: Record<string, string>): Promise<Folder> {
  const directory = await mkdtemp(join(await realpath(tmpdir()), 'sdk-test-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  await writeFile(join(directory, 'package.json'), '{"type":"module"}');
  const given = import.meta.dirname;
  for (const [name, properties] of Object.entries(changes)) {
    const folder = join(directory, 'clients', name);
    await mkdir(folder, { recursive: true });
    for (const file of ['generator.js', 'scenario.js']) await cp(join(given, file), join(folder, file));
    const text = `import { client as good } from ${JSON.stringify(join(given, 'client.ts'))};
      export const client = { ...good, name: '${name}', ${properties} };`;
    await writeFile(join(folder, 'client.ts'), text);
  }
  return { directory, clients: join(directory, 'clients') };
}

/** Runs scripts/sdk/main.ts with them. */
export async function runClients(
  t: Test,
  { directory, clients }: Folder,
  ...args: string[]
): Promise<Outcome> {
  const options = ['--clients', clients, '--work', join(directory, 'work')];
  return runToEnd(t, {}, [process.execPath, join(root, 'scripts/sdk/main.ts'), ...options, ...args]);
}
