/** Types what a document shows into a bash, and compares what comes back with what the document shows of it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Test } from 'tap';
import type { Account } from '../../src/embedded/programs.ts';
import { eventually } from '../support/eventually.ts';
import type { Block } from './blocks.ts';

/** Why nothing can be typed here, for `skip`. */
export const noTerminal = ['bash', 'curl'].some((program) => spawnSync(program, ['--version']).error)
  ? 'bash or curl is not installed'
  : false;

/** A command, and what the document shows of its output; empty when it shows nothing. */
export interface Command {
  line: string;
  shown: string;
}

/** In `console` what follows `$ `, with its output below; in `sh` every line. A `\` at the end continues a line. */
export function commandsOf({ kind, text }: Block): Command[] {
  const commands: Command[] = [];
  for (const line of text.replaceAll(/\\\n */g, '').split('\n')) {
    const last = commands.at(-1);
    if (kind === 'sh' ? /^[^#\s]/.test(line) : line.startsWith('$ '))
      commands.push({ line: line.replace(/^\$ /, ''), shown: '' });
    else if (last) last.shown += `${line}\n`;
  }
  return commands;
}

export interface Place {
  directory: string;
  env?: Record<string, string>;
  /** Whose shell it is; this process's own unless given. */
  account?: Account;
  /** Changes what is typed and what is expected: to a free port, or to the secret that this run was given. */
  adapt?: (text: string) => string;
}

export interface Terminal {
  /** Runs the command to its end: it must succeed and print what is shown, or no error. @returns what it printed */
  type(command: Command): Promise<string>;
}

/** A bash that keeps its variables from one command to the next. */
export function openTerminal(t: Test, place: Place): Terminal {
  const bash = launch(t, [], place);
  bash.child.stdin?.write('exec 2>&1\n');

  async function run(line: string) {
    const from = bash.printed().length;
    const id = randomUUID();
    bash.child.stdin?.write(`{ ${line}\n} < /dev/null; printf '\\n%s' "${id} $? "\n`);
    const end = new RegExp(`\n${id} (\\d+) `);
    const [mark, status] = await eventually(`the end of: ${line}`, async () =>
      end.exec(bash.printed().slice(from)),
    );
    return { printed: bash.printed().slice(from).split(mark, 1)[0] ?? '', status: Number(status) };
  }

  return {
    async type(command) {
      const { line, shown } = adapted(command, place);
      // An event is in the feed a few milliseconds after its write.
      const outcome = line.includes('/events')
        ? await eventually(`${line} prints ${shown}`, async () => {
            const tried = await run(line);
            return prints(tried.printed, shown) && tried;
          })
        : await run(line);
      t.equal(outcome.status, 0, line);
      t.ok(prints(outcome.printed, shown), `${line} prints what is shown`, {
        shown,
        printed: outcome.printed,
      });
      if (!shown) t.notMatch(outcome.printed, /"urn:menu-management:problem/, `${line} meets no error`);
      return outcome.printed;
    },
  };
}

/** A command that runs until it is stopped. */
export interface Program {
  printed(): string;
  /** Waits until it has printed what is shown. */
  prints(shown: string): Promise<void>;
  /** As Ctrl-C does; resolves when it has ended. */
  stop(): Promise<void>;
}

export function startProgram(t: Test, command: Command, place: Place): Program {
  const { line } = adapted(command, place);
  const { child, printed } = launch(t, ['-c', line], place);
  const ended = once(child, 'close');
  return {
    printed,
    async prints(text) {
      const { shown } = adapted({ line, shown: text }, place);
      await eventually(`${line} prints ${shown}`, async () => prints(printed(), shown));
    },
    async stop() {
      process.kill(-(child.pid as number), 'SIGINT');
      await ended;
    },
  };
}

const secrets = { client_: '[0-9a-f]{24}', mss_: '[\\w-]{43}', whsec_: '[\\w+/=]{44}' };

/** The text with `client_…`, `mss_…` and `whsec_…` as they were printed, where they were. */
export function withSecretsOf(printed: string, text: string): string {
  return text.replaceAll(
    /\b(client_|mss_|whsec_)…/g,
    (word, kind: keyof typeof secrets) => printed.match(kind + secrets[kind])?.[0] ?? word,
  );
}

function adapted({ line, shown }: Command, { adapt = (text) => text }: Place): Command {
  return { line: adapt(line), shown: adapt(shown) };
}

/**
 * Whether the output begins with what is shown: `…` is any text, and neither white space counts nor what no run
 * repeats, which is times of writing and generated ids.
 */
function prints(output: string, shown: string): boolean {
  const literal = condensed(shown).replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return new RegExp(`^${literal.replaceAll('…', '.*?')}`, 's').test(condensed(output));
}

function condensed(text: string): string {
  return text
    .replaceAll(/^\d\d:\d\d:\d\d/gm, '')
    .replaceAll(/\s+/g, '')
    .replaceAll(/(evt|req)_[0-9a-f-]{32,36}/g, '$1_')
    .replaceAll(/("(?:created|updated_at|unavailable_since|timestamp)":|,at)"?\d{4}-[-0-9T:.]+Z?"?/g, '$1');
}

// A process group of its own, as a shell gives one; without the settings of whoever runs the tests, and without the
// hooks that tap puts into every Node below it.
function launch(t: Test, args: string[], { directory, env, account }: Place) {
  const child = spawn('bash', args, {
    ...account,
    cwd: directory,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...inherited(), ...env },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
  t.teardown(() => end(child));
  return { child, printed: () => text };
}

function inherited(): NodeJS.ProcessEnv {
  const names = ['PATH', 'HOME', 'TMPDIR', 'NODE_COMPILE_CACHE'];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'close');
  process.kill(-(child.pid as number), 'SIGKILL');
  await ended;
}
