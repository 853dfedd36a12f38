/**
 * Shifts the clock of this process, as its own code sees it. The zero of `performance` and timers stay.
 * @returns a function that puts it right again
 */
export function shiftClock(offsetMs: number): () => void {
  const right = globalThis.Date;
  const { now } = right;
  globalThis.Date = class extends Date {
    constructor(...args: unknown[]) {
      if (args.length === 0) super(now() + offsetMs);
      else super(...(args as [number]));
    }
    static override now(): number {
      return now() + offsetMs;
    }
  } as DateConstructor;
  return () => {
    globalThis.Date = right;
  };
}
