import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** What is kept between runs, out of git's sight. */
export const cache = resolve(import.meta.dirname, '../../node_modules/.cache/conformance');

/**
 * The directory of programs of a virtual environment with exactly what requirements.txt pins; made when it is not
 * there yet.
 * @throws Error of one line that says what to install.
 */
export function installTool(say: (line: string) => void): string {
  const python = findPython();
  const requirements = join(import.meta.dirname, 'requirements.txt');
  const digest = createHash('sha256').update(python.version).update(readFileSync(requirements)).digest('hex');
  const directory = join(cache, `python-${digest.slice(0, 16)}`);
  const programs = join(directory, 'bin');
  // Written last: an environment that was broken off is made again.
  const complete = join(directory, 'complete');
  if (existsSync(complete)) return programs;
  say(`installing Schemathesis for ${python.version} into ${directory}`);
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(cache, { recursive: true });
  run(python.program, ['-m', 'venv', directory]);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
  run(join(programs, 'python'), [...pip, '--require-hashes', '--only-binary=:all:', '-r', requirements]);
  writeFileSync(complete, '');
  return programs;
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
