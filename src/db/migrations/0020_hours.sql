-- no transaction
-- Each table by itself, as none but the one that is changed may be locked.
alter table location add column if not exists hours jsonb;

alter table menu add column if not exists hours jsonb;

alter table category add column if not exists hours jsonb;

-- Since when an item is off, and by which client; null where nobody noted it.
alter table item add column if not exists hours jsonb,
  add column if not exists unavailable_since timestamptz(3), add column if not exists unavailable_by text;
