import { execFile, spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import ts from 'typescript';
import { startTestService } from '../support/service.ts';

const read = async (name: string) =>
  JSON.parse(await readFile(new URL(`../../generated/${name}`, import.meta.url), 'utf8'));
const [bundle, samples] = await Promise.all([read('openapi.json'), read('code-samples.json')]);
const service = await startTestService(t);
const directory = t.testdir({});
const environment = {
  ...process.env,
  API: `${service.url}/api/v1`,
  ACCESS_TOKEN: await service.api.token(),
  // A module of Go's standard library alone is looked for nowhere.
  GOFLAGS: '-mod=mod',
  GO111MODULE: 'off',
};

interface Language {
  label: string;
  /** The file that a program is written to. */
  file: (operationId: string) => string;
  run: [string, ...string[]];
  /** Why it cannot be run here; CI has to have the tool, and fails without. */
  missing: string | false;
}

const lacks = (command: string, ...args: string[]) =>
  !process.env['CI'] && spawnSync(command, args).status !== 0
    ? `there is no ${[command, ...args].join(' ')} here`
    : false;

const languages: Language[] = [
  { label: 'curl', file: (id) => `${id}.sh`, run: ['bash'], missing: lacks('curl', '--version') },
  { label: 'TypeScript', file: (id) => `${id}.ts`, run: [process.execPath], missing: false },
  {
    label: 'Python',
    file: (id) => `${id}.py`,
    run: ['python3'],
    missing: lacks('python3', '-c', 'import requests'),
  },
  { label: 'Go', file: (id) => `${id}.go`, run: ['go', 'run'], missing: lacks('go', 'version') },
  {
    label: 'Java',
    file: (id) => `${id.charAt(0).toUpperCase()}${id.slice(1)}.java`,
    run: ['java'],
    missing: lacks('javac', '--version'),
  },
];

const ids = Object.values<Record<string, { operationId: string }>>(bundle.paths).flatMap((path) =>
  Object.values(path).map(({ operationId }) => operationId),
);

t.test('every operation has a sample in each language', async (t) => {
  t.strictSame(Object.keys(samples), ids);
  for (const id of ids) {
    t.strictSame(
      samples[id].map(({ label }: { label: string }) => label),
      languages.map(({ label }) => label),
      id,
    );
  }
});

t.test('each sample is a complete program in its language', async (t) => {
  const files = async (label: string) => {
    const language = languages.find((one) => one.label === label) as Language;
    return Promise.all(ids.map((id) => write(language, id)));
  };
  for (const file of await files('curl')) t.equal(await passes(['bash', '-n', file]), '', file);
  t.equal(await passes(['python3', '-m', 'py_compile', ...(await files('Python'))]), '');
  for (const id of ids) {
    const { diagnostics } = ts.transpileModule(sourceOf('TypeScript', id), { reportDiagnostics: true });
    t.strictSame(diagnostics, [], id);
  }
  await t.test('Go', { skip: lacks('gofmt', '-h') && lacks('go', 'version') }, async (t) => {
    t.equal(await passes(['gofmt', '-l', ...(await files('Go'))]), '', 'formatted as Go is');
  });
  await t.test('Java', { skip: lacks('javac', '--version') }, async (t) => {
    t.equal(await passes(['javac', '-d', join(directory, 'classes'), ...(await files('Java'))]), '');
  });
});

for (const language of languages) {
  const title = `the samples in ${language.label} do in the demo account what they say`;
  t.test(title, { skip: language.missing }, async (t) => {
    const run = async (id: string) => passes([...language.run, await write(language, id)]);
    const path = '/menus/1/items/1';
    const item = async () => (await service.api.get(path)).body.data;
    const before = await item();
    t.match(await run('getItem'), before.name, 'reads');
    t.match(await run('priceSelection'), /\Wproblems\W*: *\[\]/, 'selects what the item offers');
    await run('toggleItem');
    t.equal((await item()).is_available, !before.is_available, 'writes');
    await service.api.put(path, { price: 1 });
    await run('updateItem');
    t.match(samples.updateItem[0].source, `"price": ${(await item()).price}`, 'sends a body');
  });
}

/** Of the samples that do not succeed in the demo account as they are, the status. */
const others: Record<string, number> = {
  // The reader's own credentials and token.
  issueToken: 401,
  revokeToken: 401,
  // They would have to name the whole menu.
  importMenu: 422,
  reorderMenu: 422,
  // Nothing has been sent yet, and nobody knows the id of an event beforehand.
  getDelivery: 404,
  retryDelivery: 404,
  getEvent: 404,
  // It has menus left.
  deleteLocation: 409,
};

t.test(
  'the samples name records that the demo account has',
  { skip: lacks('curl', '--version') },
  async (t) => {
    const { url, api } = await startTestService(t);
    await writeFile(join(directory, '.curlrc'), 'silent\nwrite-out = " %{http_code}"\n');
    const env = {
      ...environment,
      API: `${url}/api/v1`,
      ACCESS_TOKEN: await api.token(),
      CURL_HOME: directory,
    };
    const isDelete = (id: string) => id.startsWith('delete');
    // What lies within something is deleted before it.
    for (const id of [...ids.filter((id) => !isDelete(id)), ...ids.filter(isDelete).reverse()]) {
      const { stdout } = await promisify(execFile)('bash', ['-c', sourceOf('curl', id)], { env });
      const status = Number(stdout.slice(-3));
      if (others[id]) t.equal(status, others[id], id);
      else t.ok(status >= 200 && status < 300, `${id}: ${stdout}`);
    }
  },
);

function sourceOf(label: string, id: string): string {
  return samples[id].find((sample: { label: string }) => sample.label === label).source;
}

async function write({ label, file }: Language, id: string): Promise<string> {
  const folder = join(directory, label);
  await mkdir(folder, { recursive: true });
  const path = join(folder, file(id));
  await writeFile(path, `${sourceOf(label, id)}\n`);
  return path;
}

/** Off this thread, which serves the requests. @returns what it printed; throws where it failed */
async function passes([command, ...args]: [string, ...string[]]): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, { env: environment });
  return stdout;
}
