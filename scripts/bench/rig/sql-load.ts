import { answer } from './child.ts';
import { closedLoop, type Round, type Sample } from './closed-loop.ts';
import { execution, openWire, type Statement } from './wire.ts';

export interface SqlRound extends Round {
  server: { host: string; port: number; user: string; database: string };
  /** For each target and variant the statements of one call. Sent once; later rounds without them repeat it. */
  targets?: Statement[][][];
}

let named = new Map<string, Statement>();
let messages: Buffer[][][] = [];

answer<SqlRound, Sample>(async ({ server, targets, ...round }) => {
  if (targets) {
    named = new Map(targets.flat(2).map((statement) => [statement.name ?? '', statement]));
    messages = targets.map((variants) => variants.map((statements) => statements.map(execution)));
  }
  const connections = await Promise.all(Array.from({ length: round.connections }, () => openWire(server)));
  try {
    await Promise.all(connections.map((connection) => connection.prepare(named.values())));
    return await closedLoop(
      round,
      messages.map((variants) => variants.length),
      (connection, target, variant) =>
        (connections[connection] as (typeof connections)[0]).execute(messages[target]?.[variant] as Buffer[]),
    );
  } finally {
    for (const connection of connections) connection.close();
  }
});
