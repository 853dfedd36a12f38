import pg from 'pg';
import { buildApp } from '../../../src/app.ts';
import { openDatabase } from '../../../src/db/database.ts';
import { createSeal } from '../../../src/db/seal.ts';
import { createSender } from '../../../src/webhooks/delivery/deliver.ts';
import { createDestination } from '../../../src/webhooks/delivery/destination.ts';
import type { Call } from './http-load.ts';
import type { BenchServer } from './server.ts';

/** A statement as the driver sent it; without a name it is parsed each time. */
export interface Statement {
  name?: string;
  text: string;
  /** Absent: the simple protocol, as for `begin`. */
  values?: unknown[];
}

/**
 * Makes each call once, in sequence, and records what the driver sends for it: names, texts and values of the
 * operation's statements. Leaves out what only the first call needs, such as looking up the caller, who is then cached
 * for a second.
 */
export async function captureStatements(
  { connection, encryptionKey }: BenchServer,
  token: string,
  targets: readonly (readonly Call[])[],
): Promise<Statement[][][]> {
  const database = openDatabase(connection, { max: 1 });
  const destination = createDestination({ allowedNetworks: [] });
  const app = await buildApp(
    { rateLimitPerMinute: 1_000_000_000, logLevel: 'silent' },
    {
      database,
      destination,
      seal: createSeal(encryptionKey),
      send: createSender({ destination, userAgent: 'bench' }),
      afterWrite: () => {},
    },
  );
  const make = async ({ method, path, json, headers, status = 200 }: Call) => {
    const answer = await app.inject({
      method,
      url: `/api/v1${path}`,
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(json && { payload: json }),
    });
    if (answer.statusCode !== status) throw new Error(`${method} ${path} returned ${answer.body}`);
  };
  try {
    const probe: Call = { method: 'GET', path: '/locations' };
    const cold = await watch(() => make(probe));
    const warm = new Set((await watch(() => make(probe))).map(({ text }) => text));
    const callers = new Set(cold.map(({ text }) => text).filter((text) => !warm.has(text)));

    const captured: Statement[][][] = [];
    for (const variants of targets) {
      const calls: Statement[][] = [];
      for (const call of variants) {
        const statements = await watch(() => make(call));
        calls.push(statements.filter(({ text }) => !callers.has(text)));
      }
      captured.push(calls);
    }
    return captured;
  } finally {
    await app.close();
    await destination.close();
    await database.destroy();
  }
}

/** The statements that any connection of this process sends while `work` runs. */
async function watch(work: () => Promise<void>): Promise<Statement[]> {
  const seen: Statement[] = [];
  const original = pg.Client.prototype.query;
  // biome-ignore lint/suspicious/noExplicitAny: stands in for all of pg's overloads
  pg.Client.prototype.query = function (this: pg.Client, config: any, values?: any, callback?: any): any {
    const { name, text, values: own = values } = typeof config === 'string' ? { text: config } : config;
    // The driver chooses between its protocols by the same rule.
    const extended = name !== undefined || own?.length > 0;
    seen.push({ text, ...(name && { name }), ...(extended && { values: own ?? [] }) });
    return Reflect.apply(original, this, [config, values, callback]);
  };
  try {
    await work();
  } finally {
    pg.Client.prototype.query = original;
  }
  return seen;
}
