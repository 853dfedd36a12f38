import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import t from 'tap';
import document from '../../generated/openapi.json' with { type: 'json' };
import { root } from '../../scripts/generate/tool.ts';
import { notPortable } from '../../scripts/lint-contract/patterns.ts';

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

t.test(
  'what made a tool of some language fail once is found where it is planted in the contract',
  async (t) => {
    const planted = structuredClone(document) as unknown as Record<string, Faulty>;
    const { schemas, links } = planted['components'] as Faulty;
    const [link] = Object.values(links ?? {});
    const faults: Record<string, () => void> = {
      'contract/date-time-plain': () => plant(schemas?.['Timestamp'], { pattern: '^[0-9]{4}-[0-9TZ:.-]+$' }),
      'contract/no-multiple-of': () => plant(schemas?.['Price'], { multipleOf: 0.01 }),
      'contract/link-without-body': () => plant(link, { requestBody: { price: 5 } }),
      'contract/enum-values-own': () => plant(schemas?.['DisabledReason'], { enum: ['gone', 'expired'] }),
    };
    for (const fault of Object.values(faults)) fault();
    const file = `${t.testdir()}/openapi.json`;
    await writeFile(file, JSON.stringify(planted));
    const found = (await lint(file))
      .map(({ ruleId }) => ruleId)
      .filter((rule) => rule.startsWith('contract/'));
    t.strictSame([...new Set(found)].sort(), Object.keys(faults).sort());
  },
);

/** @throws when there is nothing to change */
function plant(schema: Faulty | undefined, fault: object): void {
  if (!schema) throw new Error('there is no such component');
  Object.assign(schema, fault);
}

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
      'owasp:api8:2023-define-error-responses-401',
      'owasp:api8:2023-no-server-http',
      'string-limit',
    ]);
  },
);

t.test('Spectral finds a null that validators of 3.0 do not see', async (t) => {
  const file = `${t.testdir()}/openapi-3.0.json`;
  const broken = async (address: object) => {
    const info = { title: 'T', version: '1' };
    const schemas = { Address: { type: 'object' }, Location: { type: 'object', properties: { address } } };
    await writeFile(file, JSON.stringify({ openapi: '3.0.3', info, paths: {}, components: { schemas } }));
    return (await spectral(file)).includes('nullable-beside-type');
  };
  const allOf = [{ $ref: '#/components/schemas/Address' }];
  t.equal(await broken({ nullable: true, allOf }), true);
  t.equal(await broken({ type: 'object', nullable: true, allOf }), false);
});

t.test('what a pattern may not have is named', async (t) => {
  for (const pattern of [
    '^[A-Za-z0-9_-]+$',
    '^(location|menu|category|item):[1-9][0-9]{0,15}$',
    '^https?://[^/?@#]+([/?][^#]*)?$',
    '^[ !#-\\[\\]-~]*$',
    '^a{2}(b|c)?\\.$',
  ])
    t.equal(notPortable(pattern), undefined, pattern);
  for (const [pattern, reason] of Object.entries({
    '^é$': 'printable ASCII',
    '^[^\\u0000]*$': '',
    '^\\x41$': '\\x4',
    '^\\d+$': '\\d+',
    '^\\w$': '\\w',
    '^.$': '.',
    '^\\p{L}$': '\\p{',
    a$: 'begin',
    '^a': 'end',
    '^a\\$': 'end',
    '^a|b$': 'group',
    '^(?:a)$': '(?:',
    '^(?=a)a$': '(?=',
    '^a+?$': '+?',
    '^a++$': '++',
    '^*$': '*',
    '^(+a)$': '(+',
    '^[a&&b]$': '[a&',
    '^[[:alpha:]]$': '[[:',
    '^[^a]$': 'excludes',
    '^[^a]{3}$': 'excludes',
    '^#{a}$': 'Ruby',
    '^a^$': '^',
    '^(a)\\1$': '\\1',
  }))
    t.ok(notPortable(pattern)?.includes(reason), `${pattern}: ${notPortable(pattern)}`);
});

interface Faulty {
  [key: string]: Faulty;
}
