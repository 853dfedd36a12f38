/** No connection was available, or one was given up because the server was silent; the cause says what happened. */
export class DatabaseUnavailable extends Error {
  constructor(cause: unknown) {
    // A name with several addresses fails once for each.
    const [first = cause] = (cause as AggregateError).errors ?? [];
    super((first as Error).message, { cause });
  }
}

/** The other statements of the same client occupy its part of the connections; nothing is wrong with the database. */
export class ShareTaken extends Error {
  constructor() {
    super('the client occupies its part of the connections');
  }
}

/** Whether an error says that the database cannot serve now, and nothing is wrong with the request. */
export function isUnavailable(thrown: unknown): boolean {
  if (thrown instanceof DatabaseUnavailable) return true;
  const { code = '', message = '' } = thrown as { code?: string; message?: string };
  return sqlStates.test(code) || systemErrors.test(code) || brokenConnections.test(message);
}

/** Whether an error says that the database responds but writes nothing: it is read-only, or its disk is full. */
export function refusesWrites(thrown: unknown): boolean {
  return /^(25006|53100)$/.test((thrown as { code?: string }).code ?? '');
}

const undone = new WeakSet<object>();

/**
 * Whether an error says that its statement has certainly changed nothing: the server reported it before it reported
 * that the statement was complete, and it commits only after that.
 */
export function isUndone(thrown: unknown): boolean {
  return undone.has(thrown as object);
}

/** Marks an error as one of that kind. */
export function noteUndone(error: object): void {
  undone.add(error);
}

// Classes 08 (connection), 25 (state of the transaction, so another's), 28 and 3D000 (not let in), 53 (resources),
// 57 (shutdown, time-out) and 58 (system); conflicts worth a retry; a prepared statement of another session.
const sqlStates = /^(08|25|28|53|57|58)...$|^(3D000|26000|40001|40P01|55P03)$/;
const systemErrors = /^(ECONN|EPIPE|ENOTFOUND|ENOENT|EAI_AGAIN|ETIMEDOUT|EHOST|ENET)/;
const brokenConnections = /Connection terminated|not queryable|connection has been discarded/;
