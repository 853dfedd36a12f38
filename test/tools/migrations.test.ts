/* Runs copies of the project that have a further migration. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import t from 'tap';
import { launch, launchService } from '../../scripts/launch.ts';
import { openDatabase } from '../../src/db/database.ts';
import { eventually } from '../support/eventually.ts';
import { databaseEnvironment, environmentOf, runToEnd, startProcess } from '../support/process.ts';
import { copyOfTheProject } from '../support/project-copy.ts';
import { cloneDatabase } from '../support/service.ts';

t.setTimeout(180_000);

const migrateCommand = [process.execPath, 'scripts/admin.ts', 'migrate'];

t.test('a migration of 11 s succeeds, at a start and by `admin migrate`', async (t) => {
  const copy = copyOfTheProject(t);
  writeFileSync(join(copy, 'src/db/migrations/9001_slow.sql'), 'select pg_sleep(11);\n');
  const [service, command] = await Promise.all([
    databaseEnvironment(t).then((env) => startProcess(t, env, copy)),
    databaseEnvironment(t).then((env) => runToEnd(t, env, migrateCommand, copy)),
  ]);
  t.ok(service.readyAfter > 11_000);
  t.equal(service.printed.stderr, 'menu-management-service: migration 9001_slow has run for 10 s\n');
  t.same(command, {
    ended: 0,
    stdout: '{"applied":["9001_slow"]}\n',
    stderr: 'admin: migration 9001_slow has run for 10 s\n',
  });
});

t.test('kill -9 of the process that migrates: the next one waits, with a line, and takes over', async (t) => {
  const connection = await cloneDatabase(t);
  const env = environmentOf(connection);
  const database = openDatabase(connection, { max: 1 });
  t.teardown(() => database.destroy());
  const copy = copyOfTheProject(t);
  const file = join(copy, 'src/db/migrations/9001_long.sql');
  writeFileSync(file, 'create table long (); select pg_sleep(600);\n');
  const doomed = launch(migrateCommand, env, { directory: copy });
  t.teardown(() => doomed.stop('SIGKILL'));
  await eventually('it migrates', async () => {
    const { rows } = await sql`select from pg_stat_activity
      where datname = current_database() and wait_event = 'PgSleep'`.execute(database);
    return rows.length > 0;
  });

  writeFileSync(file, 'create table long ();\n');
  const next = launchService({ ...env, LOG_LEVEL: 'warn' }, { directory: copy });
  t.teardown(() => next.stop('SIGKILL', 'group'));
  const line = 'menu-management-service: another process migrates the database; waiting for it\n';
  await eventually('the next one waits', async () => next.printed.stderr === line);
  const killed = performance.now();
  await doomed.stop('SIGKILL');
  await next.ready;
  const took = performance.now() - killed;
  t.ok(took < 15_000, `ready ${Math.round(took)} ms later`);
  t.equal(next.printed.stderr, line);
  await sql`select from long`.execute(database);
});
