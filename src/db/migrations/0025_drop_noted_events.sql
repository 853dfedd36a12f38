-- Takes the place of drop_events, which the release before still calls: that one notes for each account what it drops
-- while nobody else can use the tables, which with many accounts takes long.

-- Drops the days of events and of the feed that end by then and were noted. Events that are not in the feed yet keep their
-- partition. Fails rather than wait.
create function drop_noted_events(before timestamptz) returns integer
  language plpgsql strict security definer set lock_timeout = '100ms' as $$
declare
  waiting constant timestamptz := (select uuid_extract_timestamp(event_id) from outbox order by event_id limit 1);
  bound constant timestamptz := least(before, waiting);
  ended timestamptz;
begin
  perform require_deletable('feed'), require_deletable('event');
  -- In the relay's order: the other way round, it and the drop would each wait for the other.
  lock table only event, only feed in access exclusive mode;
  perform drop_partitions('feed', bound);
  select min(coalesce(since, '-infinity')) into ended from partitions_of('feed') where not is_default;
  return drop_partitions('event', least(bound, ended));
end $$;

-- What it names is looked for where it was made, and never among temporary tables.
do $$ begin
  execute format('alter function drop_noted_events(timestamptz) set search_path = %I, pg_temp', current_schema());
end $$;
