-- Groups of modifiers belong to a location and are shared by its menus. What is in a group changes its content_version,
-- as with menus.
create table modifier_group (
  modifier_group_id bigint generated always as identity,
  account_id bigint not null,
  location_id bigint not null,
  name text not null,
  description text not null default '',
  min_selections integer not null default 0,
  max_selections integer, -- null: no limit
  max_per_modifier integer not null default 1,
  free_selections integer not null default 0,
  external_id text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version bigint not null default 1,
  content_version bigint not null default 1,
  stamp integer not null default (random() * 2147483647)::integer, -- goes with content_version
  -- The menus that show the group, directly or through other groups. In the row itself, so that whoever changes the
  -- group knows them all once it has the row, also those that came in while it waited. When an item is deleted, its menu
  -- stays until the next change of uses at the location.
  menu_ids bigint[] not null default '{}',
  primary key (modifier_group_id, account_id),
  constraint modifier_group_location foreign key (location_id, account_id) references location (location_id, account_id),
  constraint modifier_group_external_id unique (location_id, account_id, external_id)
) with (fillfactor = 85);
create index modifier_group_by_location on modifier_group (account_id, location_id, modifier_group_id);

create table modifier (
  modifier_id bigint generated always as identity,
  account_id bigint not null,
  location_id bigint not null, -- its group's, which never changes
  modifier_group_id bigint not null,
  name text not null,
  description text not null default '',
  price numeric not null default 0,
  is_available boolean not null default true,
  unavailable_until timestamptz(3),
  default_quantity integer not null default 0,
  item_id bigint, -- no foreign key: it stays when the item goes
  allergens text[] not null default '{}',
  dietary_tags text[] not null default '{}',
  sort_order integer not null,
  external_id text,
  modifier_groups json not null default '[]', -- as in item
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version bigint not null default 1,
  stamp integer not null default (random() * 2147483647)::integer,
  primary key (modifier_id, account_id),
  constraint modifier_of_group foreign key (modifier_group_id, account_id)
    references modifier_group (modifier_group_id, account_id),
  constraint modifier_external_id unique (modifier_group_id, account_id, external_id),
  check (unavailable_until is null or not is_available)
) with (fillfactor = 85);
create index modifier_by_group on modifier (account_id, modifier_group_id, sort_order, modifier_id);
create index modifier_by_external_id on modifier (account_id, location_id, external_id) where external_id is not null;
create index modifier_restore_due on modifier (unavailable_until) where unavailable_until is not null;
create index modifier_restore_by_location on modifier (account_id, location_id, unavailable_until)
  where unavailable_until is not null;
