/**
 * Derives everything in generated/ from the contract, the migrations and the statements of src/. With --check it changes nothing and
 * fails when a committed file is not what it would write.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { apiTypes } from './generate/api-types.ts';
import { bundle } from './generate/bundle.ts';
import { codeSamples } from './generate/code-samples.ts';
import { databaseTypes } from './generate/database-types.ts';
import { edition30 } from './generate/edition-3.0.ts';
import { operationTable } from './generate/operation-table.ts';
import { scopeList } from './generate/scopes.ts';
import { statementsFile } from './generate/statements.ts';

const help = `usage: npm run generate [-- --check]

Writes generated/ from openapi/, src/db/migrations/ and the SQL statements of src/.

  --check  change nothing, and fail when a file of generated/ is not what would be written`;

const { help: isHelpWanted, check } = readOptions();
if (isHelpWanted) {
  console.log(help);
  process.exit(0);
}
const directory = new URL('../generated/', import.meta.url);

const scratch = await mkdtemp(join(tmpdir(), 'generate-'));
try {
  const document = await bundle(scratch);
  const files: Record<string, string> = {
    'openapi.json': `${JSON.stringify(document, null, 2)}\n`,
    'openapi-3.0.json': `${JSON.stringify(edition30(document), null, 2)}\n`,
    'api.ts': await apiTypes(scratch),
    'code-samples.json': codeSamples(document),
    'operations.ts': operationTable(document),
    'scopes.ts': scopeList(document),
    'database.ts': await databaseTypes(scratch),
  };
  const stale = await update(files);
  // After the others, since src/ is loaded with them.
  stale.push(...(await update({ 'statements.sql': await statementsFile() })));
  if (check && stale.length > 0) {
    console.error(`not what their sources say: ${stale.join(', ')}; run make generate`);
    process.exitCode = 1;
  } else {
    console.log(stale.length > 0 ? `wrote ${stale.join(', ')}` : 'generated/ is current');
  }
} finally {
  await rm(scratch, { recursive: true, force: true });
}

/** Writes the files that are not what they should be, unless --check is set. @returns their names */
async function update(files: Record<string, string>): Promise<string[]> {
  const stale: string[] = [];
  for (const [name, text] of Object.entries(files)) {
    const file = new URL(name, directory);
    if ((await readFile(file, 'utf8').catch(() => '')) === text) continue;
    stale.push(`generated/${name}`);
    if (!check) await writeFile(file, text);
  }
  return stale;
}

function readOptions() {
  try {
    return parseArgs({ options: { check: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } })
      .values;
  } catch (error) {
    console.error(`generate: ${(error as Error).message.split('. ', 1)[0]}; see --help`);
    process.exit(2);
  }
}
