import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const project = resolve(import.meta.dirname, '../..');

/** Installs what package.json of this folder pins, unless it is there. @returns the folder that has the `node_modules` */
export function installTools(): string {
  const folder = join(project, '.sdk/portable');
  const lock = 'package-lock.json';
  const pinned = readFileSync(join(import.meta.dirname, lock), 'utf8');
  // Written last: what was broken off is installed again.
  const complete = join(folder, 'complete');
  if (!existsSync(complete) || readFileSync(complete, 'utf8') !== pinned) {
    mkdirSync(folder, { recursive: true });
    for (const file of ['package.json', lock]) cpSync(join(import.meta.dirname, file), join(folder, file));
    run('npm', ['ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'], folder);
    writeFileSync(complete, pinned);
  }
  cpSync(join(import.meta.dirname, 'swagger-parser.js'), join(folder, 'swagger-parser.js'));
  return folder;
}

/** Installs openapi-generator from PyPI. @returns the program */
export function installGenerator(): string {
  const environment = join(project, '.sdk/openapi-generator');
  run('python3', ['-m', 'venv', environment]);
  const pip = ['install', '--quiet', '--disable-pip-version-check', 'openapi-generator-cli==7.25.0'];
  run(join(environment, 'bin/pip'), pip);
  return join(environment, 'bin/openapi-generator-cli');
}

function run(command: string, args: string[], cwd = project): void {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0)
    throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? `${stdout}${stderr}`}`);
}
