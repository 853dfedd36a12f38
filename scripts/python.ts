import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './generate/tool.ts';

/** Where what Python's index gives is kept between runs, out of git's sight. */
export const pythonCache = join(root, 'node_modules/.cache/python');

/**
 * A virtual environment with exactly the packages of a requirements file, which names all of them with their hashes;
 * made when it is not there yet.
 * @returns its directory.
 * @throws Error of one line that says what to install.
 */
export function pythonEnvironment(requirements: string, say: (line: string) => void): string {
  const python = findPython();
  const digest = createHash('sha256').update(python.version).update(readFileSync(requirements)).digest('hex');
  const directory = join(pythonCache, digest.slice(0, 16));
  // Written last: an environment that was broken off is made again.
  const complete = join(directory, 'complete');
  if (existsSync(complete)) return directory;
  say(`installing what ${requirements.slice(root.length)} pins, for ${python.version}`);
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(dirname(directory), { recursive: true });
  run(python.program, ['-m', 'venv', directory]);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps'];
  run(join(directory, 'bin/python'), [...pip, '--require-hashes', '--only-binary=:all:', '-r', requirements]);
  writeFileSync(complete, '');
  return directory;
}

function findPython(): { program: string; version: string } {
  const program = process.env['PYTHON'] || 'python3';
  const probe = 'import sys, venv, ensurepip; print("Python %d.%d.%d" % sys.version_info[:3])';
  const { status, stdout } = spawnSync(program, ['-c', probe], { encoding: 'utf8' });
  const version = stdout?.trim() ?? '';
  if (status === 0 && Number(/^Python 3\.(\d+)/.exec(version)?.[1]) >= 11) return { program, version };
  throw new Error(
    'needs Python 3.11 or newer with venv: apt install python3-venv, or https://www.python.org; PYTHON may name it',
  );
}

function run(program: string, args: string[]): void {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  if (status === 0) return;
  const reason = error?.message ?? stderr.trim().split('\n').at(-1);
  throw new Error(`${program} ${args.slice(0, 3).join(' ')} failed: ${reason}`);
}
