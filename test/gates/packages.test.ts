import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import document from '../../generated/openapi.json' with { type: 'json' };
import { root, runToEnd } from '../support/process.ts';
import { type Delivery, startReceiver } from '../support/receiver.ts';
import { startTestService, type TestService } from '../support/service.ts';

const { version } = document.info;
const directory = t.testdir({ out: {}, typescript: { 'package.json': '{ "type": "module" }' }, python: {} });
const out = join(directory, 'out');

t.test('a client can be published as a package, and used from its file', async (t) => {
  const { stdout } = await run(t, ['npm', 'run', '--silent', 'sdk:package', '--', '--out', out]);
  t.match(stdout, `packed typescript ${version} into `);
  t.match(stdout, `packed python ${version} into `);
  t.strictSame(readdirSync(out).sort(), [
    `menu-management-client-${version}.tgz`,
    `menu_management_client-${version}-py3-none-any.whl`,
    `menu_management_client-${version}.tar.gz`,
  ]);
  const service = await startTestService(t, { worker: {} });
  const delivery = await deliveredToggle(t, service);

  await t.test('in TypeScript', async (t) => {
    const folder = join(directory, 'typescript');
    const file = join(out, `menu-management-client-${version}.tgz`);
    const install = ['npm', 'install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
    await run(t, [...install, file, 'standardwebhooks@1.1.1'], { folder });
    const installed = join(folder, 'node_modules/menu-management-client');
    t.match(JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')), {
      version,
      license: 'Apache-2.0',
    });
    t.ok(existsSync(join(installed, 'LICENSE')));
    const [walk = '', receive = ''] = textOfBlocks(readFileSync(join(installed, 'README.md'), 'utf8'), 'ts');
    writeFileSync(join(folder, 'walk.ts'), walk);
    writeFileSync(join(folder, 'receive.ts'), receive);
    const strict = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023'];
    const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')];
    await run(t, [join(root, 'node_modules/.bin/tsc'), ...strict, ...types, 'walk.ts', 'receive.ts'], {
      folder,
    });
    await walks(t, service, [process.execPath, 'walk.ts'], folder);
    const call = `import('./receive.ts').then(({ receive }) =>
      receive(process.env.SECRET, process.env.BODY, JSON.parse(process.env.HEADERS)));`;
    await verifies(t, delivery, [process.execPath, '--eval', call], folder);
  });

  await t.test('in Python', async (t) => {
    const folder = join(directory, 'python');
    const python = join(folder, '.venv/bin/python');
    await run(t, ['python3', '-m', 'venv', '.venv'], { folder });
    const install = [python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
    const file = join(out, `menu_management_client-${version}-py3-none-any.whl`);
    await run(t, [...install, file, 'standardwebhooks==1.1.0'], { folder });
    const show = `from importlib.metadata import metadata, files
m = metadata('menu-management-client')
print(m['Version'], m['License-Expression'], *(f.name for f in files('menu-management-client') if 'dist-info' in str(f)))
print(m.get_payload())`;
    const { stdout } = await run(t, [python, '-c', show], { folder });
    t.match(stdout, new RegExp(`^${version} Apache-2.0 .*LICENSE`));
    const [walk = '', receive = ''] = textOfBlocks(stdout, 'python');
    writeFileSync(join(folder, 'walk.py'), walk);
    writeFileSync(join(folder, 'receive.py'), receive);
    const mypy = join(root, '.sdk/package-python/.venv/bin/mypy');
    await run(t, [mypy, '--strict', '--python-executable', python, 'walk.py', 'receive.py'], { folder });
    await walks(t, service, [python, 'walk.py'], folder);
    const call = `import json, os; from receive import receive
receive(os.environ['SECRET'], os.environ['BODY'].encode(), json.loads(os.environ['HEADERS']))`;
    await verifies(t, delivery, [python, '-c', call], folder);
  });
});

t.test('what cannot be packed is told in one line', async (t) => {
  const program = [process.execPath, 'scripts/sdk/packages/main.ts'];
  t.match(await runToEnd(t, {}, [...program, '--help']), { stdout: /^usage: npm run sdk:package/, ended: 0 });
  t.match(await runToEnd(t, {}, [...program, 'pearl']), {
    stderr: /^sdk:package: there is no package pearl; there are typescript, python\n$/,
    ended: 2,
  });
  t.match(await runToEnd(t, {}, [...program, '--fast']), {
    stderr: /^sdk:package: Unknown option '--fast'; see --help\n$/,
    ended: 2,
  });
  t.match(await runToEnd(t, { PATH: '/nowhere' }, [...program, '--out', out]), {
    stdout: '',
    stderr: /^sdk:package: install npm, python3-venv \(Python 3\.11 or newer\)\n$/,
    ended: 1,
  });
});

/** The walk of the README takes the first item off the first menu. */
async function walks(t: Test, { api, url }: TestService, command: string[], folder: string): Promise<void> {
  const [{ menu_id, name }] = (await api.get('/menus')).body.data;
  const path = `/menus/${menu_id}`;
  const item = async () => (await api.get(path)).body.data.categories[0].items[0];
  const before = await item();
  const { client_id, client_secret } = api.credentials;
  const env = { API_URL: `${url}/api/v1`, CLIENT_ID: client_id, CLIENT_SECRET: client_secret };
  const { stdout } = await run(t, command, { folder, env });
  const [first, last] = stdout.trim().split('\n');
  t.match(first, new RegExp(`^${name}: ${before.name} costs ${before.price}(\\.0)?$`));
  t.equal(last, `${before.name} is ${before.is_available ? 'unavailable' : 'available'}`);
  t.equal((await item()).is_available, !before.is_available);
}

type Sent = Delivery & { secret: string };

/** What an endpoint receives when an item is toggled. */
async function deliveredToggle(t: Test, { api }: TestService): Promise<Sent> {
  const receiver = await startReceiver(t);
  const { secret } = (await api.post('/webhooks', { url: receiver.url })).body.data;
  await api.post('/menus/1/items/1/toggle');
  const [delivery] = await receiver.until(1, ({ event }) => event.type === 'item.toggled');
  return { ...(delivery as Delivery), secret };
}

async function verifies(t: Test, sent: Sent, command: string[], folder: string): Promise<void> {
  const env = { SECRET: sent.secret, BODY: sent.body, HEADERS: JSON.stringify(sent.headers) };
  const { name, is_available } = sent.event.data as { name: string; is_available: boolean };
  const { stdout } = await run(t, command, { folder, env });
  t.equal(stdout.trim(), `${name} is ${is_available ? 'available' : 'unavailable'}`);
  const forged = await runToEnd(
    t,
    { ...env, BODY: sent.body.replace('item.toggled', 'item.updated') },
    command,
    folder,
  );
  t.match(forged, { stdout: '', stderr: /WebhookVerificationError/, ended: 1 });
}

/** With all of the environment, which may say how packages are fetched. @throws what it printed, when it fails */
async function run(t: Test, command: string[], { folder = root, env = {} } = {}) {
  const { NODE_OPTIONS: _, ...inherited } = process.env as Record<string, string>;
  const outcome = await runToEnd(t, { ...inherited, PYTHONUTF8: '1', ...env }, command, folder);
  if (outcome.ended !== 0) throw new Error(`${command.join(' ')}\n${outcome.stdout}${outcome.stderr}`);
  return outcome;
}

/** What stands between the fences of a kind, in a document. */
function textOfBlocks(text: string, kind: string): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${kind}\n(.*?)^\`\`\`$`, 'gms'))].map(
    ([, block = '']) => block,
  );
}
