/**
 * Shifts the clock that the code of this process sees. `performance` and timers are not affected.
 * @returns a function that resets it
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
