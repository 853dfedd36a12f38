import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../generate/tool.ts';
import type { Client } from '../client.ts';

/** The digests, by client, of what passed last: `passed.json` of the clients' folder, which git keeps. */
export type Digests = { [name: string]: string };

export function readRecord(folder: string): Digests {
  const file = join(folder, 'passed.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
}

/** Adds clients that have passed, and forgets those that are no more. @param names of all clients of the folder */
export function writeRecord(folder: string, passed: Digests, names: string[]): void {
  const known = Object.entries({ ...readRecord(folder), ...passed }).filter(([name]) => names.includes(name));
  const record = Object.fromEntries(known.sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(join(folder, 'passed.json'), `${JSON.stringify(record, null, 2)}\n`);
}

/**
 * Of all that a client's verdict depends on but the service's code: its document, its folder, and what runs and judges
 * it.
 * @param documents folder of both editions
 */
export function digestOf({ name, edition }: Client, folder: string, documents: string): string {
  const own = globSync('**/*', { cwd: join(folder, name) }).map((file) => join(folder, name, file));
  const rig = globSync('{rig/*,*.ts}', { cwd: sdk }).map((file) => join(sdk, file));
  const document = join(documents, edition === '3.1' ? 'openapi.json' : 'openapi-3.0.json');
  const hash = createHash('sha256');
  for (const file of [document, ...own.sort(), ...rig.sort()]) {
    if (statSync(file).isFile()) hash.update(readFileSync(file)).update('\0');
  }
  return hash.digest('hex');
}

const sdk = join(root, 'scripts/sdk');
