/** Packs the generated clients as packages that a team can publish; --help tells how. */
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../../generate/tool.ts';
import { copyClient, toolPath } from '../rig/check-client.ts';
import { runCommand } from '../rig/command.ts';
import { missingTools } from '../rig/tools.ts';
import { type Recipe, recipes } from './recipes.ts';

const help = `usage: npm run sdk:package [-- NAME… --out DIR]

Generates the clients that make sdk checks, and packs them with their types, a README and the licence, under the version
of the contract. What there is to publish: ${recipes.map(({ name }) => name).join(', ')}; all of them unless named.

  --out DIR   where the packages are written (.sdk/packages)
  --work DIR  where they are built; dependencies stay there (.sdk)

Exit status: 0 packed, 1 a tool failed or is missing, 2 invalid command line.`;

/** A command line that cannot be carried out; its message is one line. */
class UsageError extends Error {}

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());

try {
  await main();
} catch (error) {
  console.error(`sdk:package: ${(error as Error).message}`);
  process.exit(error instanceof UsageError ? 2 : 1);
}

async function main(): Promise<void> {
  const { values, positionals } = readArguments();
  if (values.help) return console.log(help);
  const unknown = positionals.find((name) => !recipes.some((recipe) => recipe.name === name));
  if (unknown !== undefined)
    throw new UsageError(
      `there is no package ${unknown}; there are ${recipes.map(({ name }) => name).join(', ')}`,
    );
  const wanted = recipes.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  const missing = missingTools(...wanted.map(({ client }) => client));
  if (missing.length > 0) throw new Error(`install ${missing.join(', ')}`);
  const out = resolve(values.out);
  mkdirSync(out, { recursive: true });
  const { version } = JSON.parse(readFileSync(join(root, 'generated/openapi.json'), 'utf8')).info;
  for (const recipe of wanted) {
    await pack(recipe, { work: resolve(values.work, `package-${recipe.name}`), out, version });
    console.log(`packed ${recipe.name} ${version} into ${relative('.', out) || '.'}`);
  }
}

function readArguments() {
  try {
    return parseArgs({
      options: {
        help: { type: 'boolean', short: 'h' },
        out: { type: 'string', default: join(root, '.sdk/packages') },
        work: { type: 'string', default: join(root, '.sdk') },
      },
      allowPositionals: true,
    });
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split('. ', 1)[0]}; see --help`);
  }
}

interface Place {
  work: string;
  out: string;
  version: string;
}

/** @throws what a tool printed that failed */
async function pack({ name, client, finish, pack }: Recipe, { work, out, version }: Place): Promise<void> {
  await copyClient({ source: join(root, 'scripts/sdk', client.name), work, keep: client.keep });
  const edition = client.edition === '3.1' ? 'openapi.json' : 'openapi-3.0.json';
  cpSync(join(root, 'generated', edition), join(work, 'openapi.json'));
  for (const command of client.generate) await run(command);
  cpSync(join(import.meta.dirname, name), work, { recursive: true });
  cpSync(join(root, 'LICENSE'), join(work, 'LICENSE'));
  finish?.(work, version);
  for (const command of pack(out)) await run(command);

  async function run(command: string[]): Promise<void> {
    const env = { PATH: toolPath(work), PACKAGE_VERSION: version };
    const { signal } = interrupted;
    const { fault, output } = await runCommand(command, { cwd: work, env, patience: 15 * 60_000, signal });
    if (fault) throw new Error(`${fault}\n${output}`.trim());
  }
}
