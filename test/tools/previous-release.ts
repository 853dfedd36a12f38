import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { root } from '../support/process.ts';

/**
 * The commit of the last release: the newest that wrote openapi/released.json, whatever its hash became when it was
 * merged. Its build must go on working on the schema of this one. Undefined in a directory without that history.
 */
function previousRelease(clone = root): string | undefined {
  const { stdout } = spawnSync('git', [
    '-C',
    clone,
    'log',
    '-1',
    '--format=%H',
    '--',
    'openapi/released.json',
  ]);
  return stdout?.toString().trim() || undefined;
}

/** Why it cannot be had from a directory, in one line that names the fix; undefined when it can. */
export function whyMissing(directory = root): string | undefined {
  if (previousRelease(directory)) return undefined;
  return `the history of ${directory} does not have the previous release: take a git clone of the project`;
}

/**
 * The files of the previous release in a directory of their own, with the packages of this one; gone when the test ends.
 * @throws an Error of one line that names the fix, when the clone does not have them.
 */
export function checkOutPreviousRelease(t: Test): string {
  const release = previousRelease();
  if (!release) throw new Error(whyMissing());
  const directory = mkdtempSync(join(tmpdir(), 'previous-release-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const { stdout: input } = spawnSync('git', ['-C', root, 'archive', release], {
    maxBuffer: 1 << 28,
  });
  const { status, stderr } = spawnSync('tar', ['-x', '-C', directory], { input });
  if (status !== 0) throw new Error(`tar: ${stderr}`);
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  return directory;
}
