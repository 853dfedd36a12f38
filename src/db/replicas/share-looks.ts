/**
 * One query for all callers at the same time. Each gets the result of a query that began after it asked, so that the
 * result includes whatever it saw before; at most one query is running and one waiting.
 */
export function shareLooks<T>(look: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const begin = () => {
    const begun = look().finally(() => {
      if (running === begun) running = undefined;
    });
    running = begun;
    return begun;
  };
  return () => {
    if (!running) return begin();
    next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined;
        return begin();
      });
    return next;
  };
}
