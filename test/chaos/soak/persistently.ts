import { isUnavailable } from '../../../src/db/unavailable.ts';
import { eventually } from '../../support/eventually.ts';

/**
 * Does something on a Postgres for which a day may have just passed: while it is busy with that, connections that are
 * silent for long are given up, and the work is done anew.
 * @throws what the work throws for another reason; after a minute, naming what was awaited and what was in the way.
 */
export async function persistently<T>(what: string, work: () => Promise<T>): Promise<T> {
  let mishap = '';
  const { result } = await eventually(
    () => `${what}: ${mishap}`,
    () =>
      work().then(
        (result) => ({ result }),
        (error) => {
          if (!isUnavailable(error) && !/timeout expired/.test((error as Error).message)) throw error;
          mishap = String(error);
          return null;
        },
      ),
  );
  return result;
}
