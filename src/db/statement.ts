import { createHash } from 'node:crypto';
import {
  type Compilable,
  CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  sql,
} from 'kysely';
import type { DB } from '../../generated/database.ts';
import type { Database } from './database.ts';

/** The builder that statements are written with; it compiles and never connects. */
export const build = new Kysely<DB>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

/** Refers to a value that is given at each execution, cast to the given SQL type: `p('item_id', 'bigint')`. */
export type Param<Values> = <K extends keyof Values & string>(name: K, type: string) => RawBuilder<Values[K]>;

/**
 * Compiles a query once, at module load, into a statement that is prepared once per connection.
 * @param write gets `p`, which stands for the values of one execution.
 * @returns a function from the database (or a transaction) and the values to the rows.
 */
export function statement<Values extends object, Row>(
  write: (p: Param<Values>) => Compilable<Row>,
): (database: Database, values: Values) => Promise<Row[]> {
  const p: Param<Values> = (name, type) => sql`${new Placeholder(name)}::${sql.raw(type)}`;
  const { sql: text, parameters } = write(p).compile();
  names.set(text, `s${createHash('sha1').update(text).digest('hex').slice(0, 20)}`);

  return async (database, values) => {
    const bound = parameters.map((one) =>
      one instanceof Placeholder ? values[one.name as keyof Values] : one,
    );
    const { rows } = await database.executeQuery(CompiledQuery.raw(text, bound));
    return rows as Row[];
  };
}

/** True for the texts of `statement`, of which there is a fixed number; others must stay unnamed. */
export function isNamed(text: string): boolean {
  return names.has(text);
}

export function statementName(text: string): string | undefined {
  return names.get(text);
}

const names = new Map<string, string>();

class Placeholder {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}
