import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryExecutorProvider,
  type RawBuilder,
  type RootOperationNode,
  sql,
} from 'kysely';
import type { DB } from '../../generated/database.ts';
import { type Database, rowsOf } from './database.ts';
import { nameStatement } from './statement-names.ts';

/**
 * Refers to a value that is given at each execution, cast to the given SQL type: `p('item_id', 'bigint')`. However
 * often a statement refers to a value, it is bound once.
 */
export type Param<Values> = <K extends keyof Values & string>(name: K, type: string) => RawBuilder<Values[K]>;

/** Executes a prepared statement on the database, or in a transaction, and returns its rows. */
export type Statement<Values, Row> = (database: Database, values: Values) => Promise<Row[]>;

/** A query of Kysely, or raw SQL. */
export type Query<Row> = { compile(provider: QueryExecutorProvider): CompiledQuery<Row> };

/** A statement as generated/statements.sql shows it. */
export interface StatementText {
  /** Feature and operation, such as items.toggleItem; also the name under which it is prepared. */
  name: string;
  text: string;
  /** In the order of $1, $2, … */
  parameters: { name: string; type: string }[];
  /** Values whose conditions are left out when they are absent; `text` has all conditions. */
  filters: readonly string[];
  /** The text with the conditions of only these filters. */
  textWith: (wanted: readonly string[]) => string;
}

/**
 * Makes a query a statement that is prepared once per connection. It is compiled at its first execution: all of them
 * together would add 50 ms to the start of every process.
 * @param name feature and operation; unique among the statements.
 * @param write gets `p`, which stands for the values of one execution.
 */
export function statement<Values extends object, Row>(
  name: string,
  write: (p: Param<Values>) => Query<Row>,
): Statement<Values, Row> {
  register(name, [], () => compile(name, write));
  let execute: Statement<Values, Row> | undefined;
  return (database, values) => {
    execute ??= execution(compile(name, write));
    return execute(database, values);
  };
}

/**
 * A statement with optional conditions. Each set of filters that callers use is a prepared statement of its own, so
 * that the planner sees the conditions that apply and no others.
 * @param filters names of values; `write` gets those that are not undefined, and leaves the other conditions out.
 */
export function filteredStatement<Values extends object, Row, Filter extends keyof Values & string>(
  name: string,
  filters: readonly Filter[],
  write: (p: Param<Required<Values>>, present: readonly Filter[]) => Query<Row>,
): Statement<Values, Row> {
  const compileWith = (name: string, wanted: readonly string[]) => {
    const present = filters.filter((filter) => wanted.includes(filter));
    return compile<Required<Values>>(name, (p) => write(p, present));
  };
  register(name, filters, (wanted) => compileWith(name, wanted));
  const variants = new Map<string, Statement<Values, Row>>();
  return (database, values) => {
    const present = filters.filter((filter) => values[filter] !== undefined);
    // A digit for each filter: PostgreSQL tells prepared statements apart by the first 63 bytes of their names.
    const variantName = `${name}/${filters.map((filter) => (present.includes(filter) ? 1 : 0)).join('')}`;
    let variant = variants.get(variantName);
    if (!variant) {
      variant = execution(compileWith(variantName, present));
      variants.set(variantName, variant);
    }
    return variant(database, values);
  };
}

/** Every statement of the modules that are loaded. */
export function statementTexts(): StatementText[] {
  return [...registered].map(([name, { filters, compileWith }]) => {
    const { text, parameters } = compileWith(filters);
    return {
      name,
      text,
      parameters: parameters.map(({ name, type }) => ({ name, type })),
      filters,
      textWith: (wanted) => compileWith(wanted).text,
    };
  });
}

interface Registered {
  filters: readonly string[];
  compileWith: (wanted: readonly string[]) => Compiled;
}

const registered = new Map<string, Registered>();

interface Compiled {
  name: string;
  text: string;
  parameters: readonly Placeholder[];
}

function register(name: string, filters: readonly string[], compileWith: Registered['compileWith']): void {
  if (registered.has(name)) throw new Error(`there are two statements named ${name}`);
  registered.set(name, { filters, compileWith });
}

function compile<Values extends object>(name: string, write: (p: Param<Values>) => Query<unknown>): Compiled {
  const p: Param<Values> = (name, type) => sql`${new Placeholder(name, type)}::${sql.raw(type)}`;
  const { sql: text, parameters } = write(p).compile(build);
  return { name, text, parameters: parameters as Placeholder[] };
}

function execution<Values extends object, Row>({ name, text, parameters }: Compiled): Statement<Values, Row> {
  const order = parameters.map((parameter) => parameter.name as keyof Values);
  nameStatement(text, name);
  const valuesOf = (values: Values) => order.map((name) => values[name]);
  return (database, values) => rowsOf<Row>(database, text, valuesOf(values));
}

class Placeholder {
  readonly name: string;
  readonly type: string;
  constructor(name: string, type: string) {
    this.name = name;
    this.type = type;
  }
}

/**
 * Gives every name one `$n`, where Kysely's own compiler would bind a value again at each mention, and puts constants
 * into the text, where the planner sees them.
 */
class NamedParameterCompiler extends PostgresQueryCompiler {
  #places = new Map<string, string>();

  override compileQuery(node: RootOperationNode, queryId: { readonly queryId: string }): CompiledQuery {
    this.#places = new Map();
    return super.compileQuery(node, queryId);
  }

  protected override appendValue(parameter: unknown): void {
    const isNamed = parameter instanceof Placeholder;
    const place = isNamed && this.#places.get(parameter.name);
    if (place) {
      this.append(place);
    } else if (isNamed) {
      super.appendValue(parameter);
      this.#places.set(parameter.name, this.getCurrentParameterPlaceholder());
    } else {
      this.appendImmediateValue(parameter);
    }
  }
}

/** The builder that statements are written with; it only compiles and never connects. */
export const build = new Kysely<DB>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new NamedParameterCompiler(),
  },
});
