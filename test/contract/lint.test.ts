import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import t from 'tap';
import { root } from '../../scripts/generate/tool.ts';

interface Problem {
  ruleId: string;
  severity: string;
  message: string;
  location: { source: { ref: string }; pointer?: string }[];
}

/** Lints as `make lint` does; the tool's exit status says the same as its list, so only the list is looked at. */
async function lint(file: string): Promise<Problem[]> {
  const args = ['lint', file, '--config', 'scripts/lint-contract/redocly.yaml', '--format', 'json'];
  const { stdout } = await promisify(execFile)(`${root}node_modules/.bin/redocly`, args, {
    cwd: root,
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    maxBuffer: 64 << 20,
  }).catch((error: { stdout: string }) => error);
  return JSON.parse(stdout).problems;
}

t.test('the contract breaks no rule', async (t) => {
  const problems = await lint('openapi/openapi.yaml');
  t.strictSame(
    problems.map(({ ruleId, message }) => `${ruleId}: ${message}`),
    [],
  );
});

t.test(
  'a document that breaks each of our own rules is reported once for each, and for nothing else',
  async (t) => {
    const config = await readFile(`${root}scripts/lint-contract/redocly.yaml`, 'utf8');
    const ownRules = [...config.matchAll(/^ {2}(contract\/[\w-]+): error$/gm)].map(([, rule]) => rule);
    t.ok(ownRules.length >= 11, `${ownRules.length} rules of our own`);
    const problems = await lint('scripts/lint-contract/violations.yaml');
    t.strictSame(problems.map(({ ruleId }) => ruleId).sort(), ownRules.sort());
    t.ok(problems.every(({ severity }) => severity === 'error'));
  },
);
