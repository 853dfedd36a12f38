-- no transaction
-- As of items: since when a modifier is off, and by which client; null where nobody noted it.
alter table modifier add column if not exists unavailable_since timestamptz(3),
  add column if not exists unavailable_by text;

-- The modifiers that stand for an item, which decides with them what can be ordered.
create index concurrently modifier_standing on modifier (account_id, location_id) where item_id is not null;
