import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { blocksRunBy } from '../docs/blocks.ts';
import { startDemoProcess } from '../support/demo-process.ts';
import { eventually } from '../support/eventually.ts';
import { freePort, root } from '../support/process.ts';
import { startReceiver, subscribe } from '../support/receiver.ts';

const skip =
  spawnSync('promtool', ['--version']).error && !process.env['CI']
    ? 'prometheus is not installed here'
    : false;
const rulesFile = join(root, 'docs/monitoring/alerts.yaml');
const testsFile = join(root, 'test/monitoring/alerts.yaml');

interface Rules {
  groups: { rules: { alert: string; expr: string; annotations: { summary: string } }[] }[];
}
const rules = (parse(readFileSync(rulesFile, 'utf8')) as Rules).groups.flatMap((group) => group.rules);

t.test('the alert rules are valid, and do what their unit tests say', { skip }, async (t) => {
  for (const command of [
    ['check', 'rules', rulesFile],
    ['test', 'rules', testsFile],
  ]) {
    const { status, stdout, stderr } = spawnSync('promtool', command, { encoding: 'utf8' });
    t.equal(status, 0, stdout + stderr);
  }
});

t.test('each alert has a unit test in which it fires', async (t) => {
  type Tests = { tests: { alert_rule_test?: { alertname: string; exp_alerts: unknown[] }[] }[] };
  const { tests } = parse(readFileSync(testsFile, 'utf8')) as Tests;
  const fired = tests.flatMap(({ alert_rule_test = [] }) =>
    alert_rule_test.filter((one) => one.exp_alerts.length),
  );
  for (const { alert } of rules)
    t.ok(
      fired.some(({ alertname }) => alertname === alert),
      alert,
    );
});

t.test(
  'a Prometheus that scrapes a service finds all that alerts and dashboard name',
  { skip },
  async (t) => {
    const { service, api } = await startDemoProcess(t, {
      RESPONSE_CHECK_RATE: '1',
      REDIS_URL: `redis://127.0.0.1:${await freePort()}`,
      DATABASE_REPLICA_URL: `postgres://127.0.0.1:${await freePort()}/menus`,
    });
    await subscribe(t, api, await startReceiver(t));
    t.equal((await api.get('/menus')).status, 200);
    const prometheus = await startPrometheus(t, new URL(service.url).host);

    const panels = JSON.parse(readFileSync(join(root, 'docs/monitoring/dashboard.json'), 'utf8')).panels;
    // biome-ignore lint/suspicious/noExplicitAny: the form is that of Grafana
    const shown: string[] = panels.flatMap(({ targets }: any) => targets.map(({ expr }: any) => expr));
    const queries = [...shown, ...rules.map(({ expr }) => expr)].map((expr) =>
      expr.replaceAll('$__rate_interval', '1m'),
    );
    t.ok(shown.length >= 18);
    const selectors = new Set(queries.flatMap(selectorsOf));
    t.ok(selectors.size > 15);
    await eventually('all have been scraped twice', async () => {
      const counts = await prometheus.query('min(count_over_time(up[1h]))');
      return Number(counts[0]?.value[1]) >= 2;
    });
    for (const selector of selectors)
      await eventually(`${selector} is there`, async () => (await prometheus.query(selector)).length > 0);
    for (const query of queries) await t.resolves(prometheus.query(query), query);
    for (const query of shown) {
      const interval = query.replaceAll('$__rate_interval', '1m');
      t.ok((await prometheus.query(interval)).length > 0, `the dashboard shows ${interval}`);
    }
    await eventually('every rule is evaluated', async () => {
      const states = (await prometheus.rules()).map(({ health }) => health);
      return states.length === rules.length && states.every((health) => health === 'ok');
    });
  },
);

/** Of an expression, each series that it names; of its labels only that they are there. */
function selectorsOf(expr: string): string[] {
  const named = expr.matchAll(/\b((?:menus|process|nodejs)_\w+|up\b)(?:\{([^}]*)\})?/g);
  return [...named].map(([, name, labels = '']) => {
    const keys = [...labels.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, key]) => `${key}!=""`);
    return keys.length > 0 ? `${name}{${keys.join(', ')}}` : `${name}`;
  });
}

interface Sample {
  metric: Record<string, string>;
  value: [number, string];
}

/** Runs it with the configuration that docs/operations.md shows; gone when the test ends. */
async function startPrometheus(t: Test, host: string) {
  const directory = mkdtempSync(join(tmpdir(), 'prometheus-'));
  const file = join(directory, 'prometheus.yaml');
  const documented = blocksRunBy(import.meta.url).find(({ kind }) => kind === 'yaml')?.text ?? '';
  const adapted = documented
    .replace('scrape_interval: 15s', 'scrape_interval: 1s')
    .replace('evaluation_interval: 15s', 'evaluation_interval: 1s')
    .replaceAll(/targets: \[.*?\]/g, `targets: ["${host}"]`)
    .replace('/etc/prometheus/alerts.yaml', rulesFile);
  writeFileSync(file, adapted);
  const port = await freePort();
  const options = {
    'config.file': file,
    'storage.tsdb.path': join(directory, 'data'),
    'web.listen-address': `127.0.0.1:${port}`,
  };
  const program = spawn(
    'prometheus',
    Object.entries(options).map(([name, value]) => `--${name}=${value}`),
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let printed = '';
  program.stderr.setEncoding('utf8').on('data', (text) => (printed += text));
  t.teardown(async () => {
    if (program.exitCode === null && program.signalCode === null) {
      program.kill('SIGTERM');
      await once(program, 'exit');
    }
    rmSync(directory, { recursive: true });
  });
  const base = `http://127.0.0.1:${port}`;
  await eventually('Prometheus is ready', async () => {
    if (program.exitCode !== null) throw new Error(printed);
    return fetch(`${base}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
  const ask = async (path: string) => {
    const { status, data, error } = (await (await fetch(`${base}/api/v1/${path}`)).json()) as {
      status: string;
      // biome-ignore lint/suspicious/noExplicitAny: the form is that of Prometheus
      data: any;
      error?: string;
    };
    if (status !== 'success') throw new Error(`${path}: ${error}`);
    return data;
  };
  return {
    query: async (query: string): Promise<Sample[]> =>
      (await ask(`query?query=${encodeURIComponent(query)}`)).result,
    rules: async (): Promise<{ name: string; health: string }[]> =>
      // biome-ignore lint/suspicious/noExplicitAny: the form is that of Prometheus
      (await ask('rules')).groups.flatMap((group: any) => group.rules),
  };
}
