import { spawn } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';

export interface CommandResult {
  stdout: string;
  stderr: string;
  /** Standard output and error, as they came. */
  output: string;
  /** Why it did not succeed. */
  fault?: string;
}

/** Runs a command to its end, without colours and without asking anything. */
export async function runCommand(
  command: string[],
  options: { cwd: string; env: Record<string, string>; patience: number; signal: AbortSignal },
): Promise<CommandResult> {
  const [program = '', ...args] = command;
  const { cwd, signal, patience } = options;
  const child = spawn(program, args, {
    cwd,
    signal: AbortSignal.any([signal, AbortSignal.timeout(patience)]),
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1', ...options.env },
  });
  let stdout = '';
  let stderr = '';
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
    output += text;
  });
  const fault = await new Promise<string | undefined>((resolve) => {
    child.on('error', (error) => {
      const late = error.name === 'AbortError' && !signal.aborted;
      resolve(late ? `was stopped after ${patience / 60_000} minutes` : error.message);
    });
    child.on('close', (code, ended) =>
      resolve(code === 0 ? undefined : `ended with ${ended ?? `status ${code}`}`),
    );
  });
  return {
    stdout: stripVTControlCharacters(stdout),
    stderr: stripVTControlCharacters(stderr),
    output: stripVTControlCharacters(output),
    ...(fault && { fault: `${command.join(' ')} ${fault}` }),
  };
}
