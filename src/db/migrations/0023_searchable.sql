-- no transaction
-- Under a lock that keeps nobody waiting.
alter table item validate constraint item_price;

-- Locks as every write does, in the order of ids.
do $$
declare last bigint := 0;
begin
  loop
    with batch as (
      select item_id, account_id from item
      where item_id > last order by item_id limit 500 for no key update
    ), filled as (
      update item set searchable = search_text(name) || e'\n' || search_text(description),
        searchable_of = hashtextextended(name || e'\n' || description, 0)
      from batch
      where item.item_id = batch.item_id and item.account_id = batch.account_id and item.searchable_of is null
    )
    select max(item_id) into last from batch;
    exit when last is null;
    commit;
  end loop;
end $$;
