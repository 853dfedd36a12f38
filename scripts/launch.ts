/** Launches programs of the project, the service first of all, each as a process of its own, for scripts and tests. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ready } from '../src/process/greeting.ts';
import { root } from './generate/tool.ts';

/** What a program printed and how it ended. */
export interface Outcome {
  stdout: string;
  stderr: string;
  /** Exit status, or the signal that ended it. */
  ended: number | NodeJS.Signals;
}

/** A program that was started. */
export interface Program {
  pid: number;
  /** What it has printed so far. */
  printed: { readonly stdout: string; readonly stderr: string };
  /** Resolves at its end. */
  outcome: Promise<Outcome>;
  /** Sends the signal to the program alone, or as Ctrl-C does to its whole process group; waits for the end. */
  stop(signal?: NodeJS.Signals, to?: 'program' | 'group'): Promise<Outcome>;
}

export interface LaunchOptions {
  /** Where it runs, and of the service also whose; the root of the project unless given. */
  directory?: string;
  /** A file that takes all it prints, in place of memory: cheap when it logs every request. */
  log?: string;
}

export interface Service extends Program {
  /**
   * What it tells as soon as it serves.
   * @throws what it printed, when it ends before; the cause is its Outcome.
   */
  ready: Promise<Ready>;
}

/**
 * Launches the service, on any free port unless PORT is set. It ends with this process at the latest.
 * @param env its settings; none are taken over from whoever launches it.
 */
export function launchService(env: Record<string, string>, options: LaunchOptions = {}): Service {
  const main = join(options.directory ?? root, 'src/main.ts');
  const program = launch([process.execPath, main], { PORT: '0', ...env }, options);
  const end = () => void program.stop();
  process.once('exit', end);
  const forget = () => process.off('exit', end);
  program.outcome.then(forget, forget);
  const ready = untilReady(program);
  // Whoever does not wait for it learns of the end by its outcome.
  ready.catch(() => {});
  return { ...program, ready };
}

async function untilReady({ printed, outcome }: Program): Promise<Ready> {
  let ended: Outcome | undefined;
  const end = outcome.then((result) => {
    ended = result;
  });
  for (;;) {
    const line = printed.stdout.split('\n').find((text) => /^\{.*"msg":"ready".*\}$/.test(text));
    if (line) return JSON.parse(line);
    if (ended) {
      throw new Error(`the service did not start: ${(ended.stderr || ended.stdout).trim()}`, {
        cause: ended,
      });
    }
    await Promise.race([sleep(10), end]);
  }
}

/**
 * Launches any program in a process group of its own, as a shell does: Ctrl-C is then for the launching script alone.
 * @param env its environment beside what every program needs. NODE_OPTIONS is left out: tap's are for test files.
 */
export function launch(
  [program = '', ...args]: string[],
  env: Record<string, string>,
  { directory = root, log }: LaunchOptions = {},
): Program {
  const file = log === undefined ? undefined : openSync(log, 'w');
  const child = spawn(program, args, {
    cwd: directory,
    detached: true,
    stdio: ['ignore', file ?? 'pipe', file ?? 'pipe'],
    env: { ...inherited(), ...env },
  });
  if (file !== undefined) closeSync(file);
  const memory = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (text) => (memory.stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text) => (memory.stderr += text));
  const printed = {
    get stdout() {
      return log === undefined ? memory.stdout : readFileSync(log, 'utf8');
    },
    get stderr() {
      return memory.stderr;
    },
  };
  const outcome = once(child, 'close').then(
    ([status, signal]): Outcome => ({
      stdout: printed.stdout,
      stderr: printed.stderr,
      ended: status ?? signal,
    }),
  );
  const pid = child.pid as number;
  return {
    pid,
    printed,
    outcome,
    async stop(signal = 'SIGTERM', to = 'program') {
      if (child.exitCode === null && child.signalCode === null) {
        process.kill(to === 'group' ? -pid : pid, signal);
      }
      return outcome;
    },
  };
}

function inherited(): Record<string, string> {
  const names = ['PATH', 'HOME', 'TMPDIR', 'NODE_COMPILE_CACHE'];
  return Object.fromEntries(
    names.map((name) => [name, process.env[name] ?? '']).filter(([, value]) => value),
  );
}

/** Credentials of a client. */
export interface Credentials {
  client_id: string;
  client_secret: string;
}

/**
 * Makes a client with all scopes, and its account when it is new, as an operator does.
 * @param env that of the service.
 */
export async function createClient(env: Record<string, string>, account: string): Promise<Credentials> {
  const command = [process.execPath, `${root}scripts/admin.ts`, 'create-client', '--account', account];
  const { stdout, stderr, ended } = await launch(command, env).outcome;
  if (ended !== 0) throw new Error(stderr.trim());
  const { client_id, client_secret } = JSON.parse(stdout);
  return { client_id, client_secret };
}

/** The client of the demo account that a service has loaded. @throws when it has loaded none */
export function demoClient({ demo_client }: Ready): Credentials {
  if (demo_client === undefined) throw new Error('the service has loaded no demo account');
  const { client_id, client_secret } = JSON.parse(readFileSync(demo_client, 'utf8'));
  return { client_id, client_secret };
}

/** An access token for the client, as the service at that address gives it. @throws when it gives none */
export async function fetchToken(
  address: string,
  { client_id, client_secret }: Credentials,
): Promise<string> {
  const response = await fetch(`${address}/api/v1/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret }),
  });
  if (!response.ok) throw new Error(`no token: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { access_token: string }).access_token;
}
