/** Checks that both editions of the contract mean the same to the world's tools; --help tells how. */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { comparePatterns } from './patterns.ts';
import { validate } from './validators.ts';

const help = `usage: make portable, or node scripts/portable/main.ts [--documents DIR]

Runs each pattern of both editions in five engines over a table of texts, where all must agree, and validates both
editions with swagger-parser in JavaScript and Java.

  --documents DIR  folder with openapi.json and openapi-3.0.json (generated)

Exit status: 0 no difference and nothing refused; 1 otherwise, or in CI when an engine is missing; 2 invalid command line.`;

const values = readArguments();
if (values.help) {
  console.log(help);
  process.exit(0);
}

const folder = resolve(values.documents);
const { faults, compared, missing } = comparePatterns(folder);
const lacks = [...missing];
if (spawnSync('java', ['-version']).status === 0) faults.push(...validate(folder));
else lacks.push('default-jdk-headless');

for (const fault of faults) console.log(fault);
console.log(`${compared}: ${faults.length} faults`);
if (lacks.length > 0) console.log(`skipped for want of: ${lacks.join(', ')}`);
if (faults.length > 0 || (lacks.length > 0 && process.env['CI'])) process.exitCode = 1;

function readArguments() {
  const options = {
    help: { type: 'boolean', short: 'h' },
    documents: { type: 'string', default: 'generated' },
  } as const;
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    console.error(`portable: ${(error as Error).message.split('. ', 1)[0]}; see --help`);
    process.exit(2);
  }
}
