import { setTimeout as pause } from 'node:timers/promises';

/** Waits until the look gives a value that is neither undefined nor false. @throws after ten seconds */
export async function until<T>(
  look: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  const end = performance.now() + 10_000;
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    if (performance.now() > end) throw new Error('what was waited for did not come');
    await pause(10);
  }
}
