import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type FileEnd, readFileEnd } from './protocol.ts';

/** What came of a test file. */
export interface FileResult extends FileEnd {
  file: string;
  seconds: number;
  /** What it reported, as TAP. */
  report: string;
}

export interface PoolOptions {
  processes: number;
  env: NodeJS.ProcessEnv;
  /** A process that is silent about its file for longer is killed. */
  patienceSeconds: number;
  /** Stops the run. */
  signal: AbortSignal;
}

/**
 * Runs test files in a few processes, each of which takes the next file when it has finished one. A process takes no
 * other after one that has failed, so that what a file breaks, hangs or ends is told of that file alone.
 */
export async function runFiles(
  files: readonly string[],
  options: PoolOptions,
  ended: (result: FileResult) => void,
): Promise<void> {
  const queue = [...files];
  const takeFromQueue = async () => {
    let running: TestProcess | undefined;
    for (let file = queue.shift(); file && !options.signal.aborted; file = queue.shift()) {
      running ??= startProcess(options);
      const result = await running.run(file);
      ended(result);
      if (result.failed > 0) {
        await running.stop();
        running = undefined;
      }
    }
    await running?.stop();
  };
  await Promise.all(Array.from({ length: options.processes }, takeFromQueue));
}

interface TestProcess {
  run(file: string): Promise<FileResult>;
  stop(): Promise<void>;
}

const program = fileURLToPath(new URL('process.ts', import.meta.url));

function startProcess({ env, patienceSeconds, signal }: PoolOptions): TestProcess {
  const child = spawn(process.execPath, [program], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const kill = () => child.kill('SIGKILL');
  signal.addEventListener('abort', kill);
  const exit = once(child, 'exit').then(async ([status, signal]) => {
    // What it has printed comes first, but something it has started may keep the pipe open.
    await Promise.race([once(child, 'close'), pause(1_000)]);
    return `its process ended with ${signal ?? status}`;
  });
  child.stdin.on('error', () => {});
  let heard: (line: string) => void = () => {};
  createInterface(child.stdout).on('line', (line) => heard(line));

  return {
    async run(file) {
      const started = performance.now();
      const report: string[] = [];
      const told = new Promise<FileEnd>((resolve) => {
        heard = (line) => {
          const end = readFileEnd(line);
          if (end) resolve(end);
          else report.push(line);
        };
      });
      child.stdin.write(`${file}\n`);
      const timer = setTimeout(kill, patienceSeconds * 1_000);
      const outcome = await Promise.race([told, exit]);
      clearTimeout(timer);
      const seconds = (performance.now() - started) / 1_000;
      if (typeof outcome === 'object') return { file, ...outcome, seconds, report: report.join('\n') };
      return { file, passed: 0, failed: 1, seconds, report: [...report, outcome].join('\n') };
    },
    async stop() {
      child.stdin.end();
      const timer = setTimeout(kill, 5_000);
      await exit;
      clearTimeout(timer);
      signal.removeEventListener('abort', kill);
    },
  };
}
