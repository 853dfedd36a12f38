import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { blocksRunBy } from '../docs/blocks.ts';
import { root } from '../support/process.ts';

/*
 * The way of an operation out of the contract, on a copy of the project: deprecated, generated, served, released,
 * removed. No operation of the contract itself is deprecated.
 */
const copy = await mkdtemp(join(tmpdir(), 'deprecation-test-'));
t.teardown(() => rm(copy, { recursive: true, force: true }));
for (const part of [
  'openapi',
  'generated',
  'src',
  'scripts',
  'test/support',
  'package.json',
  'CHANGELOG.md',
]) {
  await cp(join(root, part), join(copy, part), { recursive: true });
}
await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));

const items = 'openapi/paths/items.yaml';
// As CONTRIBUTING.md shows it, without the note on when the lint fails.
const [operationId, ...lines] = blocksRunBy(import.meta.url)
  .flatMap(({ text }) => text.split('\n'))
  .map((line) => `  ${line.replace(/ +#.*/, '')}\n`);
const notice = lines.join('');
await edit(items, '  operationId: listItems\n', `${operationId}${notice}`);

t.test('whoever deprecates an operation must say since when, until when, and where to read on', async (t) => {
  t.strictSame(await lint(), []);
  const faults = [
    ['menus.yaml', 'listMenus', notice.replace('  deprecated: true\n', '')],
    ['menu.yaml', 'getMenu', '  deprecated: true\n'],
    ['location.yaml', 'getLocation', notice.replace('    since: 2027-01-01\n', '')],
    ['locations.yaml', 'listLocations', notice.replace('2027-07-01', 'soon')],
    ['item.yaml', 'getItem', notice.replace('2027-07-01', '2027-06-29')],
    ['event.yaml', 'getEvent', notice.replace('https://docs', 'docs')],
  ] as const;
  const named = (id: string) => `  operationId: ${id}\n`;
  for (const [file, id, fault] of faults) await edit(`openapi/paths/${file}`, named(id), named(id) + fault);
  t.strictSame(
    (await lint()).sort(),
    faults.map(([file]) => `contract/operation-deprecation-dated in ${file}`).sort(),
  );
  for (const [file, id, fault] of faults) await edit(`openapi/paths/${file}`, named(id) + fault, named(id));
});

t.test('each response of a deprecated operation says so, and the contract declares that', async (t) => {
  t.equal((await node('scripts/generate.ts')).ended, 0);
  const support: typeof import('../support/service.ts') = await import(join(copy, 'test/support/service.ts'));
  // The copy's clients hold every answer against the copy's contract, where these headers are required.
  const { url, api, client } = await support.startTestService(t, { rateLimitPerMinute: 8 });
  const headers = {
    deprecation: '@1798761600',
    sunset: 'Thu, 01 Jul 2027 00:00:00 GMT',
    link: '<https://docs.example.com/menus/list-items>; rel="deprecation"',
  };

  const page = await api.get('/menus/1/items?limit=1');
  t.match(page.headers, { deprecation: headers.deprecation, sunset: headers.sunset });
  t.match(
    page.headers['link'],
    /^<\/api\/v1\/menus\/1\/items\?limit=1&cursor=[^>]+>; rel="next", <https:[^>]+>; rel="deprecation"$/,
  );
  t.match(await api.get('/menus/1/items?limit=1000'), { status: 200, headers });
  t.match(await api.get('/menus/1/items?limit=0'), { status: 422, headers });
  t.match(await api.get('/menus/999999/items'), { status: 404, headers });
  t.match(await api.get('/menus/1/items', { token: null }), { status: 401, headers });
  const other = await client({ scopes: ['webhooks:manage'] });
  t.match(await other.get('/menus/1/items'), { status: 403, headers });

  for (const { headers } of [await api.get('/menus/1/items/1'), await api.get('/menus?limit=1')]) {
    t.notOk('deprecation' in headers || 'sunset' in headers || /deprecation/.test(`${headers['link']}`));
  }
  await Promise.all([1, 2, 3].map(() => api.get('/menus/1')));
  t.match(await api.get('/menus/1/items'), { status: 429, headers });

  const published = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: Published };
  const operation = published.paths['/menus/{menu_id}/items']?.['get'];
  t.equal(operation?.deprecated, true);
  for (const [status, response] of Object.entries(operation?.responses ?? {})) {
    t.match(
      response.headers,
      { Deprecation: { required: true }, Sunset: { required: true }, Link: {} },
      status,
    );
  }
});

type Published = Record<
  string,
  Record<string, { deprecated?: boolean; responses: Record<string, { headers: object }> }>
>;

t.test('a release requires the version and the changelog entry that its changes call for', async (t) => {
  // What the copy says today is its first release.
  await edit(items, notice, '');
  await rm(join(copy, 'openapi/released.json'));
  t.match(await node('scripts/breaking.ts'), {
    ended: 2,
    stderr: 'breaking: nothing is released yet: node scripts/breaking.ts --release\n',
  });
  t.match(await node('scripts/breaking.ts', '--release'), { ended: 0 });
  const first = await readFile(join(copy, 'openapi/released.json'), 'utf8');
  const { version } = JSON.parse(first).info;
  const [major, minor] = version.split('.').map(Number);

  await edit(items, '  operationId: listItems\n', `  operationId: listItems\n${notice}`);
  t.match(await node('scripts/breaking.ts'), {
    ended: 0,
    stdout: /raise it to \d+\.\d+\.0 before the release\n$/,
  });
  t.match(await node('scripts/breaking.ts', '--release'), {
    ended: 1,
    stderr: 'breaking: a release needs the version that its changes require\n',
  });
  const next = `${major}.${minor + 1}.0`;
  await edit('openapi/openapi.yaml', `  version: ${version}\n`, `  version: ${next}\n`);
  t.match(await node('scripts/breaking.ts', '--release'), {
    ended: 1,
    stderr: `breaking: CHANGELOG.md has no entry for the release: ## ${next}\n`,
  });
  t.equal(await readFile(join(copy, 'openapi/released.json'), 'utf8'), first, 'a refusal changes nothing');
  await edit(
    'CHANGELOG.md',
    `## ${version}`,
    `## ${next}\n\n- \`listItems\` is deprecated.\n\n## ${version}`,
  );
  t.match(await node('scripts/breaking.ts', '--release'), {
    ended: 0,
    stdout: `openapi/released.json is ${next} now\n`,
  });
  await node('scripts/generate.ts');
  t.equal(
    await readFile(join(copy, 'openapi/released.json'), 'utf8'),
    await readFile(join(copy, 'generated/openapi.json'), 'utf8'),
  );

  const yaml = await readFile(join(copy, items), 'utf8');
  await writeFile(join(copy, items), yaml.slice(yaml.indexOf('\npost:') + 1));
  t.match(await node('scripts/breaking.ts'), {
    ended: 1,
    stdout: /^operation-removed: GET \/menus\/{menu_id}\/items \(listItems\): /m,
  });
});

/** Replaces what a file of the copy says once. */
async function edit(file: string, from: string, to: string): Promise<void> {
  const text = await readFile(join(copy, file), 'utf8');
  if (!text.includes(from)) throw new Error(`${file} does not say ${from}`);
  await writeFile(
    join(copy, file),
    text.replace(from, () => to),
  );
}

/** The rules that the copy's contract breaks, and the file each time. */
async function lint(): Promise<string[]> {
  const config = 'scripts/lint-contract/redocly.yaml';
  const redocly = ['node_modules/.bin/redocly', 'lint', 'openapi/openapi.yaml', '--config', config];
  const { stdout } = await node(...redocly, '--format', 'json');
  const { problems } = JSON.parse(stdout) as { problems: Problem[] };
  return problems.map(({ ruleId, location: [at] }) => `${ruleId} in ${basename(at.source.ref)}`);
}

interface Problem {
  ruleId: string;
  location: [{ source: { ref: string } }];
}

/** Runs a script of the copy to its end. */
async function node(...args: string[]) {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  try {
    const options = { cwd: copy, env, maxBuffer: 64 << 20 };
    return { ended: 0, ...(await promisify(execFile)(process.execPath, args, options)) };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { ended: code, stdout, stderr };
  }
}
