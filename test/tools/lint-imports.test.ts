import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { root } from '../support/process.ts';

const rules = 'scripts/lint-imports/dependency-cruiser.cjs';

/** A copy of what the rules look at. */
async function copyOfProject(t: Test): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'lint-imports-'));
  t.teardown(() => rm(copy, { recursive: true, force: true }));
  for (const part of ['src', 'generated', 'package.json', 'tsconfig.json', rules])
    await cp(join(root, part), join(copy, part), { recursive: true });
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

function violationsIn(directory: string): string[] {
  const { stdout } = spawnSync(
    process.execPath,
    ['node_modules/.bin/depcruise', 'src', '--config', rules, '--output-type', 'json'],
    { cwd: directory, encoding: 'utf8', maxBuffer: 1 << 28 },
  );
  const { summary } = JSON.parse(stdout) as {
    summary: { violations: { from: string; to: string; rule: { name: string } }[] };
  };
  return summary.violations.map(({ from, to, rule }) => `${rule.name}: ${from} -> ${to}`);
}

t.test('imports in src only go downward, and a violation of that is found', async (t) => {
  const copy = await copyOfProject(t);
  t.strictSame(violationsIn(copy), [], 'as it is');

  const plant = (file: string, text: string) => writeFile(join(copy, 'src', file), text);
  await plant('db/upward.ts', `export { items } from '../items/item.ts';\n`);
  await plant('http/type-only.ts', `export type { Menu } from '../menus/menu.ts';\n`);
  await plant('menus/into-content.ts', `export { importMenu } from './content/import-menu.ts';\n`);
  await plant('items/round.ts', `export { about } from './about.ts';\nexport const round = 1;\n`);
  await plant('items/about.ts', `export { round } from './round.ts';\nexport const about = 2;\n`);
  await plant('loose.ts', `export { round } from './items/round.ts';\n`);
  await writeFile(join(copy, 'scripts/tool.ts'), 'export const tool = 3;\n');
  await plant('process/tool.ts', `export { tool } from '../../scripts/tool.ts';\n`);

  const found = violationsIn(copy);
  for (const violation of [
    'nothing-above-db: src/db/upward.ts -> src/items/item.ts',
    'nothing-above-http: src/http/type-only.ts -> src/menus/menu.ts',
    'nothing-above-menus: src/menus/into-content.ts -> src/menus/content/import-menu.ts',
    'src-stands-alone: src/process/tool.ts -> scripts/tool.ts',
    'every-file-has-a-place: src/loose.ts -> src/items/round.ts',
  ])
    t.ok(found.includes(violation), violation);
  t.ok(
    found.some((one) => one.startsWith('no-circle: src/items/')),
    'a circle of two files',
  );
});
