import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Test } from 'tap';
import { root } from './process.ts';

/** A copy of the project without ignored files; node_modules is a link. Removed when the test ends. */
export function copyOfTheProject(t: Test): string {
  const copy = mkdtempSync(join(tmpdir(), 'project-copy-'));
  t.teardown(() => rmSync(copy, { recursive: true, force: true }));
  const ignored = readFileSync(join(root, '.gitignore'), 'utf8').split(/\/?\n/);
  cpSync(root, copy, {
    recursive: true,
    filter: (source) => !['.git', ...ignored].includes(basename(source)),
  });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}
