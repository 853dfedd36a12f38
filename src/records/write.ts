/**
 * The typed write: a change of records, the events it fires, the menus it touches and what the caller is shown, as
 * one prepared statement. None of them can be without the others, and a new write cannot forget one.
 *
 *   with changed as (insert, update or delete … returning …change(…)),
 *     recorded as (insert into event … from changed),
 *     touched as (update menu set content_version = … from changed)
 *   select … from changed
 *
 * Every write locks in one order, so that none waits for another in a circle: categories, items, menus, each by id.
 */
import { type AliasedRawBuilder, type OperationNodeSource, type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import { type AnyJson, columns, type Json, jsonObject, rfc3339 } from '../db/json.ts';
import { type Param, type Query, type Statement, statement } from '../db/statement.ts';
import type { RecordKind } from './record-kind.ts';

export type EventType = components['schemas']['EventType'];

/** One changed record, as the insert, update or delete returns it. */
export interface ChangeRow<T> {
  account_id: number;
  location_id: number;
  menu_id: number | null;
  /** 'item:17'; events of one record keep their order. */
  record: string;
  /** One event is recorded for each. */
  event_types: EventType[];
  /** The record as the API shows it now, or as it last did. */
  resource: Json<T>;
  /** Old values of the changed fields; null when the record is new or gone. */
  previous: AnyJson | null;
}

/** A change of whichever kind of record. */
type AnyChange = Omit<ChangeRow<never>, 'resource'> & { resource: AnyJson };

/** The values that every write takes. */
export interface Written {
  /** The request that writes; null when none did. */
  request_id: string | null;
}

type ChangeColumns<T> = {
  [C in keyof ChangeRow<T>]: AliasedRawBuilder<ChangeRow<T>[C], C>;
}[keyof ChangeRow<T>][];

/** One type, or an expression for those of each row. */
export type EventTypes = EventType | RawBuilder<EventType[]>;

export interface ChangeOptions {
  /** The old values; absent when the record is new or gone. */
  previous?: RawBuilder<AnyJson | null>;
  /** 'old' when the records are deleted. */
  row?: 'new' | 'old';
}

/** The columns that a change returns. */
export function change<T>(
  kind: Pick<RecordKind<never, T>, 'table' | 'json'>,
  eventTypes: EventTypes,
  { previous, row = 'new' }: ChangeOptions = {},
): ChangeColumns<T> {
  const record = columns(kind.table as 'item', row);
  const change: { [C in keyof ChangeRow<T>]: RawBuilder<ChangeRow<T>[C]> } = {
    account_id: record.account_id,
    location_id: record.location_id,
    menu_id: kind.table === 'location' ? sql`null::bigint` : record.menu_id,
    record: sql`${sql.lit(`${kind.table}:`)} || ${sql.ref(`${row}.${kind.table}_id`)}`,
    event_types: typeof eventTypes === 'string' ? sql`array[${sql.lit(eventTypes)}]` : eventTypes,
    resource: kind.json(row),
    previous: previous ?? sql`null::json`,
  };
  return Object.entries<RawBuilder<unknown>>(change).map(([name, value]) =>
    value.as(name),
  ) as unknown as ChangeColumns<T>;
}

/** The `previous` of an update: the old values of the fields that differ. */
export function changedFields({
  json,
}: {
  json(row: string): RawBuilder<AnyJson>;
}): RawBuilder<AnyJson | null> {
  return sql`changed_fields(${json('old')}, ${json('new')})`;
}

/** An insert, update or delete that returns `change(…)` and whatever else it wants shown. */
export type Changing<Row> = Query<Row> & OperationNodeSource;

/** Columns with their names, for a `returning` of raw SQL. */
export function list(columns: readonly AliasedRawBuilder<unknown, string>[]): RawBuilder<unknown> {
  return sql.join(columns.map((column) => sql`${column}`));
}

/** The SQL of a write, from top to bottom. */
interface WriteParts<Row> {
  /** CTEs that the change refers to, with their names. */
  before?: RawBuilder<unknown>;
  /** The change, or several of different kinds that are one write. */
  change: OperationNodeSource | OperationNodeSource[];
  /** False for writes of menus, which raise their own content_version. */
  touchesMenu?: boolean;
  /** A select; `changed` has the changed rows. */
  response: RawBuilder<Row>;
}

/**
 * A write as a prepared statement.
 * @param shown columns of the changed rows that the statement gives back.
 */
export function write<Values extends Written, Row extends AnyChange, Shown extends keyof Row & string>(
  name: string,
  change: (p: Param<Values>) => Changing<Row> | Changing<Row>[],
  shown: readonly Shown[],
  options: Pick<WriteParts<Row>, 'touchesMenu'> = {},
): Statement<Values, Pick<Row, Shown>> {
  const columns = shown.map((column) => sql.ref(column));
  const response = sql<Pick<Row, Shown>>`select ${sql.join(columns)} from changed`;
  return writeOf(name, (p: Param<Values>) => ({ change: change(p), response, ...options }));
}

/** A write whose response is more than its changed rows. */
export function writeOf<Values extends Written, Row>(
  name: string,
  parts: (p: Param<Values>) => WriteParts<Row>,
): Statement<Values, Row> {
  return statement<Values, Row>(name, (p) => {
    const { before, change, touchesMenu = true, response } = parts(p);
    const steps = [
      ...(before ? [before] : []),
      ...changedRows([change].flat()),
      sql`recorded as (${recordEvents(p)})`,
      ...(touchesMenu ? [sql`touched as (${touchMenus})`] : []),
    ];
    return sql<Row>`with ${sql.join(steps)} ${response}`;
  });
}

/** The CTE `changed`, and those that it unites. */
function changedRows(changes: OperationNodeSource[]): RawBuilder<unknown>[] {
  if (changes.length === 1) return changes.map((one) => sql`changed as (${one})`);
  const names = changes.map((_, index) => sql.ref(`change_${index + 1}`));
  return [
    ...changes.map((one, index) => sql`${names[index]} as (${one})`),
    sql`changed as (${sql.join(
      names.map((name) => sql`select * from ${name}`),
      sql` union all `,
    )})`,
  ];
}

function recordEvents(p: Param<Written>): RawBuilder<unknown> {
  return sql`
    insert into event (event_id, account_id, type, record, location_id, menu_id, payload)
    select event_id, account_id, event_type, record, location_id, menu_id, ${payload(p)}
    from (select uuidv7() as event_id, * from changed, unnest(event_types) as event_type) as change`;
}

// The bytes that are signed and sent are the bytes stored here.
function payload(p: Param<Written>): RawBuilder<AnyJson> {
  const field = <T>(name: string) => sql.ref<T>(`change.${name}`);
  return jsonObject<EventPayload>({
    id: sql<string>`event_id_text(${field('event_id')})`,
    type: field<EventType>('event_type'),
    timestamp: rfc3339(sql<Date>`clock_timestamp()`),
    location_id: field<number>('location_id'),
    menu_id: field<number | null>('menu_id'),
    data: field<Json<object>>('resource'),
    previous: field<Json<object | null>>('previous'),
    request_id: p('request_id', 'text'),
  });
}

interface EventPayload {
  id: string;
  type: EventType;
  timestamp: string;
  location_id: number;
  menu_id: number | null;
  data: object;
  previous: object | null;
  request_id: string | null;
}

/*
 * Marks the menus as changed inside. The arrays are complete, and with them every change, before the first menu is
 * locked. A menu is locked by its update alone: `for no key update` first would follow newer versions of the row while
 * it queues at the older one, where the update itself must pass once more.
 */
const touchMenus = sql`
  update menu set content_version = content_version + 1
  where menu_id = any (array(select menu_id from changed))
    and account_id = any (array(select account_id from changed))`;
