const patienceMs = 15_000;

/**
 * Asks again and again until there is an answer.
 * @returns the first answer that is neither undefined nor false.
 * @throws after 15 seconds, naming what was awaited.
 */
export async function eventually<T>(what: string, ask: () => Promise<T | undefined | false>): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadline) throw new Error(`in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
