/** A planted bug, to be preloaded: one of fifty changes has no event. */
import pg from 'pg';

const query = pg.Client.prototype.query as (...args: unknown[]) => unknown;
pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
  const [statement, ...rest] = args;
  const { text } = statement as { text?: string };
  if (text === undefined) return query.apply(this, args);
  const from = 'unnest(event_types) as event_type';
  const planted = { ...(statement as object), text: text.replace(from, `${from} where random() > 0.02`) };
  return query.call(this, planted, ...rest);
} as typeof pg.Client.prototype.query;
