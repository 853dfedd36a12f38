import { cp, glob, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Client, Explained, Loose } from '../client.ts';
import { type CommandResult, runCommand } from './command.ts';
import { expectation } from './expectation.ts';
import type { Service } from './service.ts';

export interface Outcome {
  name: string;
  /** Empty when the client passed. */
  faults: string[];
  /** What the tools printed, where that tells more than the faults. */
  output: string;
}

export interface Options {
  /** The client's folder. */
  source: string;
  /** A copy of it, where the client is generated and built. */
  work: string;
  service: Service;
  /** Folder of the documents to read in place of the published ones. */
  documents: string | undefined;
  say(line: string): void;
  /** Show what the tools print. */
  verbose: boolean;
  signal: AbortSignal;
}

const toolPatience = 15 * 60_000;
const scenarioPatience = 2 * 60_000;

/**
 * Generates the client, builds it, looks for loose types, and runs its scenario on an account of its own.
 * @throws only when it is interrupted
 */
export async function checkClient(client: Client, options: Options): Promise<Outcome> {
  const started = performance.now();
  const { name } = client;
  const outcome = await check(client, options).catch(
    (error: Error): Outcome => ({ name, faults: [error.message], output: '' }),
  );
  options.signal.throwIfAborted();
  const verdict = outcome.faults.length === 0 ? 'passed' : 'FAILED';
  options.say(`${verdict} after ${Math.round((performance.now() - started) / 1_000)} s`);
  return outcome;
}

async function check(client: Client, options: Options): Promise<Outcome> {
  const { name } = client;
  const { work, service } = options;
  await prepare(client, options);
  const printed: string[] = [];
  const warned: string[] = [];
  const run = async (command: string[], env: Record<string, string>, patience: number) => {
    const result = await runStep(command, env, patience, options);
    printed.push(result.output);
    warned.push(...unexplained(`${result.stdout}\n${result.stderr}`, client.explained ?? []));
    return result;
  };
  const failed = (faults: string[]): Outcome => ({ name, faults, output: printed.join('') });

  for (const command of [...client.generate, ...client.build]) {
    const { fault } = await run(command, {}, toolPatience);
    if (fault) return failed([fault]);
  }
  return inTurn(async () => {
    const account = await service.newAccount(name);
    const env = {
      API_URL: `${service.origin}/api/v1`,
      CLIENT_ID: account.client_id,
      CLIENT_SECRET: account.client_secret,
      WEBHOOK_URL: `http://127.0.0.1:4000/${name}`,
    };
    const judge = await expectation(account.api, env.CLIENT_ID, env.WEBHOOK_URL);
    const { fault, stdout } = await run(client.run, env, scenarioPatience);
    if (fault) return failed([fault]);
    const faults = [
      ...warned.map((line) => `an unexplained warning: ${line}`),
      ...(await looseTypes(work, client.loose)),
      ...(await judge(stdout)),
    ];
    return { name, faults, output: '' };
  });
}

let turn: Promise<unknown> = Promise.resolve();

/** Only one account is written to at a time: the feed holds an event back while any older write is open. */
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const mine = turn.then(work);
  turn = mine.catch(() => {});
  return mine;
}

async function prepare(client: Client, { source, work, service, documents }: Options): Promise<void> {
  await copyClient({ source, work, keep: client.keep });
  const name = client.edition === '3.1' ? 'openapi.json' : 'openapi-3.0.json';
  if (documents) return cp(join(documents, name), join(work, 'openapi.json'));
  const response = await fetch(`${service.origin}/${name}`);
  if (!response.ok) throw new Error(`/${name} returned ${response.status}`);
  await writeFile(join(work, 'openapi.json'), await response.text());
}

/**
 * Copies a client's folder, but for its `client.ts`. Of what was there before stays what `keep` names: a generator that
 * no longer writes a file must not find the one of its last run.
 */
export async function copyClient({ source, work, keep }: { source: string; work: string; keep: string[] }) {
  await mkdir(work, { recursive: true });
  for (const name of await readdir(work)) {
    if (!keep.includes(name)) await rm(join(work, name), { recursive: true, force: true });
  }
  await cp(source, work, { recursive: true, filter: (file) => basename(file) !== 'client.ts' });
}

/** What is installed in the work folder, then the machine's. */
export function toolPath(work: string): string {
  return [join(work, 'node_modules/.bin'), join(work, '.venv/bin'), process.env['PATH']].join(':');
}

async function runStep(
  command: string[],
  env: Record<string, string>,
  patience: number,
  { work, say, verbose, signal }: Options,
): Promise<CommandResult> {
  const line = command.join(' ');
  say(line.length > 100 ? `${line.slice(0, 99)}…` : line);
  const PATH = toolPath(work);
  const result = await runCommand(command, { cwd: work, env: { ...env, PATH }, patience, signal });
  if (verbose) for (const one of result.output.trimEnd().split('\n')) say(`| ${one}`);
  return result;
}

/** Lines that warn, or speak of an error of a tool that succeeded, and that no one has explained. */
function unexplained(output: string, explained: Explained[]): string[] {
  const lines = output.split('\n').filter((line) => /warn|deprecat|^\[error\]/i.test(line));
  return [...new Set(lines)].filter((line) => !explained.some((one) => one.line.test(line)));
}

/** Lines of generated code that should not be there, and exceptions that no line needs any more. */
async function looseTypes(work: string, { files, pattern, allowed = [] }: Loose): Promise<string[]> {
  const faults: string[] = [];
  const needed = new Set<Explained>();
  let seen = 0;
  const all = glob('**/*', { cwd: work, exclude: (name) => /^(node_modules|\.venv)$/.test(basename(name)) });
  for await (const file of all) {
    if (!files.test(file)) continue;
    seen++;
    const lines = (await readFile(join(work, file), 'utf8')).split('\n');
    for (const [place, line] of lines.entries()) {
      if (!pattern.test(line)) continue;
      const exception = allowed.find((one) => one.line.test(line));
      if (exception) needed.add(exception);
      else faults.push(`${file}:${place + 1} should not be generated: ${line.trim()}`);
    }
  }
  if (seen === 0) return [`no generated file matches ${files}`];
  const idle = allowed.filter((one) => !needed.has(one));
  return [...faults, ...idle.map(({ line }) => `no line needs the exception ${line}`)];
}
