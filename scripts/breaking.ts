/** Holds the contract against the one last released: `make breaking`. */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Comparison, compare } from './breaking/compare.ts';
import { bundle, type OpenApiDocument } from './generate/bundle.ts';
import { root } from './generate/tool.ts';

const help = `usage: make breaking [REVISION=file]
       node scripts/breaking.ts [file | --release]

Compares the contract in openapi/, or that of the file, with the last released one, openapi/released.json. Each
change that breaks a client is one line: rule, place, message. The last line says what info.version must be.

  --release  release the contract in openapi/; refused when info.version or CHANGELOG.md does not say what has
             changed

Exit status: 0 nothing breaks, or the major version is raised; 1 a change breaks clients, or the release is refused;
2 the comparison failed.`;

const released = join(root, 'openapi/released.json');

/** A release that may not be; its message is one line that names the fix. */
class Refusal extends Error {}

const scratch = await mkdtemp(join(tmpdir(), 'breaking-'));
try {
  await main();
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  const usage = code?.startsWith('ERR_PARSE_ARGS') ? '; see --help' : '';
  console.error(`breaking: ${message}${usage}`);
  process.exitCode = error instanceof Refusal ? 1 : 2;
} finally {
  await rm(scratch, { recursive: true, force: true });
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { release: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    allowPositionals: true,
  });
  if (values.help) return console.log(help);
  const [file, ...more] = positionals;
  if (more.length > 0 || (file && values.release)) throw new Error('one file, or --release; see --help');
  if (file && !existsSync(file)) throw new Error(`there is no file ${file}`);

  const contract = await bundle(scratch, file && resolve(file));
  const comparison = existsSync(released)
    ? await compare(released, join(scratch, 'openapi.json'))
    : undefined;
  if (!values.release && !comparison)
    throw new Error('nothing is released yet: node scripts/breaking.ts --release');
  for (const { rule, where, message } of comparison?.findings ?? [])
    console.log(`${rule}: ${where}: ${message}`);
  if (comparison) console.log(verdict(comparison));
  if (!values.release) {
    if (comparison?.bump === 'major' && !suffices(comparison)) process.exitCode = 1;
    return;
  }
  if (comparison && !suffices(comparison))
    throw new Refusal('a release needs the version that its changes require');
  await requireEntry(contract.info.version);
  await writeFile(released, `${JSON.stringify(contract, null, 2)}\n`);
  console.log(`openapi/released.json is ${contract.info.version} now`);
}

function verdict(comparison: Comparison): string {
  const { findings, bump } = comparison;
  const [was, is] = versions(comparison);
  const since = `since release ${was.join('.')}`;
  if (!bump) return `nothing has changed ${since}`;
  const what = {
    major: `${findings.length} breaking ${findings.length === 1 ? 'change' : 'changes'} ${since}`,
    minor: `additions, nothing breaking ${since}`,
    patch: `other changes, no additions, nothing breaking ${since}`,
  }[bump];
  const version = `info.version is ${is.join('.')}`;
  if (suffices(comparison)) return `${what}; ${version}, which says so`;
  const fix = `raise it to ${required(comparison).join('.')}`;
  return `${what}; ${version}: ${fix}${bump === 'major' ? ', or revert the change' : ' before the release'}`;
}

type Version = [major: number, minor: number, patch: number];

function suffices(comparison: Comparison): boolean {
  const needed = required(comparison);
  const [, is] = versions(comparison);
  const place = needed.findIndex((number, index) => number !== is[index]);
  return place < 0 || (is[place] as number) > (needed[place] as number);
}

/** The lowest version that says what has changed, https://semver.org items 6 to 8. */
function required(comparison: Comparison): Version {
  const [[major, minor, patch]] = versions(comparison);
  switch (comparison.bump) {
    case 'major':
      return [major + 1, 0, 0];
    case 'minor':
      return [major, minor + 1, 0];
    case 'patch':
      return [major, minor, patch + 1];
    case undefined:
      return [major, minor, patch];
  }
}

function versions({ released, revision }: Comparison): [was: Version, is: Version] {
  return [parse(released), parse(revision)];
}

function parse({ info: { version } }: OpenApiDocument): Version {
  const numbers = /^(\d+)\.(\d+)\.(\d+)$/.exec(version);
  if (!numbers) throw new Error(`info.version must be three numbers such as 1.2.0, not ${version}`);
  return numbers.slice(1).map(Number) as Version;
}

async function requireEntry(version: string): Promise<void> {
  const lines = (await readFile(join(root, 'CHANGELOG.md'), 'utf8')).split('\n');
  if (!lines.some((line) => line.split(' ').slice(0, 2).join(' ') === `## ${version}`))
    throw new Refusal(`CHANGELOG.md has no entry for the release: ## ${version}`);
}
