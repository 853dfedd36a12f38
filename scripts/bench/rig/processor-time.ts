import { readdirSync, readFileSync } from 'node:fs';

/** Microseconds of processor time that a process has used so far. */
export interface ProcessorTime {
  /** Of all its threads that run. */
  all: number;
  /** Of the first thread, which runs the event loop. */
  eventLoop: number;
}

/** Both are NaN on systems that do not report them, which are all but Linux. */
export function processorTime(pid: number): ProcessorTime {
  const of = (thread: string | number) => {
    try {
      return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ', 1)[0]) / 1_000;
    } catch {
      // The process has ended in the meantime.
      return 0;
    }
  };
  try {
    const all = readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + of(thread), 0);
    return { all, eventLoop: of(pid) };
  } catch {
    return { all: Number.NaN, eventLoop: Number.NaN };
  }
}
