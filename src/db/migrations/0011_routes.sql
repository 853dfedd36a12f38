-- The relay takes events of each account in turn.
create index outbox_by_account on outbox (account_id, sequence);

-- What an endpoint listens to: each of its places, the narrowest that it names, with each of its types. An event is
-- looked up by the routes that it travels on, so that endpoints which do not want it cost nothing.
create function webhook_routes(
  account_id bigint, event_types text[], location_ids bigint[], menu_ids bigint[], granted_location_ids bigint[]
) returns text[] language sql immutable parallel safe cost 10000
  return array(
    select account_id || ' ' || place || ' ' || type
    from unnest(case
      when menu_ids <> '{}' then array(select 'menu ' || id from unnest(menu_ids) as id)
      when location_ids <> '{}' then array(select 'location ' || id from unnest(location_ids) as id)
      when cardinality(granted_location_ids) <= 100 then array(select 'location ' || id from unnest(granted_location_ids) as id)
      else array['*']
    end) as place, unnest(case when event_types = '{}' then array['*'] else event_types end) as type
  );

create function event_routes(account_id bigint, type text, location_id bigint, menu_id bigint)
  returns text[] language sql immutable parallel safe
  return array(
    select account_id || ' ' || place || ' ' || wanted
    from unnest(array['menu ' || menu_id, 'location ' || location_id, '*']) as place,
      unnest(array[type, split_part(type, '.', 1) || '.*', '*']) as wanted
    where place is not null
  );

create index webhook_by_route on webhook using gin (
  webhook_routes(account_id, event_types, location_ids, menu_ids, granted_location_ids)
) with (fastupdate = off);

-- One process removes what is past its time.
create table sweeper (
  singleton boolean primary key default true check (singleton),
  holder uuid,
  leased_until timestamptz(3) not null default now()
);
insert into sweeper default values;
