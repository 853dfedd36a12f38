-- no transaction
-- What is kept for a time only is partitioned by days, so that what is past its time goes as a whole: to drop a day of
-- millions of rows takes a moment and leaves no dead row. Ids of events begin with their time, so a range of ids is a
-- range of time, and the key of `event` stays as it is. What is there becomes the first partition; nothing is rewritten.
--
-- The default partition takes what no other does. It is empty, unless nobody has created partitions for a while.

create or replace function moment_of(bound text) returns timestamptz language sql stable
  return case when bound ~ '^[0-9a-f]{8}-' then uuid_extract_timestamp(bound::uuid) else bound::timestamptz end;

-- The same moment as a literal of the key of a partitioned table.
create or replace function bound_at(parent regclass, moment timestamptz) returns text language sql stable
  return case
    when (select atttypid from pg_partitioned_table join pg_attribute on attrelid = partrelid and attnum = partattrs[0]
      where partrelid = parent) = 'uuid'::regtype then event_id_at(moment)::text
    else moment::text
  end;

-- `since` is null at the beginning of time, and both moments are of the default partition.
create or replace function partitions_of(parent regclass)
  returns table (partition regclass, is_default boolean, since timestamptz, until timestamptz)
  language sql stable as $$
    select child, bounds = 'DEFAULT', moment_of(substring(bounds from 'FROM \(''([^'']+)''\)')),
      moment_of(substring(bounds from 'TO \(''([^'']+)''\)'))
    from (
      select pg_class.oid::regclass as child, pg_get_expr(relpartbound, pg_class.oid) as bounds
      from pg_inherits join pg_class on pg_class.oid = inhrelid
      where inhparent = parent
    ) as children
  $$;

-- The functions below lend the rights of the owner to those who may delete the rows one by one.
create or replace function require_deletable(parent regclass) returns void language plpgsql stable as $$
begin
  if not has_table_privilege(session_user, parent, 'delete') then
    raise insufficient_privilege using message = format('permission denied for table %s', parent);
  end if;
end $$;

-- Named after its last day. Created apart and then attached, which disturbs neither writers nor a dump.
create or replace function add_partition(parent regclass, since timestamptz, until timestamptz)
  returns void language plpgsql as $$
declare
  name text := (
    select format('%I.%I', nspname, relname || to_char((until - interval '1 day') at time zone 'UTC', '_YYYYMMDD'))
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace where pg_class.oid = parent
  );
begin
  execute format('create table %s (like %s including all)', name, parent);
  execute format('alter table %s attach partition %s for values from (%s) to (%L)', parent, name,
    coalesce(quote_literal(bound_at(parent, since)), 'minvalue'), bound_at(parent, until));
end $$;

-- Sees to it that there are partitions for today and the days to come. What is in the default partition becomes a
-- partition first: in three steps, so that nobody waits while its rows are looked through.
-- Returns whether there is another step, for another transaction; fails rather than wait for a lock.
create or replace function keep_partitions(parent regclass, days_ahead integer) returns boolean
  language plpgsql strict security definer set lock_timeout = '100ms' as $$
declare
  today constant timestamptz := date_trunc('day', now(), 'UTC');
  covered timestamptz;
  spare regclass;
  has_rows boolean;
begin
  perform require_deletable(parent);
  execute format('lock table only %s in share update exclusive mode', parent);
  select max(until) into covered from partitions_of(parent);
  select partition into spare from partitions_of(parent) where is_default;
  execute format('select exists (select from %s)', spare) into has_rows;
  if has_rows then
    perform adopt_default_partition(parent, spare, covered);
    return true;
  end if;
  while coalesce(covered <= today + days_ahead * interval '1 day', true) loop
    perform add_partition(parent, covered, greatest(covered, today) + interval '1 day');
    select max(until) into covered from partitions_of(parent);
  end loop;
  return false;
end $$;

-- The first step promises that no row lies outside the coming bounds, the second looks at all, the third makes it so.
create or replace function adopt_default_partition(parent regclass, spare regclass, covered timestamptz)
  returns void language plpgsql as $$
declare
  key text := (select attname from pg_partitioned_table join pg_attribute on attrelid = partrelid
    and attnum = partattrs[0] where partrelid = parent);
  promise text;
  is_kept boolean;
  until timestamptz;
  name text;
begin
  select conname, convalidated, to_date(right(conname, 8), 'YYYYMMDD')::timestamp at time zone 'UTC'
    into promise, is_kept, until from pg_constraint where conrelid = spare and conname like 'until\_%';
  -- A promise that nobody has come back for would soon refuse rows.
  if promise is null or until < now() + interval '1 day' then
    -- Older than the oldest partition, so past its time.
    execute format('delete from %s where %I < %L', spare, key, bound_at(parent, covered));
    execute format('select %I::text from %s order by %1$I desc limit 1', key, spare) into name;
    until := date_trunc('day', greatest(now(), covered, moment_of(name)), 'UTC') + interval '2 days';
    if promise is not null then execute format('alter table %s drop constraint %I', spare, promise); end if;
    execute format('alter table %s add constraint until_%s check (%I < %L%s) not valid', spare,
      to_char(until at time zone 'UTC', 'YYYYMMDD'), key, bound_at(parent, until),
      format(' and %I >= %L', key, bound_at(parent, covered)));
  elsif not is_kept then
    execute format('alter table %s validate constraint %I', spare, promise);
  else
    execute format('alter table %s detach partition %s', parent, spare);
    select relname || to_char((until - interval '1 day') at time zone 'UTC', '_YYYYMMDD') into name
      from pg_class where oid = parent;
    execute format('alter table %s rename to %I', spare, name);
    execute format('alter table %s attach partition %s for values from (%s) to (%L)', parent, spare,
      coalesce(quote_literal(bound_at(parent, covered)), 'minvalue'), bound_at(parent, until));
    execute format('alter table %s drop constraint %I', spare, promise);
    perform add_default_partition(parent);
  end if;
end $$;

create or replace function add_default_partition(parent regclass) returns void language plpgsql as $$
declare
  name text := (select format('%I.%I', nspname, relname || '_rest')
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace where pg_class.oid = parent);
begin
  execute format('create table %s (like %s including all)', name, parent);
  execute format('alter table %s attach partition %s default', parent, name);
end $$;

-- Drops the partitions that end by then, which holds up whoever uses the table for a moment; fails rather than wait.
create or replace function drop_partitions(parent regclass, before timestamptz) returns integer
  language plpgsql strict security definer set lock_timeout = '100ms' as $$
declare
  old regclass;
  dropped integer := 0;
begin
  perform require_deletable(parent);
  for old in select partition from partitions_of(parent) where until <= before order by until loop
    execute format('drop table %s', old);
    dropped := dropped + 1;
  end loop;
  return dropped;
end $$;

-- The same of the feed and then of the events in it, noting of each feed the last event that it no longer has. Events
-- that are not in the feed yet keep their partition.
create or replace function drop_events(before timestamptz) returns integer
  language plpgsql strict security definer set lock_timeout = '100ms' as $$
declare
  waiting constant timestamptz := (select uuid_extract_timestamp(event_id) from outbox order by event_id limit 1);
  bound constant timestamptz := least(before, waiting);
  old regclass;
  ended timestamptz;
begin
  perform require_deletable('feed'), require_deletable('event');
  if not exists (
    select from (values ('feed'::regclass), ('event')) as parent (name), partitions_of(name) where until <= bound
  ) then return 0; end if;
  lock table only feed, only event in access exclusive mode;
  for old in select partition from partitions_of('feed') where until <= bound order by until loop
    execute format('
      update account_feed
      set removed_epoch = last.epoch, removed_position = last.position, removed_event_id = last.event_id
      from (select account_id from account_feed) as own, lateral (
        select account_id, epoch, position, event_id from %s as old
        where old.account_id = own.account_id order by epoch desc, position desc limit 1
      ) as last
      where account_feed.account_id = last.account_id
        and coalesce((last.epoch, last.position) > (removed_epoch, removed_position), true)', old);
    execute format('drop table %s', old);
  end loop;
  select min(coalesce(since, '-infinity')) into ended from partitions_of('feed') where not is_default;
  return drop_partitions('event', least(bound, ended));
end $$;

-- What they name is looked for where it was made, and never among temporary tables.
do $$
declare
  lender regprocedure;
begin
  foreach lender in array
    array['keep_partitions(regclass,integer)', 'drop_partitions(regclass,timestamptz)', 'drop_events(timestamptz)']
  loop
    execute format('alter function %s set search_path = %I, pg_temp', lender, current_schema());
  end loop;
end $$;

do $$ begin
  if (select relkind = 'p' from pg_class where oid = 'event'::regclass) then return; end if;
  alter table event rename to event_rest;
  alter index event_pkey rename to event_rest_pkey;
  create table event (like event_rest including defaults) partition by range (event_id);
  alter table event add primary key (event_id, account_id);
  alter table event attach partition event_rest default;
end $$;

-- The key of a partitioned table has what it is partitioned by. Positions are still unique: one relay at a time gives
-- them.
create unique index concurrently if not exists feed_rest_pkey on feed (account_id, epoch, position, event_id);

do $$ begin
  if (select relkind = 'p' from pg_class where oid = 'feed'::regclass) then return; end if;
  alter table feed rename to feed_rest;
  alter table feed_rest drop constraint feed_pkey, add primary key using index feed_rest_pkey;
  alter index feed_by_event rename to feed_rest_by_event;
  alter index feed_by_menu rename to feed_rest_by_menu;
  alter index feed_by_location rename to feed_rest_by_location;
  alter index feed_by_type rename to feed_rest_by_type;
  create table feed (like feed_rest including defaults) partition by range (event_id);
  alter table feed add primary key (account_id, epoch, position, event_id);
  create index feed_by_event on feed (event_id);
  create index feed_by_menu on feed (account_id, menu_id, position) where menu_id is not null;
  create index feed_by_location on feed (account_id, location_id, position);
  create index feed_by_type on feed (account_id, type, position);
  alter table feed attach partition feed_rest default;
end $$;

select keep_partitions('event', 3);

select keep_partitions('event', 3);

select keep_partitions('event', 3);

select keep_partitions('event', 3);

select keep_partitions('feed', 3);

select keep_partitions('feed', 3);

select keep_partitions('feed', 3);

select keep_partitions('feed', 3);
