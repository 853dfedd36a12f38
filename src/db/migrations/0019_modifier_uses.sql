-- What an item or a modifier offers, in order, as the API shows it. It is in the row of the item, since a write that has
-- waited for the row sees that in its newest version, and the rows of another table as they were before.
alter table item add column modifier_groups json not null default '[]';

-- The same, to be found by group, and held by foreign keys.
create table modifier_group_use (
  modifier_group_use_id bigint generated always as identity,
  account_id bigint not null,
  modifier_group_id bigint not null,
  item_id bigint,
  menu_id bigint, -- the item's
  modifier_id bigint,
  user_group_id bigint, -- the modifier's
  min_selections integer, -- null: the group's own
  max_selections integer,
  primary key (modifier_group_use_id, account_id),
  constraint modifier_group_used foreign key (modifier_group_id, account_id)
    references modifier_group (modifier_group_id, account_id),
  foreign key (item_id, account_id) references item (item_id, account_id) on delete cascade,
  foreign key (modifier_id, account_id) references modifier (modifier_id, account_id) on delete cascade,
  unique (account_id, item_id, modifier_group_id),
  unique (account_id, modifier_id, modifier_group_id),
  check ((item_id is null) <> (modifier_id is null)),
  check ((item_id is null) = (menu_id is null) and (modifier_id is null) = (user_group_id is null))
);
create index modifier_group_use_by_group on modifier_group_use (account_id, modifier_group_id, modifier_group_use_id);
create index modifier_group_use_by_menu on modifier_group_use (account_id, menu_id, modifier_group_id)
  where menu_id is not null;
create index modifier_group_use_by_user_group on modifier_group_use (account_id, user_group_id, modifier_group_id)
  where user_group_id is not null;
