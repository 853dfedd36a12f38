import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '../client.ts';
import { client as python } from '../python/client.ts';
import { client as typescript } from '../typescript-fetch/client.ts';

/** How a client that `make sdk` checks becomes a package. The folder of its name is copied over what was generated. */
export interface Recipe {
  name: string;
  client: Client;
  /** Run in the work folder after that, before it is packed. */
  finish?(work: string, version: string): void;
  /** Commands run in the work folder, with the version in PACKAGE_VERSION, that write the package into `out`. */
  pack(out: string): string[][];
}

export const recipes: Recipe[] = [
  {
    name: 'typescript',
    client: typescript,
    finish: completeManifest,
    pack: (out) => [
      ['tsc', '-p', '.'],
      ['npm', 'pack', '--silent', '--ignore-scripts', '--pack-destination', out],
    ],
  },
  {
    name: 'python',
    client: python,
    pack: (out) => [
      ['pip', 'install', '--quiet', '--disable-pip-version-check', '--requirement', 'packaging.txt'],
      ['python', '-m', 'build', '--no-isolation', '--outdir', out],
    ],
  },
];

/** The package needs what the client was checked with. */
function completeManifest(work: string, version: string): void {
  const checked = new URL('../typescript-fetch/package.json', import.meta.url);
  const { dependencies } = JSON.parse(readFileSync(checked, 'utf8'));
  const file = join(work, 'package.json');
  const described = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...described, version, dependencies }, null, 2));
}
