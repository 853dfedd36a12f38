/**
 * The typed write: a change of records, the events it fires, the menus it touches and what the caller is shown, as
 * one prepared statement. None of them can be without the others, and a new write cannot forget one.
 *
 *   with changed as (insert, update or delete … returning …change(…)),
 *     recorded as (insert into event … from changed), to_relay as (insert into outbox … from recorded),
 *     touched as (update menu set content_version = … from changed)
 *   select … from changed
 *
 * Every write locks in one order, so that none waits for another in a circle: categories, items, modifiers,
 * modifier groups, menus, each by id.
 */
import { type AliasedRawBuilder, type OperationNodeSource, type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import { type AnyJson, columns, type Json, jsonObject, rfc3339 } from '../db/json.ts';
import { type Param, type Query, type Statement, statement } from '../db/statement.ts';
import { newStamp, type Stamped } from '../http/conditional.ts';
import type { RecordKind, Table } from './record-kind.ts';

export type EventType = components['schemas']['EventType'];

/** One changed record, as the insert, update or delete returns it. */
export interface ChangeRow<T> {
  account_id: number;
  location_id: number;
  menu_id: number | null;
  /** 'item:17'; events of one record keep their order. */
  record: string;
  /** One event is recorded for each type. */
  event_types: EventType[];
  /** The record as the API shows it now, or as it last did. */
  resource: Json<T>;
  /** Old values of the changed fields; null when the record is new or gone. */
  previous: AnyJson | null;
}

/** A change of any kind of record. */
type AnyChange = Omit<ChangeRow<never>, 'resource'> & { resource: AnyJson };

/** The values that every write takes. */
export interface Written extends Stamped {
  /** The request that writes; null if no request does. */
  request_id: string | null;
}

/** The values of one write. */
export function written(request_id: string | null): Written {
  return { request_id, stamp: newStamp() };
}

/** What every change of a record sets in addition to its fields. */
export function raised(p: Param<Stamped>, table: Table) {
  return {
    version: sql<number>`${sql.ref(`${table}.version`)} + 1`,
    stamp: p('stamp', 'integer'),
    updated_at: sql<Date>`clock_timestamp()`,
  };
}

const menuless: readonly Table[] = ['location', 'modifier_group', 'modifier'];

/** Columns that lead from a changed record to the menus that show it. */
const leading: Partial<Record<Table, string>> = { modifier_group: 'menu_ids', modifier: 'modifier_group_id' };

type ChangeColumns<T> = {
  [C in keyof ChangeRow<T>]: AliasedRawBuilder<ChangeRow<T>[C], C>;
}[keyof ChangeRow<T>][];

/** One type, or an expression for those of each row. */
export type EventTypes = EventType | RawBuilder<EventType[]>;

export interface ChangeOptions {
  /** The old values; absent when the record is new or gone. */
  previous?: RawBuilder<AnyJson | null>;
  /** The name of the row that is shown: 'old' when the records are deleted. */
  row?: string;
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
    menu_id: menuless.includes(kind.table) ? sql`null::bigint` : record.menu_id,
    record: sql`${sql.lit(`${kind.table}:`)} || ${sql.ref(`${row}.${kind.table}_id`)}`,
    event_types: typeof eventTypes === 'string' ? sql`array[${sql.lit(eventTypes)}]` : eventTypes,
    resource: kind.json(row),
    previous: previous ?? sql`null::json`,
  };
  const lead = leading[kind.table];
  const leads = lead ? { [lead]: sql.ref(`${row}.${lead}`) } : {};
  return Object.entries<RawBuilder<unknown>>({ ...change, ...leads }).map(([name, value]) =>
    value.as(name),
  ) as unknown as ChangeColumns<T>;
}

/** The `previous` of an update: the old values of the fields that differ, or null. */
export function changedFields({
  compared,
}: Pick<RecordKind<never, never>, 'compared'>): RawBuilder<AnyJson | null> {
  return differing(compared('old'), compared('new'));
}

// These differ in every change, or in none.
const notCompared = ['version', 'updated_at', 'created'];

/** JSON of those fields of `before` whose text differs in `after`; null when there are none. */
export function differing(
  before: Record<string, RawBuilder<unknown>>,
  after: Record<string, RawBuilder<unknown>>,
): RawBuilder<AnyJson | null> {
  const fields = Object.entries(before).filter(([name]) => !notCompared.includes(name));
  const parts = fields.map(
    ([name, value]) => sql`case when (${value})::text is distinct from (${after[name]})::text
      then ${sql.lit(`"${name}":`)} || coalesce(to_json(${value})::text, 'null') end`,
  );
  return sql`nullif('{' || concat_ws(',', ${sql.join(parts)}) || '}', '{}')::json`;
}

/** An insert, update or delete that returns `change(…)` and whatever else is shown. */
export type Changing<Row> = Query<Row> & OperationNodeSource;

/** Columns with their names, for a `returning` of raw SQL. */
export function list(columns: readonly AliasedRawBuilder<unknown, string>[]): RawBuilder<unknown> {
  return sql.join(columns.map((column) => sql`${column}`));
}

/** Which menus a write touches. */
export interface TouchOptions {
  /** False for writes of menus, which raise their own content_version, and of records that no menu shows. */
  touchesMenu?: boolean;
  /** Whether the change may be in more than one menu. */
  inSeveralMenus?: boolean;
  /**
   * For changes of modifier groups or of what is in them: the menus are those listed in the row of the group,
   * including one that was added while the write waited for the row.
   */
  through?: 'modifier_group' | 'modifier';
}

/** The SQL of a write, from top to bottom. */
interface WriteParts<Row> extends TouchOptions {
  /** CTEs that the change refers to, with their names. */
  before?: RawBuilder<unknown>;
  /** The change, or several of different kinds that are one write. */
  change: OperationNodeSource | OperationNodeSource[];
  /** Marks the menus as changed, if that is more than counting a change in each. */
  touch?: RawBuilder<unknown>;
  /** The request that each changed row belongs to, if there are several. */
  requestId?: RawBuilder<string | null>;
  /** The menu's next content_version, calculated when the menu is locked; null makes the statement fail. */
  nextContentVersion?: RawBuilder<number | null>;
  /** A select; `changed` has the changed rows. */
  response: RawBuilder<Row>;
}

/**
 * A write as a prepared statement.
 * @param shown columns of the changed rows that the statement returns.
 */
export function write<Values extends Written, Row extends AnyChange, Shown extends keyof Row & string>(
  name: string,
  change: (p: Param<Values>) => Changing<Row> | Changing<Row>[],
  shown: readonly Shown[],
  options: TouchOptions = {},
): Statement<Values, Pick<Row, Shown>> {
  return writeOf(name, (p: Param<Values>) => ({
    change: change(p),
    response: changedColumns(shown),
    ...options,
  }));
}

/** The response of a write that shows only columns of its changed rows. */
export function changedColumns<Row, Shown extends keyof Row & string>(
  shown: readonly Shown[],
): RawBuilder<Pick<Row, Shown>> {
  return sql`select ${sql.join(shown.map((column) => sql.ref(column)))} from changed`;
}

/** A write whose response is more than its changed rows. */
export function writeOf<Values extends Written, Row>(
  name: string,
  parts: (p: Param<Values>) => WriteParts<Row>,
): Statement<Values, Row> {
  return statement<Values, Row>(name, (p) => {
    const {
      before,
      change,
      touchesMenu = true,
      inSeveralMenus = false,
      through,
      nextContentVersion,
      touch = touchMenus(p, inSeveralMenus || through ? 'locked_menus' : 'changed', nextContentVersion),
      requestId = p('request_id', 'text'),
      response,
    } = parts(p);
    const steps = [
      ...(before ? [before] : []),
      ...changedRows([change].flat()),
      sql`recorded as (${recordEvents(requestId)})`,
      sql`to_relay as (insert into outbox (account_id, event_id) select account_id, event_id from recorded)`,
      ...(through === 'modifier' ? touchGroups(p) : []),
      ...(through ? [sql`locked_menus as (${lockShowingMenus(through)})`] : []),
      ...(inSeveralMenus ? [sql`locked_menus as (${lockMenus()})`] : []),
      ...(touchesMenu ? [sql`touched as (${touch})`] : []),
    ];
    return sql<Row>`with ${sql.join(steps)} ${response}`;
  });
}

/** The CTE `changed`, and those that it combines. */
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

function recordEvents(requestId: RawBuilder<string | null>): RawBuilder<unknown> {
  return sql`
    insert into event (event_id, account_id, type, record, location_id, menu_id, payload)
    select event_id, account_id, event_type, record, location_id, menu_id, ${payload(requestId)}
    from (select uuidv7() as event_id, * from changed, unnest(event_types) as event_type) as change
    returning account_id, event_id`;
}

// The bytes that are signed and sent are the bytes stored here.
function payload(requestId: RawBuilder<string | null>): RawBuilder<AnyJson> {
  const field = <T>(name: string) => sql.ref<T>(`change.${name}`);
  return jsonObject<EventPayload>({
    id: sql<string>`event_id_text(${field('event_id')})`,
    type: field<EventType>('event_type'),
    timestamp: rfc3339(sql<Date>`clock_timestamp()`),
    location_id: field<number>('location_id'),
    menu_id: field<number | null>('menu_id'),
    data: field<Json<object>>('resource'),
    previous: field<Json<object | null>>('previous'),
    request_id: requestId,
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
 * Marks the menus as changed. The arrays are complete, and with them every change, before the first menu is locked. A
 * single menu is locked by its update alone: `for no key update` would first follow newer versions of the row while
 * it queues at the older one, and then the update would have to do the same again.
 */
function touchMenus(
  p: Param<Stamped>,
  touched: 'changed' | 'locked_menus',
  next: RawBuilder<number | null> = sql`content_version + 1`,
): RawBuilder<unknown> {
  return sql`
    update menu set content_version = ${next}, stamp = ${p('stamp', 'integer')}
    where menu_id = any (array(select menu_id from ${sql.raw(touched)}))
      and account_id = any (array(select account_id from ${sql.raw(touched)}))`;
}

// An update locks its rows in the order of its plan, which may differ between two updates of the same menus.
function lockMenus(): RawBuilder<unknown> {
  return sql`
    select menu_id, account_id from menu
    where menu_id = any (array(select menu_id from changed))
      and account_id = any (array(select account_id from changed))
    order by menu_id for no key update`;
}

// As with menus: whoever changes several groups locks them in the order of ids. An update that has waited for a row
// continues with its newest version, so `menu_ids` are the current ones.
function touchGroups(p: Param<Stamped>): RawBuilder<unknown>[] {
  return [
    sql`locked_groups as (
    select modifier_group_id, account_id from modifier_group
    where modifier_group_id = any (array(select modifier_group_id from changed))
      and account_id = any (array(select account_id from changed))
    order by modifier_group_id for no key update)`,
    sql`touched_groups as (
    update modifier_group set content_version = content_version + 1, stamp = ${p('stamp', 'integer')}
    where modifier_group_id = any (array(select modifier_group_id from locked_groups))
      and account_id = any (array(select account_id from locked_groups))
    returning account_id, menu_ids)`,
  ];
}

function lockShowingMenus(through: 'modifier_group' | 'modifier'): RawBuilder<unknown> {
  const groups = sql.raw(through === 'modifier' ? 'touched_groups' : 'changed');
  return sql`
    select menu_id, account_id from menu
    where menu_id = any (array(select unnest(menu_ids) from ${groups}))
      and account_id = any (array(select account_id from ${groups}))
    order by menu_id for no key update`;
}
