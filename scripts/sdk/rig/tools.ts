import { spawnSync } from 'node:child_process';
import { root } from '../../generate/tool.ts';
import type { Client } from '../client.ts';

/** Commands of `needs` and whether they succeeded. */
const tried = new Map<string, boolean>();

/** What to install for these clients, each thing once. */
export function missingTools(...clients: Pick<Client, 'needs'>[]): string[] {
  const needs = clients.flatMap((client) => Object.entries(client.needs));
  return [...new Set(needs.filter(([command]) => !succeeds(command)).map(([, what]) => what))];
}

function succeeds(command: string): boolean {
  const known = tried.get(command);
  if (known !== undefined) return known;
  const [program = '', ...args] = command.split(' ');
  const succeeded = spawnSync(program, args, { stdio: 'ignore', cwd: root }).status === 0;
  tried.set(command, succeeded);
  return succeeded;
}
