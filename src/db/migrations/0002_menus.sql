-- Keys lead with the record's own id: a look-up by id alone tells a foreign record (403) from none (404).
-- fillfactor leaves room for HOT updates, since most writes flip a flag or change a price in place.

create table location (
  location_id bigint generated always as identity,
  account_id bigint not null references account,
  name text not null,
  address jsonb,
  phone text,
  timezone text not null,
  currency text not null,
  external_id text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version bigint not null default 1,
  primary key (location_id, account_id),
  constraint location_external_id unique (account_id, external_id)
) with (fillfactor = 85);
create index location_by_account on location (account_id, location_id);

create table menu (
  menu_id bigint generated always as identity,
  account_id bigint not null,
  location_id bigint not null,
  name text not null,
  description text not null default '',
  is_active boolean not null default true,
  sort_order integer not null,
  external_id text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version bigint not null default 1,
  content_version bigint not null default 1, -- raised by every change of the menu or of anything inside it
  primary key (menu_id, account_id),
  constraint menu_location foreign key (location_id, account_id) references location (location_id, account_id),
  constraint menu_external_id unique (location_id, account_id, external_id)
) with (fillfactor = 85);
create index menu_by_account on menu (account_id, menu_id);

create table category (
  category_id bigint generated always as identity,
  account_id bigint not null,
  location_id bigint not null, -- its menu's, which never changes: grants are checked without a join
  menu_id bigint not null,
  name text not null,
  description text not null default '',
  sort_order integer not null,
  external_id text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version bigint not null default 1,
  primary key (category_id, account_id),
  constraint category_menu foreign key (menu_id, account_id) references menu (menu_id, account_id),
  unique (menu_id, category_id, account_id),
  constraint category_external_id unique (menu_id, account_id, external_id)
) with (fillfactor = 85);

create table item (
  item_id bigint generated always as identity,
  account_id bigint not null,
  location_id bigint not null, -- as in category
  menu_id bigint not null,
  category_id bigint not null,
  name text not null,
  description text not null default '',
  price numeric(8, 2) not null,
  photo_url text,
  allergens text[] not null default '{}',
  dietary_tags text[] not null default '{}',
  is_available boolean not null default true,
  unavailable_until timestamptz(3),
  sort_order integer not null,
  external_id text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version bigint not null default 1,
  primary key (item_id, account_id),
  constraint item_category foreign key (menu_id, category_id, account_id)
    references category (menu_id, category_id, account_id),
  constraint item_external_id unique (menu_id, account_id, external_id),
  check (unavailable_until is null or not is_available)
) with (fillfactor = 85);
create index item_by_menu on item (menu_id, item_id);
create index item_by_category on item (category_id, sort_order, item_id);
create index item_restore_due on item (unavailable_until) where unavailable_until is not null;
create index item_restore_by_menu on item (menu_id, unavailable_until) where unavailable_until is not null;

-- Search folds case and width in every script, whatever the database's locale: 'ＳＡＬＭＯＮ' finds 'Salmon'.
-- Lower case would not do: it writes the last sigma of a word in another way, so that 'ΜΟΣ' misses 'ΜΟΣΧΟΣ'.
create extension if not exists pg_trgm;
create function search_text(value text) returns text language sql immutable strict parallel safe
  return normalize(casefold(normalize(value, NFKC) collate pg_unicode_fast), NFKC);
create index item_search on item using gin (search_text(name || ' ' || description) gin_trgm_ops);
