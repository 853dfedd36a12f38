import { sql } from 'kysely';
import t from 'tap';
import { openDatabase } from '../../src/db/database.ts';
import { admin, done } from '../support/admin.ts';
import { createApi } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import {
  databaseEnvironment,
  dataDirectory,
  postgresOf,
  runToEnd,
  startProcess,
} from '../support/process.ts';

t.setTimeout(120_000);

t.test('on the embedded default it works with and without a running service', async (t) => {
  const env = { DATA_DIR: dataDirectory(t) };
  const command = 'npm run --silent admin -- create-client --account Acme'.split(' ');
  const made = await runToEnd(t, env, command);
  const stderr = `admin: DATA_DIR ${env.DATA_DIR} had no database, so this is a new one\n`;
  t.match(made, { ended: 0, stderr, stdout: /^{.*}\n$/ });
  const first = JSON.parse(made.stdout);
  t.same(Object.keys(first), ['account_id', 'client_id', 'client_secret', 'scopes']);
  t.same(first.scopes, ['menus:read', 'menus:write', 'availability:write', 'webhooks:manage']);
  t.same(postgresOf(env.DATA_DIR), [], 'the server it started for itself is gone');

  const service = await startProcess(t, env);
  t.match(service.greeting, 'create-client --account NAME', 'there is no demo client to show');
  const second = await done(t, env, 'create-client', '--account', 'Acme', '--scopes', 'menus:read');
  t.equal(second.account_id, first.account_id, 'the account is there already');
  t.same(second.scopes, ['menus:read']);
  const [api, reader] = [first, second].map((client) => createApi(service.url, client));
  t.equal((await api?.get('/webhooks'))?.status, 200);
  t.equal((await reader?.get('/menus'))?.status, 200);
  t.equal((await reader?.get('/webhooks'))?.status, 403);

  const { client_id } = first;
  t.same(await done(t, env, 'disable-client', client_id), { client_id, disabled: true });
  await eventually('its token is refused', async () => (await api?.get('/webhooks'))?.status === 401);
  const listed = await done(t, env, 'list-clients');
  t.match(listed, [
    { account: 'Acme', client_id, locations: null, disabled_at: String },
    { account: 'Acme', client_id: second.client_id, locations: null, disabled_at: null },
  ]);
  t.notMatch(JSON.stringify(listed), /secret|mss_/);
  t.equal((await service.stop('SIGTERM')).ended, 0);
});

t.test('with DATABASE_URL it works on that database', async (t) => {
  const env = await databaseEnvironment(t);
  t.same(await done(t, env, 'migrate'), { applied: [] });
  const client = await done(t, env, 'create-client', '--account', ' Demo ', '--locations', '2,1,2');
  t.same(client.locations, [2, 1]);
  const listed = await done(t, env, 'list-clients', '--account', 'Demo');
  t.match(listed.at(-1), { client_id: client.client_id, locations: [2, 1] });
  t.same(await done(t, env, 'list-clients', '--account', 'nobody'), []);
  const { epoch } = await done(t, env, 'new-epoch');
  t.ok((await done(t, env, 'new-epoch')).epoch > epoch);
});

t.test('migrate and load-demo bring an empty database up', async (t) => {
  const env = { DATA_DIR: dataDirectory(t) };
  const migrated = await admin(t, env, 'migrate');
  t.match(migrated.stderr, 'this is a new one');
  t.equal(JSON.parse(migrated.stdout).applied[0], '0001_accounts');
  t.same(await done(t, env, 'migrate'), { applied: [] });
  const demo = await done(t, env, 'load-demo');
  t.match(demo, { client_id: String, client_secret: String, menu_id: Number, item_id: Number });
  const again = await admin(t, env, 'load-demo');
  t.equal(again.ended, 1);
  t.match(again.stderr, /^admin: the demo account is loaded already: create-client --account Demo [^\n]+\n$/);
});

t.test('with DATABASE_URL a demo account is loaded, and a secret shown, only on request', async (t) => {
  const env = await databaseEnvironment(t);
  const database = openDatabase({ connectionString: env.DATABASE_URL }, { max: 1 });
  t.teardown(() => database.destroy());
  await sql`truncate account cascade`.execute(database);
  const service = await startProcess(t, { ...env, DATA_DIR: dataDirectory(t) });
  t.same(await database.selectFrom('account').selectAll().execute(), []);
  t.notMatch(service.printed.stdout, /secret|mss_|demo client/);
  t.match(service.greeting, 'admin -- load-demo');

  const demo = await done(t, env, 'load-demo');
  const api = createApi(service.url, demo);
  const toggled = await api.post(`/menus/${demo.menu_id}/items/${demo.item_id}/toggle`);
  t.match(toggled.body.data, { item_id: demo.item_id, is_available: false });
  const outcome = await service.stop('SIGTERM');
  t.equal(outcome.ended, 0);
  t.notMatch(outcome.stdout, demo.client_secret);
});

t.test('--help says how to use it', async (t) => {
  const { stdout, stderr, ended } = await admin(t, {}, 'create-client', '--help');
  t.equal(ended, 0);
  t.equal(stderr, '');
  for (const word of [
    'create-client',
    'list-clients',
    'list-webhooks',
    'update-client',
    'rotate-client-secret',
    'disable-client',
    'enable-client',
    'rotate-signing-key',
    'rekey',
    'migrate',
    'new-epoch',
    'load-demo',
    'menus:write',
  ])
    t.match(stdout, word);
});

const wrong: [string[], RegExp][] = [
  [[], /name a command; see --help/],
  [['make-client'], /there is no command make-client; see --help/],
  [['create-client', '--account', 'A', '--scope', 'menus:read'], /Unknown option '--scope'; see --help/],
  [
    ['create-client', '--account', 'A', '--scopes', 'menus:all'],
    /no scope "menus:all"; --scopes takes menus:read,/,
  ],
  [
    ['create-client', '--account', 'A', '--client', 'a:b'],
    /--client takes letters, digits, dots, .* not "a:b"/,
  ],
  [['create-client', '--account', 'A', '--locations', ''], /--locations takes ids such as 1,2, not ""/],
  [['update-client', 'client_0'], /update-client needs --scopes or --locations/],
  [
    ['update-client', 'client_0', '--scopes', 'menus:all'],
    /no scope "menus:all"; --scopes takes menus:read,/,
  ],
  [
    ['update-client', 'client_0', '--locations', 'some'],
    /--locations takes ids such as 1,2, not "some", or all/,
  ],
  [
    ['rotate-client-secret', 'client_0', '--overlap', '1y'],
    /--overlap takes a time such as 24h, 30m or 0, .*"1y"/,
  ],
  [['rotate-client-secret', 'client_0', '--overlap', '31d'], /--overlap takes .* at most 30d, not "31d"/],
  [['rotate-client-secret'], /rotate-client-secret needs a CLIENT_ID; see list-clients/],
  [['rotate-signing-key', '--overlap', '0'], /rotate-signing-key takes no --overlap; see --help/],
  [['disable-client'], /disable-client needs a CLIENT_ID; see list-clients/],
  [['disable-client', 'one', 'two'], /disable-client takes no argument "two"; see --help/],
];

t.test('a wrong command line gets one line that names the fix, and status 2', async (t) => {
  for (const [args, message] of wrong) {
    const outcome = await admin(t, { DATA_DIR: '/nonexistent' }, ...args);
    t.equal(outcome.ended, 2, args.join(' '));
    t.equal(outcome.stdout, '');
    t.match(outcome.stderr, /^admin: [^\n]+\n$/);
    t.match(outcome.stderr, message);
  }
});

t.test('a command that cannot be carried out gets one line, and status 1', async (t) => {
  const env = await databaseEnvironment(t);
  const refused: [Record<string, string>, string[], RegExp][] = [
    [env, ['disable-client', 'client_0'], /there is no client client_0; see list-clients/],
    [env, ['enable-client', 'client_0'], /there is no client client_0; see list-clients/],
    [env, ['rotate-client-secret', 'client_0'], /there is no client client_0; see list-clients/],
    [env, ['update-client', 'client_0', '--scopes', 'menus:read'], /there is no client client_0; see list/],
    [
      env,
      ['create-client', '--account', 'Demo', '--locations', '1,99'],
      /account Demo has no location 99: create/,
    ],
    [env, ['create-client', '--account', 'New', '--locations', '1'], /account New has no location 1: create/],
    [{ PORT: 'x' }, ['list-clients'], /PORT must be a whole number/],
    [
      { DATABASE_URL: 'postgres://127.0.0.1:1/x' },
      ['list-clients'],
      /DATABASE_URL points to no usable database/,
    ],
  ];
  for (const [env, args, message] of refused) {
    const outcome = await admin(t, env, ...args);
    t.equal(outcome.ended, 1, args.join(' '));
    t.equal(outcome.stdout, '');
    t.match(outcome.stderr, /^admin: [^\n]+\n$/);
    t.match(outcome.stderr, message);
  }
  t.same(await done(t, env, 'list-clients', '--account', 'New'), [], 'no account was made on the way');
});
