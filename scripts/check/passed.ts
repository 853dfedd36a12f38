/** Which targets passed on which files: `passed.json`, which git keeps. */
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs';

/**
 * What decides the verdict of targets that say nothing about src/: the contract and its documents, the tools that read
 * them, and their tests. What tests start the service for is not how it behaves.
 */
const deciding: Record<string, string[]> = {
  audit: ['generated/openapi*.json', 'scripts/lint-contract/**', 'package-lock.json'],
  gates: [
    ...['openapi/**', 'generated/*.json', 'package-lock.json', 'test/gates/**', 'scripts/breaking.ts'],
    ...['scripts/breaking/**', 'scripts/lint-contract/**', 'scripts/portable/**', 'scripts/sdk/**'],
  ],
};

/** SHA-256, by target. */
type Digests = { [target: string]: string };

const file = 'scripts/check/passed.json';

/** Of what decides each target's verdict. @throws when there is none of what it names */
export function digestsNow(): Digests {
  return Object.fromEntries(Object.entries(deciding).map(([target, patterns]) => [target, digest(patterns)]));
}

/** Of what each target passed on last. */
export function readPassed(): Digests {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
}

/** Adds the targets that have passed now. */
export function writePassed(digests: Digests, passed: string[]): void {
  const news = Object.entries(digests).filter(([target]) => passed.includes(target));
  if (news.length === 0) return;
  const record = { ...readPassed(), ...Object.fromEntries(news) };
  writeFileSync(file, `${JSON.stringify(record, Object.keys(deciding), 2)}\n`);
}

function digest(patterns: string[]): string {
  const hash = createHash('sha256');
  for (const pattern of patterns) {
    const files = globSync(pattern).filter((name) => statSync(name).isFile() && !isWritten(name));
    if (files.length === 0) throw new Error(`there is no ${pattern}`);
    for (const name of files.sort()) hash.update(`${name}\0`).update(readFileSync(name)).update('\0');
  }
  return hash.digest('hex');
}

/** By the targets themselves. */
function isWritten(name: string): boolean {
  return name.endsWith('/passed.json') || name.endsWith('.pyc');
}
