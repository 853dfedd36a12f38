import * as fs from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { Account } from '../../../src/embedded/programs.ts';

/** The name by which a standby connects to its primary. */
export const standbyName = 'standby';

/**
 * Copies a running server, whose data and socket share a directory, so that the copy starts as its standby. Uses SQL, as
 * the PostgreSQL programs from npm lack pg_basebackup.
 * Source: https://www.postgresql.org/docs/18/continuous-archiving.html, "Making a Base Backup Using the Low Level API".
 */
export async function backUp(
  primary: pg.PoolConfig & { host: string },
  target: string,
  { uid, gid }: Account,
): Promise<void> {
  const client = new pg.Client({ ...primary, ssl: false });
  await client.connect();
  const write = (file: string, text: string) => fs.writeFileSync(join(target, file), text);
  try {
    await client.query("select pg_backup_start('standby', true)");
    copyRunning(primary.host, target);
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
    write('backup_label', rows[0]?.labelfile ?? '');
  } finally {
    await client.end();
  }
  write('standby.signal', '');
  const conninfo = `host=${primary.host} user=${primary.user} application_name=${standbyName}`;
  write('postgresql.auto.conf', `primary_conninfo = '${conninfo}'\n`);
  if (uid !== undefined && gid !== undefined) giveTo(target, uid, gid);
}

/** Files come and go while a server runs; replaying its log makes the copy consistent. */
function copyRunning(from: string, to: string): void {
  fs.mkdirSync(to, { mode: 0o700 });
  for (const entry of fs.readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) copyRunning(source, target);
    else if (entry.isFile() && !isOwn(entry.name)) copyFile(source, target);
  }
}

/** Files that belong to one server only: its process, its socket, its settings. */
function isOwn(file: string): boolean {
  return /^(postmaster\.|\.s\.PGSQL|postgresql\.auto\.conf)/.test(file);
}

function copyFile(source: string, target: string): void {
  try {
    fs.copyFileSync(source, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function giveTo(directory: string, uid: number, gid: number): void {
  fs.chownSync(directory, uid, gid);
  for (const entry of fs.readdirSync(directory, { recursive: true, withFileTypes: true }))
    fs.lchownSync(join(entry.parentPath, entry.name), uid, gid);
}
