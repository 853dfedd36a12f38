import { LogController } from 'fastify';
import { destination } from 'pino';

/**
 * How a server logs: JSON lines on standard output, written in bulk, since a system call for each response would cost
 * more than the line itself. Lines appear within 50 ms, errors at once, and none is lost at an exit; a killed process
 * may lose its last ones. A slow reader of the log delays nothing: beyond 16 MB, lines are dropped.
 */
export function logging(level: string) {
  return {
    logger: {
      level,
      base: { service: 'menu-management-service' },
      stream: { write: writeLine },
      hooks: { logMethod },
    },
    logController: new LogController({ disableRequestLogging: true }),
  };
}

const errorLevel = 50;

// biome-ignore lint/suspicious/noExplicitAny: pino's own signature
function logMethod(this: unknown, line: any, log: (...line: any) => void, level: number): void {
  log.apply(this, line);
  if (level >= errorLevel) output().flush();
}

// As bytes, which its types do not mention: waiting text would be measured again with each line.
function writeLine(line: string): void {
  output().write(Buffer.from(line) as unknown as string);
}

let opened: ReturnType<typeof destination> | undefined;

// One for the process, however many servers it has.
function output(): ReturnType<typeof destination> {
  opened ??= destination({
    contentMode: 'buffer',
    sync: false,
    minLength: 64 * 1024,
    maxWrite: 128 * 1024,
    maxLength: 16 * 1024 * 1024,
    periodicFlush: 50,
  });
  return opened;
}
