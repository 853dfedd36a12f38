-- no transaction
-- The same dish on the menus of an account, by the identifier of its point of sale; whether it is at a location is told
-- without the row.
create index concurrently item_by_external_id on item (account_id, external_id, item_id) include (location_id)
  where external_id is not null;

-- All items of an account, and of a location, page after page.
create index concurrently item_by_account on item (account_id, item_id);

create index concurrently item_by_location on item (account_id, location_id, item_id);
