import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import t from 'tap';
import document from '../../generated/openapi.json' with { type: 'json' };
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
    const ownRules = [...config.matchAll(/^ {2}((?:contract|rule)\/[\w-]+):/gm)].map(([, rule]) => rule);
    t.ok(ownRules.length >= 16, `${ownRules.length} rules of our own`);
    const problems = await lint('scripts/lint-contract/violations.yaml');
    t.strictSame(problems.map(({ ruleId }) => ruleId).sort(), ownRules.sort());
    t.ok(problems.every(({ severity }) => severity === 'error'));
  },
);

/** The names of the rules that Spectral finds broken, each once; `make audit` runs it on both editions. */
async function spectral(file: string): Promise<string[]> {
  const args = [
    'lint',
    file,
    '--ruleset',
    'scripts/lint-contract/spectral.yaml',
    '--format',
    'json',
    '--quiet',
  ];
  const { stdout } = await promisify(execFile)(`${root}node_modules/.bin/spectral`, args, {
    cwd: root,
    maxBuffer: 64 << 20,
  }).catch((error: { stdout: string }) => error);
  return [...new Set(JSON.parse(stdout).map(({ code }: { code: string }) => code))].sort() as string[];
}

t.test(
  'Spectral finds faults put into the contract, and what it lets pass in the contract alone',
  async (t) => {
    const faulty = structuredClone(document) as unknown as Record<string, Faulty>;
    Object.assign(faulty['servers']?.[0] ?? {}, { url: 'http://menus.test' });
    Object.assign(faulty['components']?.['securitySchemes'] ?? {}, {
      key: { type: 'apiKey', in: 'query', name: 'key', description: 'A key.' },
    });
    const { responses, examples, schemas } = faulty['components'] as Faulty;
    delete schemas?.['Name']?.['maxLength'];
    delete schemas?.['ItemList']?.['properties']?.['data']?.['maxItems'];
    delete responses?.['TooManyRequests']?.['headers']?.['RateLimit'];
    Object.assign(examples?.['OneItem']?.['value']?.['data'] ?? {}, { price: 'free' });
    delete faulty['paths']?.['/events']?.['get']?.['responses']?.['401'];

    const file = `${t.testdir()}/openapi.json`;
    await writeFile(file, JSON.stringify(faulty));
    t.strictSame(await spectral(file), [
      'oas3-valid-media-example',
      'owasp:api2:2023-no-api-keys-in-url',
      'owasp:api2:2023-write-restricted',
      'owasp:api4:2023-array-limit',
      'owasp:api4:2023-rate-limit',
      'owasp:api4:2023-string-limit',
      'owasp:api8:2023-define-error-responses-401',
      'owasp:api8:2023-no-server-http',
    ]);
  },
);

interface Faulty {
  [key: string]: Faulty;
}
