/**
 * Runs the delete of a record with everything in it. What is put into the record after the statement has begun is
 * not in its snapshot; a foreign key then refuses the whole delete, and the next run sees it. Nobody can put
 * anything into a record whose row is locked, so each run needs only that nothing comes in while it waits.
 */
export async function deleteWhole<Row>(run: () => Promise<Row[]>): Promise<Row[]> {
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if ((error as { code?: string }).code !== foreignKeyViolation) throw error;
    }
  }
}

const foreignKeyViolation = '23503';
