import { setImmediate } from 'node:timers/promises';

const sliceMs = 10;

let sliceEnd = 0;
let nextSlice: Promise<void> | undefined;

/**
 * Does work that may take long for each of a list, in order. Other calls get their turn in between: all such work
 * together has one slice of each turn of the event loop, however many calls it is for.
 * @returns what the work gives
 */
export async function inSlices<T, Result>(list: readonly T[], work: (one: T) => Result): Promise<Result[]> {
  const results: Result[] = [];
  for (const one of list) {
    while (performance.now() >= sliceEnd) {
      nextSlice ??= beginSlice();
      await nextSlice;
    }
    results.push(work(one));
  }
  return results;
}

async function beginSlice(): Promise<void> {
  await setImmediate();
  nextSlice = undefined;
  sliceEnd = performance.now() + sliceMs;
}
