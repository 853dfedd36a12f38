-- As in 0012, but locks `event` before `feed`, as the relay does: the other way round each could wait for the other, until
-- the drop gave up.
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
  lock table only event, only feed in access exclusive mode;
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

do $$ begin
  execute format('alter function drop_events(timestamptz) set search_path = %I, pg_temp', current_schema());
end $$;
