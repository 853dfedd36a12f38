-- A price has as many decimal places as its currency (ISO 4217), and up to nine digits before them. The type without
-- bounds is given without a rewrite of the table, which one with another scale would take; the check keeps the bounds.
--
-- `searchable` is the name and the description as searches compare them, `searchable_of` the hash of the two: the
-- release before changes them alone.
alter table item
  alter column price type numeric,
  add constraint item_price check (price >= 0 and price < 1000000000 and scale(price) <= 3) not valid,
  add column searchable text,
  add column searchable_of bigint;

-- What searches compare, made anew where what is stored is not of these texts. It says that it costs next to nothing,
-- so that it is asked before what the index item_search has, wherever that index does not serve.
create function searchable_text(searchable text, searchable_of bigint, name text, description text) returns text
language plpgsql immutable parallel safe cost 0.001 as $$
begin
  if searchable_of = hashtextextended(name || e'\n' || description, 0) then
    return searchable;
  end if;
  return search_text(name) || e'\n' || search_text(description);
end $$;
