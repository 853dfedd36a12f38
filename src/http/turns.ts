/**
 * Limits how many calls of each client are performed at a time in this process; the others wait for their turn, in
 * order of arrival. Meant for heavy reads, so that no client's reads occupy all connections to the database.
 */
export function createTurns(most: number): <T>(clientId: string, perform: () => Promise<T>) => Promise<T> {
  const queues = new Map<string, { performed: number; waiting: (() => void)[] }>();

  return async (clientId, perform) => {
    const queue = queues.get(clientId) ?? { performed: 0, waiting: [] };
    queues.set(clientId, queue);
    if (queue.performed < most) queue.performed += 1;
    else await new Promise<void>((resolve) => queue.waiting.push(resolve));
    try {
      return await perform();
    } finally {
      const next = queue.waiting.shift();
      // The next call takes the place of the one that has ended.
      if (next) next();
      else queue.performed -= 1;
      if (queue.performed === 0) queues.delete(clientId);
    }
  };
}
