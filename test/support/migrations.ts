import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Test } from 'tap';
import { ownMigrations } from '../../src/db/schema.ts';

/** A directory with the migrations of a version and additional ones by name; removed when the test ends. */
export function migrationsWith(t: Test, further: Record<string, string>, base: URL = ownMigrations): URL {
  const directory = mkdtempSync(join(tmpdir(), 'migrations-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  cpSync(base, directory, { recursive: true });
  for (const [name, text] of Object.entries(further)) writeFileSync(join(directory, `${name}.sql`), text);
  return pathToFileURL(`${directory}/`);
}
