import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import {
  environment,
  findPrograms,
  openDataDirectory,
  type Programs,
  prepareCluster,
} from '../../../src/embedded/programs.ts';
import { eventually } from '../../support/eventually.ts';
import { childrenOf } from '../../support/process.ts';
import { backUp, standbyName } from './standby.ts';

const settings = {
  listen_addresses: '',
  max_connections: '40',
  max_wal_size: '64MB',
  min_wal_size: '32MB',
  // A crash loses nothing of the page cache; only a power cut would.
  fsync: 'off',
  // In its directory, which is removed; a killed server would leave its files in /dev/shm.
  dynamic_shared_memory_type: 'mmap',
};

/** A Postgres server that the service does not run itself. It can be killed and started again. */
export class Cluster {
  readonly #programs: Programs;
  readonly directory: string;
  readonly #env: Record<string, string>;
  #child: ChildProcess | undefined;

  private constructor(programs: Programs, directory: string, env: Record<string, string> = {}) {
    this.#programs = programs;
    this.#env = env;
    this.directory = directory;
  }

  /**
   * Creates a cluster in a directory that must not exist, without starting it.
   * @param env beside what every Postgres sees of the environment
   */
  static async create(directory: string, env: Record<string, string> = {}): Promise<Cluster> {
    const programs = await findPrograms();
    const cluster = new Cluster(programs, openDataDirectory(directory, programs.account), env);
    await prepareCluster(cluster.directory, programs);
    return cluster;
  }

  get #data(): string {
    return join(this.directory, 'postgres');
  }

  connection(database = 'menus'): pg.PoolConfig & { host: string } {
    return { host: this.#data, port: 5432, user: 'postgres', database };
  }

  /** All its processes, the postmaster first; empty when it does not run. */
  get pids(): number[] {
    const pid = this.#child?.pid;
    return this.isRunning && pid ? [pid, ...childrenOf(pid)] : [];
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Starts it, retrying while remains of its last run shut down; resolves when it accepts connections. */
  async start(): Promise<void> {
    await eventually('Postgres starts', async () => {
      if (!this.isRunning) await this.#spawn();
      return this.#accepts();
    });
  }

  async #spawn(): Promise<void> {
    const all = { ...settings, unix_socket_directories: this.#data };
    const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const log = openSync(join(this.directory, 'postgres.log'), 'a');
    this.#child = spawn(this.#programs.postgres, ['-D', this.#data, ...args], {
      ...this.#programs.account,
      cwd: this.#data,
      env: { ...environment, ...this.#env },
      detached: true,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    await once(this.#child, 'spawn');
    await pause(50);
  }

  async #accepts(): Promise<boolean> {
    return this.query('select 1', 'postgres').then(
      () => true,
      () => false,
    );
  }

  /** kill -9 of all its processes at once. */
  async kill(): Promise<void> {
    const child = this.#child;
    const pids = this.pids;
    for (const pid of pids) signalTo(pid, 'SIGKILL');
    if (pids.length > 0 && child) await ended(child);
  }

  /** kill -9 of the postmaster alone; its children notice and exit. */
  async killPostmaster(): Promise<void> {
    const [postmaster] = this.pids;
    const child = this.#child as ChildProcess;
    if (postmaster) signalTo(postmaster, 'SIGKILL');
    await ended(child);
  }

  signalAll(signal: NodeJS.Signals): void {
    for (const pid of this.pids) signalTo(pid, signal);
  }

  /** Runs a statement on a connection of its own. */
  async query(text: string, database = 'menus'): Promise<pg.QueryResult> {
    const client = new pg.Client({
      ...this.connection(database),
      ssl: false,
      connectionTimeoutMillis: 2_000,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      return await client.query(text);
    } finally {
      await client.end().catch(() => {});
    }
  }

  /** Starts a standby of this server in a directory that must not exist; each commit waits for it. */
  async addStandby(directory: string): Promise<Cluster> {
    const standby = new Cluster(this.#programs, openDataDirectory(directory, this.#programs.account));
    await backUp(this.connection(), standby.#data, this.#programs.account);
    await standby.start();
    await this.#change(`alter system set synchronous_standby_names = '${standbyName}'`);
    await eventually('the standby is synchronous', async () => {
      const { rows } = await this.query("select from pg_stat_replication where sync_state = 'sync'");
      return rows.length > 0;
    });
    return standby;
  }

  /** Promotes it, so that it takes writes. */
  async promote(): Promise<void> {
    await this.query('select pg_promote(true, 60)');
  }

  /** Applies an `alter system` at once. */
  async #change(text: string): Promise<void> {
    await this.query(text);
    await this.query('select pg_reload_conf()');
  }

  async setReadOnly(readOnly: boolean): Promise<void> {
    await this.#change(
      readOnly
        ? 'alter system set default_transaction_read_only = on'
        : 'alter system reset default_transaction_read_only',
    );
  }
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has already ended.
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}
