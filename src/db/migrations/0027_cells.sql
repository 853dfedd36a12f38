-- Groups can move from one cell to another (src/cells).

-- The number of this cell, which its ids begin with.
create table cell (
  singleton boolean primary key default true check (singleton),
  number integer not null default 0 check (number between 0 and 1023)
);
insert into cell default values;

-- Accounts that are moving. Nothing is sent or restored for them; once they have left, and until they have arrived,
-- nothing is served either.
create table account_move (
  account_id bigint primary key,
  state text not null check (state in ('leaving', 'left', 'arriving')),
  since timestamptz(3) not null default now()
);

-- What refuses writes of an account that is moving is created when it moves, so that it costs others nothing.
create function refuse_while_moving() returns trigger language plpgsql as $$
begin
  if current_setting('menus.removes_moved', true) = 'on' then return coalesce(new, old); end if;
  raise lock_not_available using message = 'the account is moving to another cell';
end $$;
