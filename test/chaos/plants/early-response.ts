/** A planted bug, to be preloaded: a change made by one statement is acknowledged a second before its commit. */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

const lateMs = 1_000;
const commits = new WeakMap<object, Promise<unknown>>();

const query = pg.Client.prototype.query as (...args: unknown[]) => Promise<unknown>;
pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
  const [statement] = args as [string | { text: string }];
  const text = typeof statement === 'string' ? statement : statement.text;
  if (!text.includes('insert into event') || this.getTransactionStatus() !== 'I')
    return query.apply(this, args);
  query.call(this, 'begin').catch(() => {});
  const result = query.apply(this, args);
  const commit = result.then(() => pause(lateMs)).then(() => query.call(this, 'commit'));
  commits.set(
    this,
    commit.catch(() => {}),
  );
  return result;
} as typeof pg.Client.prototype.query;

const connect = pg.Pool.prototype.connect as () => Promise<pg.PoolClient>;
pg.Pool.prototype.connect = async function (this: pg.Pool) {
  const client = await connect.call(this);
  const { release } = client;
  client.release = (error) => {
    const commit = commits.get(client);
    commits.delete(client);
    if (commit) commit.then(() => release(error));
    else release(error);
  };
  return client;
} as typeof pg.Pool.prototype.connect;
