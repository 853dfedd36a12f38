-- Every SQL statement of the service, by name, as it is prepared on the database.
-- Generated from src/ by `make generate`; do not edit.

-- accounts.createClient
-- $1 account_id bigint
-- $2 client_id text
-- $3 secret_hash bytea
-- $4 scopes text[]
-- $5 location_ids bigint[]
insert into
  "client" ("account_id", "client_id", "secret_hash", "scopes", "location_ids")
values
  ($1::bigint, $2::text, $3::bytea, $4::text[], $5::bigint[]);

-- accounts.ensureAccount
-- $1 name text
insert into
  "account" ("name")
values
  ($1::text)
on conflict ("name") do update
set
  "name" = $1::text
returning
  "account_id";

-- accounts.findClient
-- $1 client_id text
select
  "account_id",
  "client_id",
  "secret_hash",
  "scopes",
  "location_ids"
from
  "client"
where
  "client_id" = $1::text
  and "disabled_at" is null;

-- accounts.signingKeys.insertFirst
-- $1 kid text
-- $2 public_jwk json
-- $3 sealed_private_key bytea
insert into
  signing_key (kid, public_jwk, sealed_private_key)
select
  $1::text,
  $2::json,
  $3::bytea
where
  not exists (
    select
    from
      signing_key
  );

-- accounts.signingKeys.lock
lock table signing_key in share row exclusive mode;

-- accounts.signingKeys.select
select
  "kid",
  "public_jwk",
  "sealed_private_key"
from
  "signing_key"
order by
  "created_at" desc,
  "kid";

-- categories.createCategory
-- $1 menu_id bigint
-- $2 account_id bigint
-- $3 location_ids bigint[]
-- $4 name text
-- $5 description text
-- $6 external_id text
-- $7 sort_order integer
-- $8 request_id text
with
  changed as (
    insert into
      "category" ("account_id", "location_id", "menu_id", "name", "description", "external_id", "sort_order")
    with
      home as (
        select
          "account_id",
          "location_id",
          "menu_id"
        from
          "menu"
        where
          (
            ("menu"."menu_id" = $1::bigint)
            and (
              "menu"."account_id" = $2::bigint
              and (
                $3::bigint[] is null
                or "menu"."location_id" = any ($3::bigint[])
              )
            )
          )
      )
    select
      "account_id",
      "location_id",
      "menu_id",
      $4::text,
      $5::text,
      $6::text,
      coalesce(
        $7::integer,
        (
          select
            least(coalesce(max(sort_order), -1) + 1::bigint, 2147483647)::integer
          from
            "category"
          where
            "category"."menu_id" = "home"."menu_id"
            and account_id = home.account_id
        )
      )
    from
      home
    returning
      "new"."account_id" as "account_id",
      "new"."location_id" as "location_id",
      "new"."menu_id" as "menu_id",
      'category:' || "new"."category_id" as "record",
      array['category.created'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "new"."category_id" as "category_id",
              "new"."menu_id" as "menu_id",
              "new"."name" as "name",
              "new"."description" as "description",
              "new"."sort_order" as "sort_order",
              "new"."external_id" as "external_id",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      null::json as "previous",
      "category"."category_id" as "id",
      '"' || "new"."version" || '-' || (
        select
          md5(
            coalesce(
              string_agg(
                item.item_id || '"' || "item"."version" || case
                  when coalesce("item"."unavailable_until" <= now(), false) then '-restored'
                  else ''
                end || '"',
                ','
                order by
                  item.item_id
              ),
              ''
            )
          )
        from
          item
        where
          item.category_id = "new"."category_id"
      ) || '"' as "etag"
  ),
  recorded as (
    insert into
      event (event_id, account_id, type, record, location_id, menu_id, payload)
    select
      event_id,
      account_id,
      event_type,
      record,
      location_id,
      menu_id,
      (
        select
          to_json(fields)
        from
          (
            select
              event_id_text ("change"."event_id") as "id",
              "change"."event_type" as "type",
              to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "timestamp",
              "change"."location_id" as "location_id",
              "change"."menu_id" as "menu_id",
              "change"."resource" as "data",
              "change"."previous" as "previous",
              $8::text as "request_id"
          ) as fields
      )
    from
      (
        select
          uuidv7() as event_id,
          *
        from
          changed,
          unnest(event_types) as event_type
      ) as change
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1
    where
      menu_id = any (
        array(
          select
            menu_id
          from
            changed
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            changed
        )
      )
  )
select
  "id",
  "etag",
  "resource"
from
  changed;

-- categories.deleteCategory
-- $1 category_id bigint
-- $2 menu_id bigint
-- $3 account_id bigint
-- $4 location_ids bigint[]
-- $5 if_match text[]
-- $6 request_id text
with
  "change_1" as (
    with
      "doomed" as (
        select
          "item_id",
          "account_id"
        from
          "item"
        where
          "category_id" in (
            select
              "category_id"
            from
              "category"
            where
              (
                (
                  "category"."category_id" = $1::bigint
                  and "category"."menu_id" = $2::bigint
                )
                and (
                  "category"."account_id" = $3::bigint
                  and (
                    $4::bigint[] is null
                    or "category"."location_id" = any ($4::bigint[])
                  )
                )
              )
              and (
                $5::text[] is null
                or '"' || "category"."version" || '-' || (
                  select
                    md5(
                      coalesce(
                        string_agg(
                          item.item_id || '"' || "item"."version" || case
                            when coalesce("item"."unavailable_until" <= now(), false) then '-restored'
                            else ''
                          end || '"',
                          ','
                          order by
                            item.item_id
                        ),
                        ''
                      )
                    )
                  from
                    item
                  where
                    item.category_id = "category"."category_id"
                ) || '"' = any ($5::text[])
              )
          )
        order by
          "item_id"
        for update of
          "item"
      )
    delete from "item"
    where
      (item_id, account_id) in (
        select
          item_id,
          account_id
        from
          doomed
      )
    returning
      "old"."account_id" as "account_id",
      "old"."location_id" as "location_id",
      "old"."menu_id" as "menu_id",
      'item:' || "old"."item_id" as "record",
      array['item.deleted'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "old"."item_id" as "item_id",
              "old"."category_id" as "category_id",
              "old"."menu_id" as "menu_id",
              "old"."name" as "name",
              "old"."description" as "description",
              "old"."price" as "price",
              "old"."photo_url" as "photo_url",
              "old"."allergens" as "allergens",
              "old"."dietary_tags" as "dietary_tags",
              (
                "old"."is_available"
                or coalesce("old"."unavailable_until" <= now(), false)
              ) as "is_available",
              "old"."sort_order" as "sort_order",
              to_char("old"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "old"."external_id" as "external_id",
              to_char(
                case
                  when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char("old"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "old"."version" as "version"
          ) as fields
      ) as "resource",
      null::json as "previous"
  ),
  "change_2" as (
    delete from "category"
    where
      (
        (
          "category"."category_id" = $1::bigint
          and "category"."menu_id" = $2::bigint
        )
        and (
          "category"."account_id" = $3::bigint
          and (
            $4::bigint[] is null
            or "category"."location_id" = any ($4::bigint[])
          )
        )
      )
      and (
        $5::text[] is null
        or '"' || "category"."version" || '-' || (
          select
            md5(
              coalesce(
                string_agg(
                  item.item_id || '"' || "item"."version" || case
                    when coalesce("item"."unavailable_until" <= now(), false) then '-restored'
                    else ''
                  end || '"',
                  ','
                  order by
                    item.item_id
                ),
                ''
              )
            )
          from
            item
          where
            item.category_id = "category"."category_id"
        ) || '"' = any ($5::text[])
      )
    returning
      "old"."account_id" as "account_id",
      "old"."location_id" as "location_id",
      "old"."menu_id" as "menu_id",
      'category:' || "old"."category_id" as "record",
      array['category.deleted'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "old"."category_id" as "category_id",
              "old"."menu_id" as "menu_id",
              "old"."name" as "name",
              "old"."description" as "description",
              "old"."sort_order" as "sort_order",
              "old"."external_id" as "external_id",
              to_char("old"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("old"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "old"."version" as "version"
          ) as fields
      ) as "resource",
      null::json as "previous"
  ),
  changed as (
    select
      *
    from
      "change_1"
    union all
    select
      *
    from
      "change_2"
  ),
  recorded as (
    insert into
      event (event_id, account_id, type, record, location_id, menu_id, payload)
    select
      event_id,
      account_id,
      event_type,
      record,
      location_id,
      menu_id,
      (
        select
          to_json(fields)
        from
          (
            select
              event_id_text ("change"."event_id") as "id",
              "change"."event_type" as "type",
              to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "timestamp",
              "change"."location_id" as "location_id",
              "change"."menu_id" as "menu_id",
              "change"."resource" as "data",
              "change"."previous" as "previous",
              $6::text as "request_id"
          ) as fields
      )
    from
      (
        select
          uuidv7() as event_id,
          *
        from
          changed,
          unnest(event_types) as event_type
      ) as change
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1
    where
      menu_id = any (
        array(
          select
            menu_id
          from
            changed
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            changed
        )
      )
  )
select
  "record"
from
  changed;

-- categories.deleteCategory.lock
-- $1 category_id bigint
-- $2 menu_id bigint
-- $3 account_id bigint
-- $4 location_ids bigint[]
select
  "category_id"
from
  "category"
where
  (
    (
      "category"."category_id" = $1::bigint
      and "category"."menu_id" = $2::bigint
    )
    and (
      "category"."account_id" = $3::bigint
      and (
        $4::bigint[] is null
        or "category"."location_id" = any ($4::bigint[])
      )
    )
  )
for update;

-- categories.getCategory
-- $1 account_id bigint
-- $2 location_ids bigint[]
-- $3 category_id bigint
-- $4 menu_id bigint
select
  (
    "category"."account_id" = $1::bigint
    and (
      $2::bigint[] is null
      or "category"."location_id" = any ($2::bigint[])
    )
  ) as "within_reach",
  '"' || "category"."version" || '-' || (
    select
      md5(
        coalesce(
          string_agg(
            item.item_id || '"' || "item"."version" || case
              when coalesce("item"."unavailable_until" <= now(), false) then '-restored'
              else ''
            end || '"',
            ','
            order by
              item.item_id
          ),
          ''
        )
      )
    from
      item
    where
      item.category_id = "category"."category_id"
  ) || '"' as "etag",
  (
    select
      to_json(fields)
    from
      (
        select
          "category"."category_id" as "category_id",
          "category"."menu_id" as "menu_id",
          "category"."name" as "name",
          "category"."description" as "description",
          "category"."sort_order" as "sort_order",
          "category"."external_id" as "external_id",
          to_char("category"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
          to_char("category"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
          "category"."version" as "version",
          (
            select
              coalesce(
                json_agg(
                  (
                    select
                      to_json(fields)
                    from
                      (
                        select
                          "item"."item_id" as "item_id",
                          "item"."category_id" as "category_id",
                          "item"."menu_id" as "menu_id",
                          "item"."name" as "name",
                          "item"."description" as "description",
                          "item"."price" as "price",
                          "item"."photo_url" as "photo_url",
                          "item"."allergens" as "allergens",
                          "item"."dietary_tags" as "dietary_tags",
                          (
                            "item"."is_available"
                            or coalesce("item"."unavailable_until" <= now(), false)
                          ) as "is_available",
                          "item"."sort_order" as "sort_order",
                          to_char("item"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                          "item"."external_id" as "external_id",
                          to_char(
                            case
                              when not coalesce("item"."unavailable_until" <= now(), false) then "item"."unavailable_until"
                            end at time zone 'UTC',
                            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                          ) as "unavailable_until",
                          to_char("item"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                          "item"."version" as "version"
                      ) as fields
                  )
                  order by
                    item.sort_order,
                    item.item_id
                ),
                '[]'
              )
            from
              item
            where
              item.category_id = category.category_id
          ) as "items"
      ) as fields
  ) as "resource"
from
  "category"
where
  (
    "category"."category_id" = $3::bigint
    and "category"."menu_id" = $4::bigint
  );

-- categories.getCategory.etag
-- $1 category_id bigint
-- $2 menu_id bigint
-- $3 account_id bigint
-- $4 location_ids bigint[]
select
  '"' || "category"."version" || '-' || (
    select
      md5(
        coalesce(
          string_agg(
            item.item_id || '"' || "item"."version" || case
              when coalesce("item"."unavailable_until" <= now(), false) then '-restored'
              else ''
            end || '"',
            ','
            order by
              item.item_id
          ),
          ''
        )
      )
    from
      item
    where
      item.category_id = "category"."category_id"
  ) || '"' as "etag"
from
  "category"
where
  (
    (
      "category"."category_id" = $1::bigint
      and "category"."menu_id" = $2::bigint
    )
    and (
      "category"."account_id" = $3::bigint
      and (
        $4::bigint[] is null
        or "category"."location_id" = any ($4::bigint[])
      )
    )
  );

-- categories.listCategories
-- $1 menu_id bigint
-- $2 account_id bigint
-- $3 location_ids bigint[]
-- $4 after bigint
-- $5 limit bigint
select
  "category_id" as "id",
  (
    select
      to_json(fields)
    from
      (
        select
          "category"."category_id" as "category_id",
          "category"."menu_id" as "menu_id",
          "category"."name" as "name",
          "category"."description" as "description",
          "category"."sort_order" as "sort_order",
          "category"."external_id" as "external_id",
          to_char("category"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
          to_char("category"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
          "category"."version" as "version"
      ) as fields
  ) as "resource"
from
  "category"
where
  "menu_id" = $1::bigint
  and (
    "category"."account_id" = $2::bigint
    and (
      $3::bigint[] is null
      or "category"."location_id" = any ($3::bigint[])
    )
  )
  and "category_id" > $4::bigint
order by
  "category_id"
limit
  $5::bigint;

-- categories.requireCategory
-- $1 account_id bigint
-- $2 location_ids bigint[]
-- $3 category_id bigint
-- $4 menu_id bigint
select
  (
    "category"."account_id" = $1::bigint
    and (
      $2::bigint[] is null
      or "category"."location_id" = any ($2::bigint[])
    )
  ) as "within_reach"
from
  "category"
where
  (
    "category"."category_id" = $3::bigint
    and "category"."menu_id" = $4::bigint
  );

-- categories.updateCategory
-- $1 present text[]
-- $2 name text
-- $3 description text
-- $4 sort_order integer
-- $5 external_id text
-- $6 category_id bigint
-- $7 menu_id bigint
-- $8 account_id bigint
-- $9 location_ids bigint[]
-- $10 if_match text[]
-- $11 request_id text
with
  changed as (
    update "category"
    set
      "name" = case
        when 'name' = any ($1::text[]) then $2::text
        else "category"."name"
      end,
      "description" = case
        when 'description' = any ($1::text[]) then $3::text
        else "category"."description"
      end,
      "sort_order" = case
        when 'sort_order' = any ($1::text[]) then $4::integer
        else "category"."sort_order"
      end,
      "external_id" = case
        when 'external_id' = any ($1::text[]) then $5::text
        else "category"."external_id"
      end,
      "version" = "category"."version" + 1,
      updated_at = clock_timestamp()
    where
      (
        (
          "category"."category_id" = $6::bigint
          and "category"."menu_id" = $7::bigint
        )
        and (
          "category"."account_id" = $8::bigint
          and (
            $9::bigint[] is null
            or "category"."location_id" = any ($9::bigint[])
          )
        )
      )
      and (
        $10::text[] is null
        or '"' || "category"."version" || '-' || (
          select
            md5(
              coalesce(
                string_agg(
                  item.item_id || '"' || "item"."version" || case
                    when coalesce("item"."unavailable_until" <= now(), false) then '-restored'
                    else ''
                  end || '"',
                  ','
                  order by
                    item.item_id
                ),
                ''
              )
            )
          from
            item
          where
            item.category_id = "category"."category_id"
        ) || '"' = any ($10::text[])
      )
      and ("category"."name", "category"."description", "category"."sort_order", "category"."external_id") is distinct from (
        case
          when 'name' = any ($1::text[]) then $2::text
          else "category"."name"
        end,
        case
          when 'description' = any ($1::text[]) then $3::text
          else "category"."description"
        end,
        case
          when 'sort_order' = any ($1::text[]) then $4::integer
          else "category"."sort_order"
        end,
        case
          when 'external_id' = any ($1::text[]) then $5::text
          else "category"."external_id"
        end
      )
    returning
      "new"."account_id" as "account_id",
      "new"."location_id" as "location_id",
      "new"."menu_id" as "menu_id",
      'category:' || "new"."category_id" as "record",
      array['category.updated'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "new"."category_id" as "category_id",
              "new"."menu_id" as "menu_id",
              "new"."name" as "name",
              "new"."description" as "description",
              "new"."sort_order" as "sort_order",
              "new"."external_id" as "external_id",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      changed_fields (
        (
          select
            to_json(fields)
          from
            (
              select
                "old"."category_id" as "category_id",
                "old"."menu_id" as "menu_id",
                "old"."name" as "name",
                "old"."description" as "description",
                "old"."sort_order" as "sort_order",
                "old"."external_id" as "external_id",
                to_char("old"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                to_char("old"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                "old"."version" as "version"
            ) as fields
        ),
        (
          select
            to_json(fields)
          from
            (
              select
                "new"."category_id" as "category_id",
                "new"."menu_id" as "menu_id",
                "new"."name" as "name",
                "new"."description" as "description",
                "new"."sort_order" as "sort_order",
                "new"."external_id" as "external_id",
                to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                "new"."version" as "version"
            ) as fields
        )
      ) as "previous",
      '"' || "new"."version" || '-' || (
        select
          md5(
            coalesce(
              string_agg(
                item.item_id || '"' || "item"."version" || case
                  when coalesce("item"."unavailable_until" <= now(), false) then '-restored'
                  else ''
                end || '"',
                ','
                order by
                  item.item_id
              ),
              ''
            )
          )
        from
          item
        where
          item.category_id = "new"."category_id"
      ) || '"' as "etag"
  ),
  recorded as (
    insert into
      event (event_id, account_id, type, record, location_id, menu_id, payload)
    select
      event_id,
      account_id,
      event_type,
      record,
      location_id,
      menu_id,
      (
        select
          to_json(fields)
        from
          (
            select
              event_id_text ("change"."event_id") as "id",
              "change"."event_type" as "type",
              to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "timestamp",
              "change"."location_id" as "location_id",
              "change"."menu_id" as "menu_id",
              "change"."resource" as "data",
              "change"."previous" as "previous",
              $11::text as "request_id"
          ) as fields
      )
    from
      (
        select
          uuidv7() as event_id,
          *
        from
          changed,
          unnest(event_types) as event_type
      ) as change
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1
    where
      menu_id = any (
        array(
          select
            menu_id
          from
            changed
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            changed
        )
      )
  )
select
  "etag",
  "resource"
from
  changed;

-- categories.updateCategory.current
-- $1 present text[]
-- $2 name text
-- $3 description text
-- $4 sort_order integer
-- $5 external_id text
-- $6 category_id bigint
-- $7 menu_id bigint
-- $8 account_id bigint
-- $9 location_ids bigint[]
select
  '"' || "category"."version" || '-' || (
    select
      md5(
        coalesce(
          string_agg(
            item.item_id || '"' || "item"."version" || case
              when coalesce("item"."unavailable_until" <= now(), false) then '-restored'
              else ''
            end || '"',
            ','
            order by
              item.item_id
          ),
          ''
        )
      )
    from
      item
    where
      item.category_id = "category"."category_id"
  ) || '"' as "etag",
  (
    select
      to_json(fields)
    from
      (
        select
          "category"."category_id" as "category_id",
          "category"."menu_id" as "menu_id",
          "category"."name" as "name",
          "category"."description" as "description",
          "category"."sort_order" as "sort_order",
          "category"."external_id" as "external_id",
          to_char("category"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
          to_char("category"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
          "category"."version" as "version"
      ) as fields
  ) as "resource",
  ("category"."name", "category"."description", "category"."sort_order", "category"."external_id") is distinct from (
    case
      when 'name' = any ($1::text[]) then $2::text
      else "category"."name"
    end,
    case
      when 'description' = any ($1::text[]) then $3::text
      else "category"."description"
    end,
    case
      when 'sort_order' = any ($1::text[]) then $4::integer
      else "category"."sort_order"
    end,
    case
      when 'external_id' = any ($1::text[]) then $5::text
      else "category"."external_id"
    end
  ) as "differs"
from
  "category"
where
  (
    (
      "category"."category_id" = $6::bigint
      and "category"."menu_id" = $7::bigint
    )
    and (
      "category"."account_id" = $8::bigint
      and (
        $9::bigint[] is null
        or "category"."location_id" = any ($9::bigint[])
      )
    )
  );

-- events.getEvent
-- $1 account_id bigint
-- $2 location_ids bigint[]
-- $3 event_id uuid
select
  (
    "event"."account_id" = $1::bigint
    and (
      $2::bigint[] is null
      or "event"."location_id" = any ($2::bigint[])
    )
  ) as "within_reach",
  payload as "resource"
from
  "event"
where
  "event_id" = $3::uuid;

-- events.listEvents
-- $1 account_id bigint
-- $2 transaction_id xid8
-- $3 sequence bigint
-- $4 granted bigint[]
-- $5 type text[]
-- $6 location_id bigint
-- $7 menu_id bigint
-- $8 limit bigint
-- Conditions that are there when given: granted, type, location_id, menu_id
select
  transaction_id || '.' || sequence as "id",
  payload as "resource"
from
  "event"
where
  "account_id" = $1::bigint
  and (transaction_id, sequence) > ($2::xid8, $3::bigint)
  and transaction_id < pg_snapshot_xmin(pg_current_snapshot())
  and (
    location_id = any ($4::bigint[])
    and (
      "type" = any ($5::text[])
      or split_part("type", '.', 1) || '.*' = any ($5::text[])
    )
    and location_id = $6::bigint
    and menu_id = $7::bigint
  )
order by
  "transaction_id",
  "sequence"
limit
  $8::bigint;

-- events.position
-- $1 event_id uuid
-- $2 account_id bigint
-- $3 location_ids bigint[]
select
  transaction_id::text as "transaction_id",
  sequence::text as "sequence"
from
  "event"
where
  "event_id" = $1::uuid
  and (
    "event"."account_id" = $2::bigint
    and (
      $3::bigint[] is null
      or "event"."location_id" = any ($3::bigint[])
    )
  );

-- idempotency.lock
-- $1 client_id text
-- $2 path text
-- $3 key text
select
  pg_try_advisory_xact_lock(hashtextextended (concat_ws(' ', $1::text, $2::text, $3::text), 0)) as "obtained";

-- idempotency.removeOld
-- $1 batch bigint
delete from "idempotency_key"
where
  ("client_id", "path", "key", "account_id") in (
    select
      "old"."client_id",
      "old"."path",
      "old"."key",
      "old"."account_id"
    from
      "idempotency_key" as "old"
    where
      "old"."created_at" <= now() - interval '24 hours'
    order by
      "old"."created_at"
    limit
      $1::bigint
    for update
      skip locked
  )
returning
  "key";

-- idempotency.select
-- $1 client_id text
-- $2 path text
-- $3 key text
-- $4 account_id bigint
select
  "body_hash",
  "sealed_answer"
from
  "idempotency_key"
where
  "client_id" = $1::text
  and "path" = $2::text
  and "key" = $3::text
  and "account_id" = $4::bigint
  and "created_at" > now() - interval '24 hours';

-- idempotency.store
-- $1 client_id text
-- $2 account_id bigint
-- $3 path text
-- $4 key text
-- $5 body_hash bytea
-- $6 sealed_answer bytea
insert into
  "idempotency_key" ("client_id", "account_id", "path", "key", "body_hash", "sealed_answer")
values
  ($1::text, $2::bigint, $3::text, $4::text, $5::bytea, $6::bytea)
on conflict ("client_id", "path", "key", "account_id") do update
set
  "body_hash" = "excluded"."body_hash",
  "sealed_answer" = "excluded"."sealed_answer",
  "created_at" = "excluded"."created_at"
where
  "idempotency_key"."created_at" <= now() - interval '24 hours'
returning
  "key";

-- items.createItem
-- $1 category_id bigint
-- $2 menu_id bigint
-- $3 account_id bigint
-- $4 location_ids bigint[]
-- $5 name text
-- $6 description text
-- $7 price numeric
-- $8 photo_url text
-- $9 allergens text[]
-- $10 dietary_tags text[]
-- $11 is_available boolean
-- $12 unavailable_until timestamptz
-- $13 external_id text
-- $14 sort_order integer
-- $15 request_id text
with
  changed as (
    insert into
      "item" (
        "account_id",
        "location_id",
        "menu_id",
        "category_id",
        "name",
        "description",
        "price",
        "photo_url",
        "allergens",
        "dietary_tags",
        "is_available",
        "unavailable_until",
        "external_id",
        "sort_order"
      )
    with
      home as (
        select
          "account_id",
          "location_id",
          "menu_id",
          "category_id"
        from
          "category"
        where
          (
            (
              "category"."category_id" = $1::bigint
              and "category"."menu_id" = $2::bigint
            )
            and (
              "category"."account_id" = $3::bigint
              and (
                $4::bigint[] is null
                or "category"."location_id" = any ($4::bigint[])
              )
            )
          )
        for key share
      )
    select
      "account_id",
      "location_id",
      "menu_id",
      "category_id",
      $5::text,
      $6::text,
      $7::numeric,
      $8::text,
      $9::text[],
      $10::text[],
      $11::boolean,
      $12::timestamptz,
      $13::text,
      coalesce(
        $14::integer,
        (
          select
            least(coalesce(max(sort_order), -1) + 1::bigint, 2147483647)::integer
          from
            "item"
          where
            "item"."category_id" = "home"."category_id"
            and account_id = home.account_id
        )
      )
    from
      home
    returning
      "new"."account_id" as "account_id",
      "new"."location_id" as "location_id",
      "new"."menu_id" as "menu_id",
      'item:' || "new"."item_id" as "record",
      array['item.created'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "new"."item_id" as "item_id",
              "new"."category_id" as "category_id",
              "new"."menu_id" as "menu_id",
              "new"."name" as "name",
              "new"."description" as "description",
              "new"."price" as "price",
              "new"."photo_url" as "photo_url",
              "new"."allergens" as "allergens",
              "new"."dietary_tags" as "dietary_tags",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              "new"."sort_order" as "sort_order",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "new"."external_id" as "external_id",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      null::json as "previous",
      "item"."item_id" as "id",
      '"' || "new"."version" || case
        when coalesce("new"."unavailable_until" <= now(), false) then '-restored'
        else ''
      end || '"' as "etag"
  ),
  recorded as (
    insert into
      event (event_id, account_id, type, record, location_id, menu_id, payload)
    select
      event_id,
      account_id,
      event_type,
      record,
      location_id,
      menu_id,
      (
        select
          to_json(fields)
        from
          (
            select
              event_id_text ("change"."event_id") as "id",
              "change"."event_type" as "type",
              to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "timestamp",
              "change"."location_id" as "location_id",
              "change"."menu_id" as "menu_id",
              "change"."resource" as "data",
              "change"."previous" as "previous",
              $15::text as "request_id"
          ) as fields
      )
    from
      (
        select
          uuidv7() as event_id,
          *
        from
          changed,
          unnest(event_types) as event_type
      ) as change
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1
    where
      menu_id = any (
        array(
          select
            menu_id
          from
            changed
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            changed
        )
      )
  )
select
  "id",
  "etag",
  "resource"
from
  changed;

-- items.deleteItem
-- $1 item_id bigint
-- $2 menu_id bigint
-- $3 account_id bigint
-- $4 location_ids bigint[]
-- $5 if_match text[]
-- $6 request_id text
with
  changed as (
    delete from "item"
    where
      (
        (
          "item"."item_id" = $1::bigint
          and "item"."menu_id" = $2::bigint
        )
        and (
          "item"."account_id" = $3::bigint
          and (
            $4::bigint[] is null
            or "item"."location_id" = any ($4::bigint[])
          )
        )
      )
      and (
        $5::text[] is null
        or '"' || "item"."version" || case
          when coalesce("item"."unavailable_until" <= now(), false) then '-restored'
          else ''
        end || '"' = any ($5::text[])
      )
    returning
      "old"."account_id" as "account_id",
      "old"."location_id" as "location_id",
      "old"."menu_id" as "menu_id",
      'item:' || "old"."item_id" as "record",
      array['item.deleted'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "old"."item_id" as "item_id",
              "old"."category_id" as "category_id",
              "old"."menu_id" as "menu_id",
              "old"."name" as "name",
              "old"."description" as "description",
              "old"."price" as "price",
              "old"."photo_url" as "photo_url",
              "old"."allergens" as "allergens",
              "old"."dietary_tags" as "dietary_tags",
              (
                "old"."is_available"
                or coalesce("old"."unavailable_until" <= now(), false)
              ) as "is_available",
              "old"."sort_order" as "sort_order",
              to_char("old"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "old"."external_id" as "external_id",
              to_char(
                case
                  when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char("old"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "old"."version" as "version"
          ) as fields
      ) as "resource",
      null::json as "previous"
  ),
  recorded as (
    insert into
      event (event_id, account_id, type, record, location_id, menu_id, payload)
    select
      event_id,
      account_id,
      event_type,
      record,
      location_id,
      menu_id,
      (
        select
          to_json(fields)
        from
          (
            select
              event_id_text ("change"."event_id") as "id",
              "change"."event_type" as "type",
              to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "timestamp",
              "change"."location_id" as "location_id",
              "change"."menu_id" as "menu_id",
              "change"."resource" as "data",
              "change"."previous" as "previous",
              $6::text as "request_id"
          ) as fields
      )
    from
      (
        select
          uuidv7() as event_id,
          *
        from
          changed,
          unnest(event_types) as event_type
      ) as change
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1
    where
      menu_id = any (
        array(
          select
            menu_id
          from
            changed
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            changed
        )
      )
  )
select
  "record"
from
  changed;

-- items.getItem
-- $1 account_id bigint
-- $2 location_ids bigint[]
-- $3 item_id bigint
-- $4 menu_id bigint
select
  (
    "item"."account_id" = $1::bigint
    and (
      $2::bigint[] is null
      or "item"."location_id" = any ($2::bigint[])
    )
  ) as "within_reach",
  '"' || "item"."version" || case
    when coalesce("item"."unavailable_until" <= now(), false) then '-restored'
    else ''
  end || '"' as "etag",
  (
    select
      to_json(fields)
    from
      (
        select
          "item"."item_id" as "item_id",
          "item"."category_id" as "category_id",
          "item"."menu_id" as "menu_id",
          "item"."name" as "name",
          "item"."description" as "description",
          "item"."price" as "price",
          "item"."photo_url" as "photo_url",
          "item"."allergens" as "allergens",
          "item"."dietary_tags" as "dietary_tags",
          (
            "item"."is_available"
            or coalesce("item"."unavailable_until" <= now(), false)
          ) as "is_available",
          "item"."sort_order" as "sort_order",
          to_char("item"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
          "item"."external_id" as "external_id",
          to_char(
            case
              when not coalesce("item"."unavailable_until" <= now(), false) then "item"."unavailable_until"
            end at time zone 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
          ) as "unavailable_until",
          to_char("item"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
          "item"."version" as "version"
      ) as fields
  ) as "resource"
from
  "item"
where
  (
    "item"."item_id" = $3::bigint
    and "item"."menu_id" = $4::bigint
  );

-- items.listItems
-- $1 menu_id bigint
-- $2 account_id bigint
-- $3 location_ids bigint[]
-- $4 after bigint
-- $5 category_id bigint
-- $6 is_available boolean
-- $7 dietary_tag text[]
-- $8 allergen_free text[]
-- $9 external_id text
-- $10 updated_since timestamptz
-- $11 q text
-- $12 limit bigint
-- Conditions that are there when given: category_id, is_available, dietary_tag, allergen_free, external_id, updated_since, q
select
  "item_id" as "id",
  (
    select
      to_json(fields)
    from
      (
        select
          "item"."item_id" as "item_id",
          "item"."category_id" as "category_id",
          "item"."menu_id" as "menu_id",
          "item"."name" as "name",
          "item"."description" as "description",
          "item"."price" as "price",
          "item"."photo_url" as "photo_url",
          "item"."allergens" as "allergens",
          "item"."dietary_tags" as "dietary_tags",
          (
            "item"."is_available"
            or coalesce("item"."unavailable_until" <= now(), false)
          ) as "is_available",
          "item"."sort_order" as "sort_order",
          to_char("item"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
          "item"."external_id" as "external_id",
          to_char(
            case
              when not coalesce("item"."unavailable_until" <= now(), false) then "item"."unavailable_until"
            end at time zone 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
          ) as "unavailable_until",
          to_char("item"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
          "item"."version" as "version"
      ) as fields
  ) as "resource"
from
  "item"
where
  "menu_id" = $1::bigint
  and (
    "item"."account_id" = $2::bigint
    and (
      $3::bigint[] is null
      or "item"."location_id" = any ($3::bigint[])
    )
  )
  and "item_id" > $4::bigint
  and (
    category_id = $5::bigint
    and (
      "item"."is_available"
      or coalesce("item"."unavailable_until" <= now(), false)
    ) = $6::boolean
    and dietary_tags @> $7::text[]
    and (
      allergens <> '{}'
      and not exists (
        select
        from
          unnest(allergens) as declared,
          unnest($8::text[]) as avoided
        where
          btrim(search_text (declared)) = btrim(search_text (avoided))
      )
    )
    and external_id = $9::text
    and updated_at >= $10::timestamptz
    and (
      search_text (name || ' ' || description) like '%' || regexp_replace(search_text ($11::text), '([\\%_])', '\\\1', 'g') || '%'
      and (
        search_text (name) like '%' || regexp_replace(search_text ($11::text), '([\\%_])', '\\\1', 'g') || '%'
        or search_text (description) like '%' || regexp_replace(search_text ($11::text), '([\\%_])', '\\\1', 'g') || '%'
      )
    )
  )
order by
  "item_id"
limit
  $12::bigint;

-- items.requireItem
-- $1 account_id bigint
-- $2 location_ids bigint[]
-- $3 item_id bigint
-- $4 menu_id bigint
select
  (
    "item"."account_id" = $1::bigint
    and (
      $2::bigint[] is null
      or "item"."location_id" = any ($2::bigint[])
    )
  ) as "within_reach"
from
  "item"
where
  (
    "item"."item_id" = $3::bigint
    and "item"."menu_id" = $4::bigint
  );

-- items.restoreDueItems
-- $1 request_id text
with
  changed as (
    update "item"
    set
      "is_available" = true,
      "unavailable_until" = null,
      "version" = item.version + 1,
      "updated_at" = clock_timestamp()
    where
      (
        select
          pg_try_advisory_xact_lock(hashtextextended ('restore items', 0))
      )
      and ("item"."item_id", "item"."account_id") in (
        select
          "due"."item_id",
          "due"."account_id"
        from
          "item" as "due"
        where
          "due"."unavailable_until" <= now()
        order by
          "due"."item_id"
        limit
          500
        for update
          skip locked
      )
    returning
      "new"."account_id" as "account_id",
      "new"."location_id" as "location_id",
      "new"."menu_id" as "menu_id",
      'item:' || "new"."item_id" as "record",
      array['item.toggled'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "new"."item_id" as "item_id",
              "new"."category_id" as "category_id",
              "new"."menu_id" as "menu_id",
              "new"."name" as "name",
              "new"."description" as "description",
              "new"."price" as "price",
              "new"."photo_url" as "photo_url",
              "new"."allergens" as "allergens",
              "new"."dietary_tags" as "dietary_tags",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              "new"."sort_order" as "sort_order",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "new"."external_id" as "external_id",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      changed_fields (
        case
          when new.is_available then (
            select
              to_json(fields)
            from
              (
                select
                  "old"."item_id" as "item_id",
                  "old"."category_id" as "category_id",
                  "old"."menu_id" as "menu_id",
                  "old"."name" as "name",
                  "old"."description" as "description",
                  "old"."price" as "price",
                  "old"."photo_url" as "photo_url",
                  "old"."allergens" as "allergens",
                  "old"."dietary_tags" as "dietary_tags",
                  "old"."is_available" as "is_available",
                  "old"."sort_order" as "sort_order",
                  to_char("old"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                  "old"."external_id" as "external_id",
                  to_char("old"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "unavailable_until",
                  to_char("old"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                  "old"."version" as "version"
              ) as fields
          )
          else (
            select
              to_json(fields)
            from
              (
                select
                  "old"."item_id" as "item_id",
                  "old"."category_id" as "category_id",
                  "old"."menu_id" as "menu_id",
                  "old"."name" as "name",
                  "old"."description" as "description",
                  "old"."price" as "price",
                  "old"."photo_url" as "photo_url",
                  "old"."allergens" as "allergens",
                  "old"."dietary_tags" as "dietary_tags",
                  (
                    "old"."is_available"
                    or coalesce("old"."unavailable_until" <= now(), false)
                  ) as "is_available",
                  "old"."sort_order" as "sort_order",
                  to_char("old"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                  "old"."external_id" as "external_id",
                  to_char(
                    case
                      when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                    end at time zone 'UTC',
                    'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                  ) as "unavailable_until",
                  to_char("old"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                  "old"."version" as "version"
              ) as fields
          )
        end,
        (
          select
            to_json(fields)
          from
            (
              select
                "new"."item_id" as "item_id",
                "new"."category_id" as "category_id",
                "new"."menu_id" as "menu_id",
                "new"."name" as "name",
                "new"."description" as "description",
                "new"."price" as "price",
                "new"."photo_url" as "photo_url",
                "new"."allergens" as "allergens",
                "new"."dietary_tags" as "dietary_tags",
                (
                  "new"."is_available"
                  or coalesce("new"."unavailable_until" <= now(), false)
                ) as "is_available",
                "new"."sort_order" as "sort_order",
                to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                "new"."external_id" as "external_id",
                to_char(
                  case
                    when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                  end at time zone 'UTC',
                  'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                ) as "unavailable_until",
                to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                "new"."version" as "version"
            ) as fields
        )
      ) as "previous"
  ),
  recorded as (
    insert into
      event (event_id, account_id, type, record, location_id, menu_id, payload)
    select
      event_id,
      account_id,
      event_type,
      record,
      location_id,
      menu_id,
      (
        select
          to_json(fields)
        from
          (
            select
              event_id_text ("change"."event_id") as "id",
              "change"."event_type" as "type",
              to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "timestamp",
              "change"."location_id" as "location_id",
              "change"."menu_id" as "menu_id",
              "change"."resource" as "data",
              "change"."previous" as "previous",
              $1::text as "request_id"
          ) as fields
      )
    from
      (
        select
          uuidv7() as event_id,
          *
        from
          changed,
          unnest(event_types) as event_type
      ) as change
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1
    where
      menu_id = any (
        array(
          select
            menu_id
          from
            changed
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            changed
        )
      )
  )
select
  "record"
from
  changed;

-- items.setAvailability
-- $1 item_ids bigint[]
-- $2 external_ids text[]
-- $3 availables boolean[]
-- $4 untils timestamptz[]
-- $5 plans boolean[]
-- $6 menu_id bigint
-- $7 account_id bigint
-- $8 location_ids bigint[]
-- $9 request_id text
with
  wanted as (
    select
      item_id,
      external_id,
      is_available,
      unavailable_until,
      has_plan,
      place::int - 1 as place
    from
      unnest($1::bigint[], $2::text[], $3::boolean[], $4::timestamptz[], $5::boolean[]) with ordinality as wanted (item_id, external_id, is_available, unavailable_until, has_plan, place)
  ),
  locked as (
    select
      *
    from
      item
    where
      menu_id = $6::bigint
      and (
        "item"."account_id" = $7::bigint
        and (
          $8::bigint[] is null
          or "item"."location_id" = any ($8::bigint[])
        )
      )
      and item_id = any (
        array(
          select
            item_id
          from
            wanted
          where
            item_id is not null
          union all
          select
            item.item_id
          from
            wanted
            join item on item.external_id = wanted.external_id
          where
            item.menu_id = $6::bigint
            and item.account_id = $7::bigint
        )
      )
    order by
      item_id
    for no key update
  ),
  found as (
    select
      wanted.place,
      min(wanted.place) over (
        partition by
          locked.item_id
      ) as first_place,
      locked.item_id,
      locked.account_id,
      locked.external_id,
      wanted.is_available as wants_available,
      case
        when wanted.is_available then null
        when wanted.has_plan then wanted.unavailable_until
        else case
          when not coalesce("locked"."unavailable_until" <= now(), false) then "locked"."unavailable_until"
        end
      end as wants_until,
      (
        wanted.is_available,
        case
          when wanted.is_available then null
          when wanted.has_plan then wanted.unavailable_until
          else case
            when not coalesce("locked"."unavailable_until" <= now(), false) then "locked"."unavailable_until"
          end
        end
      ) is distinct from (
        (
          "locked"."is_available"
          or coalesce("locked"."unavailable_until" <= now(), false)
        ),
        case
          when not coalesce("locked"."unavailable_until" <= now(), false) then "locked"."unavailable_until"
        end
      ) as differs,
      (
        select
          to_json(fields)
        from
          (
            select
              "locked"."item_id" as "item_id",
              "locked"."category_id" as "category_id",
              "locked"."menu_id" as "menu_id",
              "locked"."name" as "name",
              "locked"."description" as "description",
              "locked"."price" as "price",
              "locked"."photo_url" as "photo_url",
              "locked"."allergens" as "allergens",
              "locked"."dietary_tags" as "dietary_tags",
              (
                "locked"."is_available"
                or coalesce("locked"."unavailable_until" <= now(), false)
              ) as "is_available",
              "locked"."sort_order" as "sort_order",
              to_char("locked"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "locked"."external_id" as "external_id",
              to_char(
                case
                  when not coalesce("locked"."unavailable_until" <= now(), false) then "locked"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char("locked"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "locked"."version" as "version"
          ) as fields
      ) as item
    from
      wanted
      join (
        select
          place,
          locked.item_id
        from
          wanted
          join locked on locked.item_id = wanted.item_id
        union all
        select
          place,
          locked.item_id
        from
          wanted
          join locked on locked.external_id = wanted.external_id
      ) as named using (place)
      join locked on locked.item_id = named.item_id
  ),
  changed as (
    update item
    set
      is_available = found.wants_available,
      unavailable_until = found.wants_until,
      version = item.version + 1,
      updated_at = clock_timestamp()
    from
      found
    where
      item.item_id = found.item_id
      and item.account_id = found.account_id
      and found.differs
      and not exists (
        select
        from
          found
        where
          place > first_place
      )
    returning
      "new"."account_id" as "account_id",
      "new"."location_id" as "location_id",
      "new"."menu_id" as "menu_id",
      'item:' || "new"."item_id" as "record",
      array[
        case
          when (
            old.is_available <> new.is_available
            or (
              "old"."is_available"
              or coalesce("old"."unavailable_until" <= now(), false)
            ) <> new.is_available
          ) then 'item.toggled'
          else 'item.updated'
        end
      ] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "new"."item_id" as "item_id",
              "new"."category_id" as "category_id",
              "new"."menu_id" as "menu_id",
              "new"."name" as "name",
              "new"."description" as "description",
              "new"."price" as "price",
              "new"."photo_url" as "photo_url",
              "new"."allergens" as "allergens",
              "new"."dietary_tags" as "dietary_tags",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              "new"."sort_order" as "sort_order",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "new"."external_id" as "external_id",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      changed_fields (
        case
          when new.is_available then (
            select
              to_json(fields)
            from
              (
                select
                  "old"."item_id" as "item_id",
                  "old"."category_id" as "category_id",
                  "old"."menu_id" as "menu_id",
                  "old"."name" as "name",
                  "old"."description" as "description",
                  "old"."price" as "price",
                  "old"."photo_url" as "photo_url",
                  "old"."allergens" as "allergens",
                  "old"."dietary_tags" as "dietary_tags",
                  "old"."is_available" as "is_available",
                  "old"."sort_order" as "sort_order",
                  to_char("old"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                  "old"."external_id" as "external_id",
                  to_char("old"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "unavailable_until",
                  to_char("old"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                  "old"."version" as "version"
              ) as fields
          )
          else (
            select
              to_json(fields)
            from
              (
                select
                  "old"."item_id" as "item_id",
                  "old"."category_id" as "category_id",
                  "old"."menu_id" as "menu_id",
                  "old"."name" as "name",
                  "old"."description" as "description",
                  "old"."price" as "price",
                  "old"."photo_url" as "photo_url",
                  "old"."allergens" as "allergens",
                  "old"."dietary_tags" as "dietary_tags",
                  (
                    "old"."is_available"
                    or coalesce("old"."unavailable_until" <= now(), false)
                  ) as "is_available",
                  "old"."sort_order" as "sort_order",
                  to_char("old"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                  "old"."external_id" as "external_id",
                  to_char(
                    case
                      when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                    end at time zone 'UTC',
                    'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                  ) as "unavailable_until",
                  to_char("old"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                  "old"."version" as "version"
              ) as fields
          )
        end,
        (
          select
            to_json(fields)
          from
            (
              select
                "new"."item_id" as "item_id",
                "new"."category_id" as "category_id",
                "new"."menu_id" as "menu_id",
                "new"."name" as "name",
                "new"."description" as "description",
                "new"."price" as "price",
                "new"."photo_url" as "photo_url",
                "new"."allergens" as "allergens",
                "new"."dietary_tags" as "dietary_tags",
                (
                  "new"."is_available"
                  or coalesce("new"."unavailable_until" <= now(), false)
                ) as "is_available",
                "new"."sort_order" as "sort_order",
                to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                "new"."external_id" as "external_id",
                to_char(
                  case
                    when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                  end at time zone 'UTC',
                  'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                ) as "unavailable_until",
                to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                "new"."version" as "version"
            ) as fields
        )
      ) as "previous",
      "item"."item_id" as "item_id"
  ),
  recorded as (
    insert into
      event (event_id, account_id, type, record, location_id, menu_id, payload)
    select
      event_id,
      account_id,
      event_type,
      record,
      location_id,
      menu_id,
      (
        select
          to_json(fields)
        from
          (
            select
              event_id_text ("change"."event_id") as "id",
              "change"."event_type" as "type",
              to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "timestamp",
              "change"."location_id" as "location_id",
              "change"."menu_id" as "menu_id",
              "change"."resource" as "data",
              "change"."previous" as "previous",
              $9::text as "request_id"
          ) as fields
      )
    from
      (
        select
          uuidv7() as event_id,
          *
        from
          changed,
          unnest(event_types) as event_type
      ) as change
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1
    where
      menu_id = any (
        array(
          select
            menu_id
          from
            changed
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            changed
        )
      )
  )
select
  case
    when changed.item_id is not null then 'changed'
    when found.item_id is not null then 'unchanged'
    else 'not_found'
  end as outcome,
  (
    select
      to_json(fields)
    from
      (
        select
          coalesce(found.item_id, wanted.item_id) as "item_id",
          case
            when found.item_id is null then wanted.external_id
            else found.external_id
          end as "external_id",
          case
            when changed.item_id is not null then 'changed'
            when found.item_id is not null then 'unchanged'
            else 'not_found'
          end as "result",
          coalesce(changed.resource, found.item) as "item"
      ) as fields
  ) as result,
  found.first_place
from
  wanted
  left join found using (place)
  left join changed on changed.item_id = found.item_id
order by
  wanted.place;

-- items.toggleItem
-- $1 item_id bigint
-- $2 menu_id bigint
-- $3 account_id bigint
-- $4 location_ids bigint[]
-- $5 if_match text[]
-- $6 request_id text
with
  changed as (
    update "item"
    set
      "is_available" = not (
        "item"."is_available"
        or coalesce("item"."unavailable_until" <= now(), false)
      ),
      "unavailable_until" = null,
      "version" = item.version + 1,
      "updated_at" = clock_timestamp()
    where
      (
        (
          "item"."item_id" = $1::bigint
          and "item"."menu_id" = $2::bigint
        )
        and (
          "item"."account_id" = $3::bigint
          and (
            $4::bigint[] is null
            or "item"."location_id" = any ($4::bigint[])
          )
        )
      )
      and (
        $5::text[] is null
        or '"' || "item"."version" || case
          when coalesce("item"."unavailable_until" <= now(), false) then '-restored'
          else ''
        end || '"' = any ($5::text[])
      )
    returning
      "new"."account_id" as "account_id",
      "new"."location_id" as "location_id",
      "new"."menu_id" as "menu_id",
      'item:' || "new"."item_id" as "record",
      array['item.toggled'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "new"."item_id" as "item_id",
              "new"."category_id" as "category_id",
              "new"."menu_id" as "menu_id",
              "new"."name" as "name",
              "new"."description" as "description",
              "new"."price" as "price",
              "new"."photo_url" as "photo_url",
              "new"."allergens" as "allergens",
              "new"."dietary_tags" as "dietary_tags",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              "new"."sort_order" as "sort_order",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "new"."external_id" as "external_id",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      case
        when old.unavailable_until is null
        or coalesce("old"."unavailable_until" <= now(), false) then (
          select
            to_json(fields)
          from
            (
              select
                (
                  "old"."is_available"
                  or coalesce("old"."unavailable_until" <= now(), false)
                ) as "is_available"
            ) as fields
        )
        else (
          select
            to_json(fields)
          from
            (
              select
                (
                  "old"."is_available"
                  or coalesce("old"."unavailable_until" <= now(), false)
                ) as "is_available",
                to_char(old.unavailable_until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "unavailable_until"
            ) as fields
        )
      end as "previous",
      '"' || "new"."version" || case
        when coalesce("new"."unavailable_until" <= now(), false) then '-restored'
        else ''
      end || '"' as "etag"
  ),
  recorded as (
    insert into
      event (event_id, account_id, type, record, location_id, menu_id, payload)
    select
      event_id,
      account_id,
      event_type,
      record,
      location_id,
      menu_id,
      (
        select
          to_json(fields)
        from
          (
            select
              event_id_text ("change"."event_id") as "id",
              "change"."event_type" as "type",
              to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "timestamp",
              "change"."location_id" as "location_id",
              "change"."menu_id" as "menu_id",
              "change"."resource" as "data",
              "change"."previous" as "previous",
              $6::text as "request_id"
          ) as fields
      )
    from
      (
        select
          uuidv7() as event_id,
          *
        from
          changed,
          unnest(event_types) as event_type
      ) as change
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1
    where
      menu_id = any (
        array(
          select
            menu_id
          from
            changed
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            changed
        )
      )
  )
select
  "etag",
  "resource"
from
  changed;

-- items.updateItem
-- $1 present text[]
-- $2 category_id bigint
-- $3 menu_id bigint
-- $4 account_id bigint
-- $5 name text
-- $6 description text
-- $7 price numeric
-- $8 photo_url text
-- $9 allergens text[]
-- $10 dietary_tags text[]
-- $11 is_available boolean
-- $12 unavailable_until timestamptz
-- $13 sort_order integer
-- $14 external_id text
-- $15 item_id bigint
-- $16 location_ids bigint[]
-- $17 if_match text[]
-- $18 request_id text
with
  changed as (
    update "item"
    set
      "category_id" = case
        when 'category_id' = any ($1::text[]) then coalesce(
          (
            select
              category_id
            from
              category
            where
              category_id = $2::bigint
              and menu_id = $3::bigint
              and account_id = $4::bigint
            for key share
          ),
          $2::bigint
        )
        else item.category_id
      end,
      "name" = case
        when 'name' = any ($1::text[]) then $5::text
        else "item"."name"
      end,
      "description" = case
        when 'description' = any ($1::text[]) then $6::text
        else "item"."description"
      end,
      "price" = case
        when 'price' = any ($1::text[]) then $7::numeric
        else "item"."price"
      end,
      "photo_url" = case
        when 'photo_url' = any ($1::text[]) then $8::text
        else "item"."photo_url"
      end,
      "allergens" = case
        when 'allergens' = any ($1::text[]) then $9::text[]
        else "item"."allergens"
      end,
      "dietary_tags" = case
        when 'dietary_tags' = any ($1::text[]) then $10::text[]
        else "item"."dietary_tags"
      end,
      "is_available" = case
        when 'is_available' = any ($1::text[]) then $11::boolean
        when $12::timestamptz is not null then false
        else item.is_available
        or coalesce("item"."unavailable_until" <= now(), false)
      end,
      "unavailable_until" = case
        when case
          when 'is_available' = any ($1::text[]) then $11::boolean
          when $12::timestamptz is not null then false
          else item.is_available
          or coalesce("item"."unavailable_until" <= now(), false)
        end then null
        when 'unavailable_until' = any ($1::text[]) then $12::timestamptz
        else case
          when not coalesce("item"."unavailable_until" <= now(), false) then "item"."unavailable_until"
        end
      end,
      "sort_order" = case
        when 'sort_order' = any ($1::text[]) then $13::integer
        else "item"."sort_order"
      end,
      "external_id" = case
        when 'external_id' = any ($1::text[]) then $14::text
        else "item"."external_id"
      end,
      "version" = "item"."version" + 1,
      updated_at = clock_timestamp()
    where
      (
        (
          "item"."item_id" = $15::bigint
          and "item"."menu_id" = $3::bigint
        )
        and (
          "item"."account_id" = $4::bigint
          and (
            $16::bigint[] is null
            or "item"."location_id" = any ($16::bigint[])
          )
        )
      )
      and (
        $17::text[] is null
        or '"' || "item"."version" || case
          when coalesce("item"."unavailable_until" <= now(), false) then '-restored'
          else ''
        end || '"' = any ($17::text[])
      )
      and (
        "item"."category_id",
        "item"."name",
        "item"."description",
        "item"."price",
        "item"."photo_url",
        "item"."allergens",
        "item"."dietary_tags",
        "item"."is_available",
        "item"."unavailable_until",
        "item"."sort_order",
        "item"."external_id"
      ) is distinct from (
        case
          when 'category_id' = any ($1::text[]) then $2::bigint
          else "item"."category_id"
        end,
        case
          when 'name' = any ($1::text[]) then $5::text
          else "item"."name"
        end,
        case
          when 'description' = any ($1::text[]) then $6::text
          else "item"."description"
        end,
        case
          when 'price' = any ($1::text[]) then $7::numeric
          else "item"."price"
        end,
        case
          when 'photo_url' = any ($1::text[]) then $8::text
          else "item"."photo_url"
        end,
        case
          when 'allergens' = any ($1::text[]) then $9::text[]
          else "item"."allergens"
        end,
        case
          when 'dietary_tags' = any ($1::text[]) then $10::text[]
          else "item"."dietary_tags"
        end,
        case
          when 'is_available' = any ($1::text[]) then $11::boolean
          when $12::timestamptz is not null then false
          else item.is_available
          or coalesce("item"."unavailable_until" <= now(), false)
        end,
        case
          when case
            when 'is_available' = any ($1::text[]) then $11::boolean
            when $12::timestamptz is not null then false
            else item.is_available
            or coalesce("item"."unavailable_until" <= now(), false)
          end then null
          when 'unavailable_until' = any ($1::text[]) then $12::timestamptz
          else case
            when not coalesce("item"."unavailable_until" <= now(), false) then "item"."unavailable_until"
          end
        end,
        case
          when 'sort_order' = any ($1::text[]) then $13::integer
          else "item"."sort_order"
        end,
        case
          when 'external_id' = any ($1::text[]) then $14::text
          else "item"."external_id"
        end
      )
    returning
      "new"."account_id" as "account_id",
      "new"."location_id" as "location_id",
      "new"."menu_id" as "menu_id",
      'item:' || "new"."item_id" as "record",
      array_remove(
        array[
          case
            when (
              old.is_available <> new.is_available
              or (
                "old"."is_available"
                or coalesce("old"."unavailable_until" <= now(), false)
              ) <> new.is_available
            ) then 'item.toggled'
          end,
          case
            when (
              "old"."category_id",
              "old"."name",
              "old"."description",
              "old"."price",
              "old"."photo_url",
              "old"."allergens",
              "old"."dietary_tags",
              "old"."sort_order",
              "old"."external_id"
            ) is distinct from (
              "new"."category_id",
              "new"."name",
              "new"."description",
              "new"."price",
              "new"."photo_url",
              "new"."allergens",
              "new"."dietary_tags",
              "new"."sort_order",
              "new"."external_id"
            )
            or not (
              old.is_available <> new.is_available
              or (
                "old"."is_available"
                or coalesce("old"."unavailable_until" <= now(), false)
              ) <> new.is_available
            )
            and old.unavailable_until is distinct from new.unavailable_until then 'item.updated'
          end
        ],
        null
      ) as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "new"."item_id" as "item_id",
              "new"."category_id" as "category_id",
              "new"."menu_id" as "menu_id",
              "new"."name" as "name",
              "new"."description" as "description",
              "new"."price" as "price",
              "new"."photo_url" as "photo_url",
              "new"."allergens" as "allergens",
              "new"."dietary_tags" as "dietary_tags",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              "new"."sort_order" as "sort_order",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "new"."external_id" as "external_id",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      changed_fields (
        case
          when new.is_available then (
            select
              to_json(fields)
            from
              (
                select
                  "old"."item_id" as "item_id",
                  "old"."category_id" as "category_id",
                  "old"."menu_id" as "menu_id",
                  "old"."name" as "name",
                  "old"."description" as "description",
                  "old"."price" as "price",
                  "old"."photo_url" as "photo_url",
                  "old"."allergens" as "allergens",
                  "old"."dietary_tags" as "dietary_tags",
                  "old"."is_available" as "is_available",
                  "old"."sort_order" as "sort_order",
                  to_char("old"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                  "old"."external_id" as "external_id",
                  to_char("old"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "unavailable_until",
                  to_char("old"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                  "old"."version" as "version"
              ) as fields
          )
          else (
            select
              to_json(fields)
            from
              (
                select
                  "old"."item_id" as "item_id",
                  "old"."category_id" as "category_id",
                  "old"."menu_id" as "menu_id",
                  "old"."name" as "name",
                  "old"."description" as "description",
                  "old"."price" as "price",
                  "old"."photo_url" as "photo_url",
                  "old"."allergens" as "allergens",
                  "old"."dietary_tags" as "dietary_tags",
                  (
                    "old"."is_available"
                    or coalesce("old"."unavailable_until" <= now(), false)
                  ) as "is_available",
                  "old"."sort_order" as "sort_order",
                  to_char("old"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                  "old"."external_id" as "external_id",
                  to_char(
                    case
                      when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                    end at time zone 'UTC',
                    'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                  ) as "unavailable_until",
                  to_char("old"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                  "old"."version" as "version"
              ) as fields
          )
        end,
        (
          select
            to_json(fields)
          from
            (
              select
                "new"."item_id" as "item_id",
                "new"."category_id" as "category_id",
                "new"."menu_id" as "menu_id",
                "new"."name" as "name",
                "new"."description" as "description",
                "new"."price" as "price",
                "new"."photo_url" as "photo_url",
                "new"."allergens" as "allergens",
                "new"."dietary_tags" as "dietary_tags",
                (
                  "new"."is_available"
                  or coalesce("new"."unavailable_until" <= now(), false)
                ) as "is_available",
                "new"."sort_order" as "sort_order",
                to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                "new"."external_id" as "external_id",
                to_char(
                  case
                    when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                  end at time zone 'UTC',
                  'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                ) as "unavailable_until",
                to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                "new"."version" as "version"
            ) as fields
        )
      ) as "previous",
      '"' || "new"."version" || case
        when coalesce("new"."unavailable_until" <= now(), false) then '-restored'
        else ''
      end || '"' as "etag"
  ),
  recorded as (
    insert into
      event (event_id, account_id, type, record, location_id, menu_id, payload)
    select
      event_id,
      account_id,
      event_type,
      record,
      location_id,
      menu_id,
      (
        select
          to_json(fields)
        from
          (
            select
              event_id_text ("change"."event_id") as "id",
              "change"."event_type" as "type",
              to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "timestamp",
              "change"."location_id" as "location_id",
              "change"."menu_id" as "menu_id",
              "change"."resource" as "data",
              "change"."previous" as "previous",
              $18::text as "request_id"
          ) as fields
      )
    from
      (
        select
          uuidv7() as event_id,
          *
        from
          changed,
          unnest(event_types) as event_type
      ) as change
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1
    where
      menu_id = any (
        array(
          select
            menu_id
          from
            changed
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            changed
        )
      )
  )
select
  "etag",
  "resource"
from
  changed;

-- items.updateItem.current
-- $1 present text[]
-- $2 category_id bigint
-- $3 name text
-- $4 description text
-- $5 price numeric
-- $6 photo_url text
-- $7 allergens text[]
-- $8 dietary_tags text[]
-- $9 is_available boolean
-- $10 unavailable_until timestamptz
-- $11 sort_order integer
-- $12 external_id text
-- $13 item_id bigint
-- $14 menu_id bigint
-- $15 account_id bigint
-- $16 location_ids bigint[]
select
  '"' || "item"."version" || case
    when coalesce("item"."unavailable_until" <= now(), false) then '-restored'
    else ''
  end || '"' as "etag",
  (
    select
      to_json(fields)
    from
      (
        select
          "item"."item_id" as "item_id",
          "item"."category_id" as "category_id",
          "item"."menu_id" as "menu_id",
          "item"."name" as "name",
          "item"."description" as "description",
          "item"."price" as "price",
          "item"."photo_url" as "photo_url",
          "item"."allergens" as "allergens",
          "item"."dietary_tags" as "dietary_tags",
          (
            "item"."is_available"
            or coalesce("item"."unavailable_until" <= now(), false)
          ) as "is_available",
          "item"."sort_order" as "sort_order",
          to_char("item"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
          "item"."external_id" as "external_id",
          to_char(
            case
              when not coalesce("item"."unavailable_until" <= now(), false) then "item"."unavailable_until"
            end at time zone 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
          ) as "unavailable_until",
          to_char("item"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
          "item"."version" as "version"
      ) as fields
  ) as "resource",
  (
    "item"."category_id",
    "item"."name",
    "item"."description",
    "item"."price",
    "item"."photo_url",
    "item"."allergens",
    "item"."dietary_tags",
    "item"."is_available",
    "item"."unavailable_until",
    "item"."sort_order",
    "item"."external_id"
  ) is distinct from (
    case
      when 'category_id' = any ($1::text[]) then $2::bigint
      else "item"."category_id"
    end,
    case
      when 'name' = any ($1::text[]) then $3::text
      else "item"."name"
    end,
    case
      when 'description' = any ($1::text[]) then $4::text
      else "item"."description"
    end,
    case
      when 'price' = any ($1::text[]) then $5::numeric
      else "item"."price"
    end,
    case
      when 'photo_url' = any ($1::text[]) then $6::text
      else "item"."photo_url"
    end,
    case
      when 'allergens' = any ($1::text[]) then $7::text[]
      else "item"."allergens"
    end,
    case
      when 'dietary_tags' = any ($1::text[]) then $8::text[]
      else "item"."dietary_tags"
    end,
    case
      when 'is_available' = any ($1::text[]) then $9::boolean
      when $10::timestamptz is not null then false
      else item.is_available
      or coalesce("item"."unavailable_until" <= now(), false)
    end,
    case
      when case
        when 'is_available' = any ($1::text[]) then $9::boolean
        when $10::timestamptz is not null then false
        else item.is_available
        or coalesce("item"."unavailable_until" <= now(), false)
      end then null
      when 'unavailable_until' = any ($1::text[]) then $10::timestamptz
      else case
        when not coalesce("item"."unavailable_until" <= now(), false) then "item"."unavailable_until"
      end
    end,
    case
      when 'sort_order' = any ($1::text[]) then $11::integer
      else "item"."sort_order"
    end,
    case
      when 'external_id' = any ($1::text[]) then $12::text
      else "item"."external_id"
    end
  ) as "differs"
from
  "item"
where
  (
    (
      "item"."item_id" = $13::bigint
      and "item"."menu_id" = $14::bigint
    )
    and (
      "item"."account_id" = $15::bigint
      and (
        $16::bigint[] is null
        or "item"."location_id" = any ($16::bigint[])
      )
    )
  );

-- locations.createLocation
-- $1 account_id bigint
-- $2 name text
-- $3 address jsonb
-- $4 phone text
-- $5 timezone text
-- $6 currency text
-- $7 external_id text
-- $8 request_id text
with
  changed as (
    insert into
      "location" ("account_id", "name", "address", "phone", "timezone", "currency", "external_id")
    values
      ($1::bigint, $2::text, $3::jsonb, $4::text, $5::text, $6::text, $7::text)
    returning
      "new"."account_id" as "account_id",
      "new"."location_id" as "location_id",
      null::bigint as "menu_id",
      'location:' || "new"."location_id" as "record",
      array['location.created'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "new"."location_id" as "location_id",
              "new"."name" as "name",
              "new"."address" as "address",
              "new"."phone" as "phone",
              "new"."timezone" as "timezone",
              "new"."currency" as "currency",
              "new"."external_id" as "external_id",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      null::json as "previous",
      "location_id" as "id",
      '"' || "new"."version" || '"' as "etag"
  ),
  recorded as (
    insert into
      event (event_id, account_id, type, record, location_id, menu_id, payload)
    select
      event_id,
      account_id,
      event_type,
      record,
      location_id,
      menu_id,
      (
        select
          to_json(fields)
        from
          (
            select
              event_id_text ("change"."event_id") as "id",
              "change"."event_type" as "type",
              to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "timestamp",
              "change"."location_id" as "location_id",
              "change"."menu_id" as "menu_id",
              "change"."resource" as "data",
              "change"."previous" as "previous",
              $8::text as "request_id"
          ) as fields
      )
    from
      (
        select
          uuidv7() as event_id,
          *
        from
          changed,
          unnest(event_types) as event_type
      ) as change
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1
    where
      menu_id = any (
        array(
          select
            menu_id
          from
            changed
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            changed
        )
      )
  )
select
  "id",
  "etag",
  "resource"
from
  changed;

-- locations.deleteLocation
-- $1 location_id bigint
-- $2 account_id bigint
-- $3 location_ids bigint[]
-- $4 if_match text[]
-- $5 request_id text
with
  changed as (
    delete from "location"
    where
      (
        ("location"."location_id" = $1::bigint)
        and (
          "location"."account_id" = $2::bigint
          and (
            $3::bigint[] is null
            or "location"."location_id" = any ($3::bigint[])
          )
        )
      )
      and (
        $4::text[] is null
        or '"' || "location"."version" || '"' = any ($4::text[])
      )
    returning
      "old"."account_id" as "account_id",
      "old"."location_id" as "location_id",
      null::bigint as "menu_id",
      'location:' || "old"."location_id" as "record",
      array['location.deleted'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "old"."location_id" as "location_id",
              "old"."name" as "name",
              "old"."address" as "address",
              "old"."phone" as "phone",
              "old"."timezone" as "timezone",
              "old"."currency" as "currency",
              "old"."external_id" as "external_id",
              to_char("old"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("old"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "old"."version" as "version"
          ) as fields
      ) as "resource",
      null::json as "previous"
  ),
  recorded as (
    insert into
      event (event_id, account_id, type, record, location_id, menu_id, payload)
    select
      event_id,
      account_id,
      event_type,
      record,
      location_id,
      menu_id,
      (
        select
          to_json(fields)
        from
          (
            select
              event_id_text ("change"."event_id") as "id",
              "change"."event_type" as "type",
              to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "timestamp",
              "change"."location_id" as "location_id",
              "change"."menu_id" as "menu_id",
              "change"."resource" as "data",
              "change"."previous" as "previous",
              $5::text as "request_id"
          ) as fields
      )
    from
      (
        select
          uuidv7() as event_id,
          *
        from
          changed,
          unnest(event_types) as event_type
      ) as change
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1
    where
      menu_id = any (
        array(
          select
            menu_id
          from
            changed
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            changed
        )
      )
  )
select
  "record"
from
  changed;

-- locations.getLocation
-- $1 account_id bigint
-- $2 location_ids bigint[]
-- $3 location_id bigint
select
  (
    "location"."account_id" = $1::bigint
    and (
      $2::bigint[] is null
      or "location"."location_id" = any ($2::bigint[])
    )
  ) as "within_reach",
  '"' || "location"."version" || '"' as "etag",
  (
    select
      to_json(fields)
    from
      (
        select
          "location"."location_id" as "location_id",
          "location"."name" as "name",
          "location"."address" as "address",
          "location"."phone" as "phone",
          "location"."timezone" as "timezone",
          "location"."currency" as "currency",
          "location"."external_id" as "external_id",
          to_char("location"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
          to_char("location"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
          "location"."version" as "version"
      ) as fields
  ) as "resource"
from
  "location"
where
  ("location"."location_id" = $3::bigint);

-- locations.listLocations
-- $1 account_id bigint
-- $2 location_ids bigint[]
-- $3 after bigint
-- $4 limit bigint
select
  "location_id" as "id",
  (
    select
      to_json(fields)
    from
      (
        select
          "location"."location_id" as "location_id",
          "location"."name" as "name",
          "location"."address" as "address",
          "location"."phone" as "phone",
          "location"."timezone" as "timezone",
          "location"."currency" as "currency",
          "location"."external_id" as "external_id",
          to_char("location"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
          to_char("location"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
          "location"."version" as "version"
      ) as fields
  ) as "resource"
from
  "location"
where
  (
    "location"."account_id" = $1::bigint
    and (
      $2::bigint[] is null
      or "location"."location_id" = any ($2::bigint[])
    )
  )
  and "location_id" > $3::bigint
order by
  "location_id"
limit
  $4::bigint;

-- locations.requireLocation
-- $1 account_id bigint
-- $2 location_ids bigint[]
-- $3 location_id bigint
select
  (
    "location"."account_id" = $1::bigint
    and (
      $2::bigint[] is null
      or "location"."location_id" = any ($2::bigint[])
    )
  ) as "within_reach"
from
  "location"
where
  ("location"."location_id" = $3::bigint);

-- locations.updateLocation
-- $1 present text[]
-- $2 name text
-- $3 address jsonb
-- $4 phone text
-- $5 timezone text
-- $6 currency text
-- $7 external_id text
-- $8 location_id bigint
-- $9 account_id bigint
-- $10 location_ids bigint[]
-- $11 if_match text[]
-- $12 request_id text
with
  changed as (
    update "location"
    set
      "name" = case
        when 'name' = any ($1::text[]) then $2::text
        else "location"."name"
      end,
      "address" = case
        when 'address' = any ($1::text[]) then $3::jsonb
        else "location"."address"
      end,
      "phone" = case
        when 'phone' = any ($1::text[]) then $4::text
        else "location"."phone"
      end,
      "timezone" = case
        when 'timezone' = any ($1::text[]) then $5::text
        else "location"."timezone"
      end,
      "currency" = case
        when 'currency' = any ($1::text[]) then $6::text
        else "location"."currency"
      end,
      "external_id" = case
        when 'external_id' = any ($1::text[]) then $7::text
        else "location"."external_id"
      end,
      "version" = "location"."version" + 1,
      updated_at = clock_timestamp()
    where
      (
        ("location"."location_id" = $8::bigint)
        and (
          "location"."account_id" = $9::bigint
          and (
            $10::bigint[] is null
            or "location"."location_id" = any ($10::bigint[])
          )
        )
      )
      and (
        $11::text[] is null
        or '"' || "location"."version" || '"' = any ($11::text[])
      )
      and (
        "location"."name",
        "location"."address",
        "location"."phone",
        "location"."timezone",
        "location"."currency",
        "location"."external_id"
      ) is distinct from (
        case
          when 'name' = any ($1::text[]) then $2::text
          else "location"."name"
        end,
        case
          when 'address' = any ($1::text[]) then $3::jsonb
          else "location"."address"
        end,
        case
          when 'phone' = any ($1::text[]) then $4::text
          else "location"."phone"
        end,
        case
          when 'timezone' = any ($1::text[]) then $5::text
          else "location"."timezone"
        end,
        case
          when 'currency' = any ($1::text[]) then $6::text
          else "location"."currency"
        end,
        case
          when 'external_id' = any ($1::text[]) then $7::text
          else "location"."external_id"
        end
      )
    returning
      "new"."account_id" as "account_id",
      "new"."location_id" as "location_id",
      null::bigint as "menu_id",
      'location:' || "new"."location_id" as "record",
      array['location.updated'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "new"."location_id" as "location_id",
              "new"."name" as "name",
              "new"."address" as "address",
              "new"."phone" as "phone",
              "new"."timezone" as "timezone",
              "new"."currency" as "currency",
              "new"."external_id" as "external_id",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      changed_fields (
        (
          select
            to_json(fields)
          from
            (
              select
                "old"."location_id" as "location_id",
                "old"."name" as "name",
                "old"."address" as "address",
                "old"."phone" as "phone",
                "old"."timezone" as "timezone",
                "old"."currency" as "currency",
                "old"."external_id" as "external_id",
                to_char("old"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                to_char("old"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                "old"."version" as "version"
            ) as fields
        ),
        (
          select
            to_json(fields)
          from
            (
              select
                "new"."location_id" as "location_id",
                "new"."name" as "name",
                "new"."address" as "address",
                "new"."phone" as "phone",
                "new"."timezone" as "timezone",
                "new"."currency" as "currency",
                "new"."external_id" as "external_id",
                to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                "new"."version" as "version"
            ) as fields
        )
      ) as "previous",
      '"' || "new"."version" || '"' as "etag"
  ),
  recorded as (
    insert into
      event (event_id, account_id, type, record, location_id, menu_id, payload)
    select
      event_id,
      account_id,
      event_type,
      record,
      location_id,
      menu_id,
      (
        select
          to_json(fields)
        from
          (
            select
              event_id_text ("change"."event_id") as "id",
              "change"."event_type" as "type",
              to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "timestamp",
              "change"."location_id" as "location_id",
              "change"."menu_id" as "menu_id",
              "change"."resource" as "data",
              "change"."previous" as "previous",
              $12::text as "request_id"
          ) as fields
      )
    from
      (
        select
          uuidv7() as event_id,
          *
        from
          changed,
          unnest(event_types) as event_type
      ) as change
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1
    where
      menu_id = any (
        array(
          select
            menu_id
          from
            changed
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            changed
        )
      )
  )
select
  "etag",
  "resource"
from
  changed;

-- locations.updateLocation.current
-- $1 present text[]
-- $2 name text
-- $3 address jsonb
-- $4 phone text
-- $5 timezone text
-- $6 currency text
-- $7 external_id text
-- $8 location_id bigint
-- $9 account_id bigint
-- $10 location_ids bigint[]
select
  '"' || "location"."version" || '"' as "etag",
  (
    select
      to_json(fields)
    from
      (
        select
          "location"."location_id" as "location_id",
          "location"."name" as "name",
          "location"."address" as "address",
          "location"."phone" as "phone",
          "location"."timezone" as "timezone",
          "location"."currency" as "currency",
          "location"."external_id" as "external_id",
          to_char("location"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
          to_char("location"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
          "location"."version" as "version"
      ) as fields
  ) as "resource",
  (
    "location"."name",
    "location"."address",
    "location"."phone",
    "location"."timezone",
    "location"."currency",
    "location"."external_id"
  ) is distinct from (
    case
      when 'name' = any ($1::text[]) then $2::text
      else "location"."name"
    end,
    case
      when 'address' = any ($1::text[]) then $3::jsonb
      else "location"."address"
    end,
    case
      when 'phone' = any ($1::text[]) then $4::text
      else "location"."phone"
    end,
    case
      when 'timezone' = any ($1::text[]) then $5::text
      else "location"."timezone"
    end,
    case
      when 'currency' = any ($1::text[]) then $6::text
      else "location"."currency"
    end,
    case
      when 'external_id' = any ($1::text[]) then $7::text
      else "location"."external_id"
    end
  ) as "differs"
from
  "location"
where
  (
    ("location"."location_id" = $8::bigint)
    and (
      "location"."account_id" = $9::bigint
      and (
        $10::bigint[] is null
        or "location"."location_id" = any ($10::bigint[])
      )
    )
  );

-- menus.createMenu
-- $1 location_id bigint
-- $2 account_id bigint
-- $3 location_ids bigint[]
-- $4 name text
-- $5 description text
-- $6 is_active boolean
-- $7 external_id text
-- $8 sort_order integer
-- $9 request_id text
with
  changed as (
    insert into
      "menu" ("account_id", "location_id", "name", "description", "is_active", "external_id", "sort_order")
    with
      home as (
        select
          "account_id",
          "location_id"
        from
          "location"
        where
          (
            ("location"."location_id" = $1::bigint)
            and (
              "location"."account_id" = $2::bigint
              and (
                $3::bigint[] is null
                or "location"."location_id" = any ($3::bigint[])
              )
            )
          )
        for key share
      )
    select
      "account_id",
      "location_id",
      $4::text,
      $5::text,
      $6::boolean,
      $7::text,
      coalesce(
        $8::integer,
        (
          select
            least(coalesce(max(sort_order), -1) + 1::bigint, 2147483647)::integer
          from
            "menu"
          where
            "menu"."location_id" = "home"."location_id"
            and account_id = home.account_id
        )
      )
    from
      home
    returning
      "new"."account_id" as "account_id",
      "new"."location_id" as "location_id",
      "new"."menu_id" as "menu_id",
      'menu:' || "new"."menu_id" as "record",
      array['menu.created'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "new"."menu_id" as "menu_id",
              "new"."location_id" as "location_id",
              "new"."name" as "name",
              "new"."description" as "description",
              "new"."is_active" as "is_active",
              "new"."sort_order" as "sort_order",
              "new"."external_id" as "external_id",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      null::json as "previous",
      "menu"."menu_id" as "id",
      '"' || "new"."content_version" || '-' || (
        select
          count(*)
        from
          item
        where
          item.menu_id = "new"."menu_id"
          and item.unavailable_until <= now()
      ) || '"' as "etag"
  ),
  recorded as (
    insert into
      event (event_id, account_id, type, record, location_id, menu_id, payload)
    select
      event_id,
      account_id,
      event_type,
      record,
      location_id,
      menu_id,
      (
        select
          to_json(fields)
        from
          (
            select
              event_id_text ("change"."event_id") as "id",
              "change"."event_type" as "type",
              to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "timestamp",
              "change"."location_id" as "location_id",
              "change"."menu_id" as "menu_id",
              "change"."resource" as "data",
              "change"."previous" as "previous",
              $9::text as "request_id"
          ) as fields
      )
    from
      (
        select
          uuidv7() as event_id,
          *
        from
          changed,
          unnest(event_types) as event_type
      ) as change
  )
select
  "id",
  "etag",
  "resource"
from
  changed;

-- menus.deleteMenu
-- $1 menu_id bigint
-- $2 account_id bigint
-- $3 location_ids bigint[]
-- $4 if_match text[]
-- $5 request_id text
with
  "change_1" as (
    delete from "item"
    where
      (menu_id, account_id) in (
        select
          menu_id,
          account_id
        from
          menu
        where
          (
            ("menu"."menu_id" = $1::bigint)
            and (
              "menu"."account_id" = $2::bigint
              and (
                $3::bigint[] is null
                or "menu"."location_id" = any ($3::bigint[])
              )
            )
          )
          and (
            $4::text[] is null
            or '"' || "menu"."content_version" || '-' || (
              select
                count(*)
              from
                item
              where
                item.menu_id = "menu"."menu_id"
                and item.unavailable_until <= now()
            ) || '"' = any ($4::text[])
          )
      )
    returning
      "old"."account_id" as "account_id",
      "old"."location_id" as "location_id",
      "old"."menu_id" as "menu_id",
      'item:' || "old"."item_id" as "record",
      array['item.deleted'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "old"."item_id" as "item_id",
              "old"."category_id" as "category_id",
              "old"."menu_id" as "menu_id",
              "old"."name" as "name",
              "old"."description" as "description",
              "old"."price" as "price",
              "old"."photo_url" as "photo_url",
              "old"."allergens" as "allergens",
              "old"."dietary_tags" as "dietary_tags",
              (
                "old"."is_available"
                or coalesce("old"."unavailable_until" <= now(), false)
              ) as "is_available",
              "old"."sort_order" as "sort_order",
              to_char("old"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "old"."external_id" as "external_id",
              to_char(
                case
                  when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char("old"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "old"."version" as "version"
          ) as fields
      ) as "resource",
      null::json as "previous"
  ),
  "change_2" as (
    delete from "category"
    where
      (menu_id, account_id) in (
        select
          menu_id,
          account_id
        from
          menu
        where
          (
            ("menu"."menu_id" = $1::bigint)
            and (
              "menu"."account_id" = $2::bigint
              and (
                $3::bigint[] is null
                or "menu"."location_id" = any ($3::bigint[])
              )
            )
          )
          and (
            $4::text[] is null
            or '"' || "menu"."content_version" || '-' || (
              select
                count(*)
              from
                item
              where
                item.menu_id = "menu"."menu_id"
                and item.unavailable_until <= now()
            ) || '"' = any ($4::text[])
          )
      )
    returning
      "old"."account_id" as "account_id",
      "old"."location_id" as "location_id",
      "old"."menu_id" as "menu_id",
      'category:' || "old"."category_id" as "record",
      array['category.deleted'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "old"."category_id" as "category_id",
              "old"."menu_id" as "menu_id",
              "old"."name" as "name",
              "old"."description" as "description",
              "old"."sort_order" as "sort_order",
              "old"."external_id" as "external_id",
              to_char("old"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("old"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "old"."version" as "version"
          ) as fields
      ) as "resource",
      null::json as "previous"
  ),
  "change_3" as (
    delete from "menu"
    where
      (
        ("menu"."menu_id" = $1::bigint)
        and (
          "menu"."account_id" = $2::bigint
          and (
            $3::bigint[] is null
            or "menu"."location_id" = any ($3::bigint[])
          )
        )
      )
      and (
        $4::text[] is null
        or '"' || "menu"."content_version" || '-' || (
          select
            count(*)
          from
            item
          where
            item.menu_id = "menu"."menu_id"
            and item.unavailable_until <= now()
        ) || '"' = any ($4::text[])
      )
    returning
      "old"."account_id" as "account_id",
      "old"."location_id" as "location_id",
      "old"."menu_id" as "menu_id",
      'menu:' || "old"."menu_id" as "record",
      array['menu.deleted'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "old"."menu_id" as "menu_id",
              "old"."location_id" as "location_id",
              "old"."name" as "name",
              "old"."description" as "description",
              "old"."is_active" as "is_active",
              "old"."sort_order" as "sort_order",
              "old"."external_id" as "external_id",
              to_char("old"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("old"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "old"."version" as "version"
          ) as fields
      ) as "resource",
      null::json as "previous"
  ),
  changed as (
    select
      *
    from
      "change_1"
    union all
    select
      *
    from
      "change_2"
    union all
    select
      *
    from
      "change_3"
  ),
  recorded as (
    insert into
      event (event_id, account_id, type, record, location_id, menu_id, payload)
    select
      event_id,
      account_id,
      event_type,
      record,
      location_id,
      menu_id,
      (
        select
          to_json(fields)
        from
          (
            select
              event_id_text ("change"."event_id") as "id",
              "change"."event_type" as "type",
              to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "timestamp",
              "change"."location_id" as "location_id",
              "change"."menu_id" as "menu_id",
              "change"."resource" as "data",
              "change"."previous" as "previous",
              $5::text as "request_id"
          ) as fields
      )
    from
      (
        select
          uuidv7() as event_id,
          *
        from
          changed,
          unnest(event_types) as event_type
      ) as change
  )
select
  "record"
from
  changed;

-- menus.deleteMenu.countCategories
-- $1 menu_id bigint
-- $2 account_id bigint
-- $3 location_ids bigint[]
select
  count(*) as "count"
from
  "category"
where
  "menu_id" = $1::bigint
  and (
    "category"."account_id" = $2::bigint
    and (
      $3::bigint[] is null
      or "category"."location_id" = any ($3::bigint[])
    )
  );

-- menus.importMenu.deleteCategories
-- $1 ids bigint[]
-- $2 account_id bigint
-- $3 request_id text
with
  changed as (
    delete from "category"
    where
      "category_id" = any ($1::bigint[])
      and account_id = $2::bigint
    returning
      "old"."account_id" as "account_id",
      "old"."location_id" as "location_id",
      "old"."menu_id" as "menu_id",
      'category:' || "old"."category_id" as "record",
      array['category.deleted'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "old"."category_id" as "category_id",
              "old"."menu_id" as "menu_id",
              "old"."name" as "name",
              "old"."description" as "description",
              "old"."sort_order" as "sort_order",
              "old"."external_id" as "external_id",
              to_char("old"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("old"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "old"."version" as "version"
          ) as fields
      ) as "resource",
      null::json as "previous"
  ),
  recorded as (
    insert into
      event (event_id, account_id, type, record, location_id, menu_id, payload)
    select
      event_id,
      account_id,
      event_type,
      record,
      location_id,
      menu_id,
      (
        select
          to_json(fields)
        from
          (
            select
              event_id_text ("change"."event_id") as "id",
              "change"."event_type" as "type",
              to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "timestamp",
              "change"."location_id" as "location_id",
              "change"."menu_id" as "menu_id",
              "change"."resource" as "data",
              "change"."previous" as "previous",
              $3::text as "request_id"
          ) as fields
      )
    from
      (
        select
          uuidv7() as event_id,
          *
        from
          changed,
          unnest(event_types) as event_type
      ) as change
  )
select
  "record"
from
  changed;

-- menus.importMenu.deleteItems
-- $1 ids bigint[]
-- $2 account_id bigint
-- $3 request_id text
with
  changed as (
    delete from "item"
    where
      "item_id" = any ($1::bigint[])
      and account_id = $2::bigint
    returning
      "old"."account_id" as "account_id",
      "old"."location_id" as "location_id",
      "old"."menu_id" as "menu_id",
      'item:' || "old"."item_id" as "record",
      array['item.deleted'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "old"."item_id" as "item_id",
              "old"."category_id" as "category_id",
              "old"."menu_id" as "menu_id",
              "old"."name" as "name",
              "old"."description" as "description",
              "old"."price" as "price",
              "old"."photo_url" as "photo_url",
              "old"."allergens" as "allergens",
              "old"."dietary_tags" as "dietary_tags",
              (
                "old"."is_available"
                or coalesce("old"."unavailable_until" <= now(), false)
              ) as "is_available",
              "old"."sort_order" as "sort_order",
              to_char("old"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "old"."external_id" as "external_id",
              to_char(
                case
                  when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char("old"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "old"."version" as "version"
          ) as fields
      ) as "resource",
      null::json as "previous"
  ),
  recorded as (
    insert into
      event (event_id, account_id, type, record, location_id, menu_id, payload)
    select
      event_id,
      account_id,
      event_type,
      record,
      location_id,
      menu_id,
      (
        select
          to_json(fields)
        from
          (
            select
              event_id_text ("change"."event_id") as "id",
              "change"."event_type" as "type",
              to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "timestamp",
              "change"."location_id" as "location_id",
              "change"."menu_id" as "menu_id",
              "change"."resource" as "data",
              "change"."previous" as "previous",
              $3::text as "request_id"
          ) as fields
      )
    from
      (
        select
          uuidv7() as event_id,
          *
        from
          changed,
          unnest(event_types) as event_type
      ) as change
  )
select
  "record"
from
  changed;

-- menus.importMenu.insertCategories
-- $1 account_id bigint
-- $2 location_id bigint
-- $3 menu_id bigint
-- $4 rows json
-- $5 request_id text
with
  changed as (
    insert into
      "category" (account_id, location_id, menu_id, "external_id", "name", "description", "sort_order")
    select
      $1::bigint,
      $2::bigint,
      $3::bigint,
      "external_id",
      "name",
      "description",
      "sort_order"
    from
      json_to_recordset($4::json) as wanted ("category_id" bigint, "external_id" text, "name" text, "description" text, "sort_order" integer)
    returning
      "new"."account_id" as "account_id",
      "new"."location_id" as "location_id",
      "new"."menu_id" as "menu_id",
      'category:' || "new"."category_id" as "record",
      array['category.created'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "new"."category_id" as "category_id",
              "new"."menu_id" as "menu_id",
              "new"."name" as "name",
              "new"."description" as "description",
              "new"."sort_order" as "sort_order",
              "new"."external_id" as "external_id",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      null::json as "previous",
      "category"."category_id" as "id",
      "category"."external_id" as "external_id"
  ),
  recorded as (
    insert into
      event (event_id, account_id, type, record, location_id, menu_id, payload)
    select
      event_id,
      account_id,
      event_type,
      record,
      location_id,
      menu_id,
      (
        select
          to_json(fields)
        from
          (
            select
              event_id_text ("change"."event_id") as "id",
              "change"."event_type" as "type",
              to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "timestamp",
              "change"."location_id" as "location_id",
              "change"."menu_id" as "menu_id",
              "change"."resource" as "data",
              "change"."previous" as "previous",
              $5::text as "request_id"
          ) as fields
      )
    from
      (
        select
          uuidv7() as event_id,
          *
        from
          changed,
          unnest(event_types) as event_type
      ) as change
  )
select
  "id",
  "external_id"
from
  changed;

-- menus.importMenu.insertItems
-- $1 account_id bigint
-- $2 location_id bigint
-- $3 menu_id bigint
-- $4 rows json
-- $5 request_id text
with
  changed as (
    insert into
      "item" (
        account_id,
        location_id,
        menu_id,
        "category_id",
        "name",
        "description",
        "price",
        "photo_url",
        "allergens",
        "dietary_tags",
        "is_available",
        "unavailable_until",
        "sort_order",
        "external_id"
      )
    select
      $1::bigint,
      $2::bigint,
      $3::bigint,
      "category_id",
      "name",
      "description",
      "price",
      "photo_url",
      "allergens",
      "dietary_tags",
      "is_available",
      "unavailable_until",
      "sort_order",
      "external_id"
    from
      json_to_recordset($4::json) as wanted (
        "item_id" bigint,
        "category_id" bigint,
        "name" text,
        "description" text,
        "price" numeric,
        "photo_url" text,
        "allergens" text[],
        "dietary_tags" text[],
        "is_available" boolean,
        "unavailable_until" timestamptz,
        "sort_order" integer,
        "external_id" text
      )
    returning
      "new"."account_id" as "account_id",
      "new"."location_id" as "location_id",
      "new"."menu_id" as "menu_id",
      'item:' || "new"."item_id" as "record",
      array['item.created'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "new"."item_id" as "item_id",
              "new"."category_id" as "category_id",
              "new"."menu_id" as "menu_id",
              "new"."name" as "name",
              "new"."description" as "description",
              "new"."price" as "price",
              "new"."photo_url" as "photo_url",
              "new"."allergens" as "allergens",
              "new"."dietary_tags" as "dietary_tags",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              "new"."sort_order" as "sort_order",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "new"."external_id" as "external_id",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      null::json as "previous",
      "item"."item_id" as "id",
      "item"."external_id" as "external_id"
  ),
  recorded as (
    insert into
      event (event_id, account_id, type, record, location_id, menu_id, payload)
    select
      event_id,
      account_id,
      event_type,
      record,
      location_id,
      menu_id,
      (
        select
          to_json(fields)
        from
          (
            select
              event_id_text ("change"."event_id") as "id",
              "change"."event_type" as "type",
              to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "timestamp",
              "change"."location_id" as "location_id",
              "change"."menu_id" as "menu_id",
              "change"."resource" as "data",
              "change"."previous" as "previous",
              $5::text as "request_id"
          ) as fields
      )
    from
      (
        select
          uuidv7() as event_id,
          *
        from
          changed,
          unnest(event_types) as event_type
      ) as change
  )
select
  "id",
  "external_id"
from
  changed;

-- menus.importMenu.raiseContentVersion
-- $1 menu_id bigint
-- $2 account_id bigint
update "menu"
set
  "content_version" = menu.content_version + 1
where
  "menu_id" = $1::bigint
  and "account_id" = $2::bigint;

-- menus.importMenu.updateCategories
-- $1 rows json
-- $2 menu_id bigint
-- $3 account_id bigint
-- $4 request_id text
with
  changed as (
    update "category"
    set
      "external_id" = wanted."external_id",
      "name" = wanted."name",
      "description" = wanted."description",
      "sort_order" = wanted."sort_order",
      version = "category".version + 1,
      updated_at = clock_timestamp()
    from
      json_to_recordset($1::json) as wanted ("category_id" bigint, "external_id" text, "name" text, "description" text, "sort_order" integer)
    where
      "category"."category_id" = wanted."category_id"
      and "category".menu_id = $2::bigint
      and "category".account_id = $3::bigint
    returning
      "new"."account_id" as "account_id",
      "new"."location_id" as "location_id",
      "new"."menu_id" as "menu_id",
      'category:' || "new"."category_id" as "record",
      array['category.updated'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "new"."category_id" as "category_id",
              "new"."menu_id" as "menu_id",
              "new"."name" as "name",
              "new"."description" as "description",
              "new"."sort_order" as "sort_order",
              "new"."external_id" as "external_id",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      changed_fields (
        (
          select
            to_json(fields)
          from
            (
              select
                "old"."category_id" as "category_id",
                "old"."menu_id" as "menu_id",
                "old"."name" as "name",
                "old"."description" as "description",
                "old"."sort_order" as "sort_order",
                "old"."external_id" as "external_id",
                to_char("old"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                to_char("old"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                "old"."version" as "version"
            ) as fields
        ),
        (
          select
            to_json(fields)
          from
            (
              select
                "new"."category_id" as "category_id",
                "new"."menu_id" as "menu_id",
                "new"."name" as "name",
                "new"."description" as "description",
                "new"."sort_order" as "sort_order",
                "new"."external_id" as "external_id",
                to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                "new"."version" as "version"
            ) as fields
        )
      ) as "previous"
  ),
  recorded as (
    insert into
      event (event_id, account_id, type, record, location_id, menu_id, payload)
    select
      event_id,
      account_id,
      event_type,
      record,
      location_id,
      menu_id,
      (
        select
          to_json(fields)
        from
          (
            select
              event_id_text ("change"."event_id") as "id",
              "change"."event_type" as "type",
              to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "timestamp",
              "change"."location_id" as "location_id",
              "change"."menu_id" as "menu_id",
              "change"."resource" as "data",
              "change"."previous" as "previous",
              $4::text as "request_id"
          ) as fields
      )
    from
      (
        select
          uuidv7() as event_id,
          *
        from
          changed,
          unnest(event_types) as event_type
      ) as change
  )
select
  "record"
from
  changed;

-- menus.importMenu.updateItems
-- $1 rows json
-- $2 menu_id bigint
-- $3 account_id bigint
-- $4 request_id text
with
  changed as (
    update "item"
    set
      "category_id" = wanted."category_id",
      "name" = wanted."name",
      "description" = wanted."description",
      "price" = wanted."price",
      "photo_url" = wanted."photo_url",
      "allergens" = wanted."allergens",
      "dietary_tags" = wanted."dietary_tags",
      "is_available" = wanted."is_available",
      "unavailable_until" = wanted."unavailable_until",
      "sort_order" = wanted."sort_order",
      "external_id" = wanted."external_id",
      version = "item".version + 1,
      updated_at = clock_timestamp()
    from
      json_to_recordset($1::json) as wanted (
        "item_id" bigint,
        "category_id" bigint,
        "name" text,
        "description" text,
        "price" numeric,
        "photo_url" text,
        "allergens" text[],
        "dietary_tags" text[],
        "is_available" boolean,
        "unavailable_until" timestamptz,
        "sort_order" integer,
        "external_id" text
      )
    where
      "item"."item_id" = wanted."item_id"
      and "item".menu_id = $2::bigint
      and "item".account_id = $3::bigint
    returning
      "new"."account_id" as "account_id",
      "new"."location_id" as "location_id",
      "new"."menu_id" as "menu_id",
      'item:' || "new"."item_id" as "record",
      array_remove(
        array[
          case
            when (
              old.is_available <> new.is_available
              or (
                "old"."is_available"
                or coalesce("old"."unavailable_until" <= now(), false)
              ) <> new.is_available
            ) then 'item.toggled'
          end,
          case
            when (
              "old"."category_id",
              "old"."name",
              "old"."description",
              "old"."price",
              "old"."photo_url",
              "old"."allergens",
              "old"."dietary_tags",
              "old"."sort_order",
              "old"."external_id"
            ) is distinct from (
              "new"."category_id",
              "new"."name",
              "new"."description",
              "new"."price",
              "new"."photo_url",
              "new"."allergens",
              "new"."dietary_tags",
              "new"."sort_order",
              "new"."external_id"
            )
            or not (
              old.is_available <> new.is_available
              or (
                "old"."is_available"
                or coalesce("old"."unavailable_until" <= now(), false)
              ) <> new.is_available
            )
            and old.unavailable_until is distinct from new.unavailable_until then 'item.updated'
          end
        ],
        null
      ) as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "new"."item_id" as "item_id",
              "new"."category_id" as "category_id",
              "new"."menu_id" as "menu_id",
              "new"."name" as "name",
              "new"."description" as "description",
              "new"."price" as "price",
              "new"."photo_url" as "photo_url",
              "new"."allergens" as "allergens",
              "new"."dietary_tags" as "dietary_tags",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              "new"."sort_order" as "sort_order",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "new"."external_id" as "external_id",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      changed_fields (
        case
          when new.is_available then (
            select
              to_json(fields)
            from
              (
                select
                  "old"."item_id" as "item_id",
                  "old"."category_id" as "category_id",
                  "old"."menu_id" as "menu_id",
                  "old"."name" as "name",
                  "old"."description" as "description",
                  "old"."price" as "price",
                  "old"."photo_url" as "photo_url",
                  "old"."allergens" as "allergens",
                  "old"."dietary_tags" as "dietary_tags",
                  "old"."is_available" as "is_available",
                  "old"."sort_order" as "sort_order",
                  to_char("old"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                  "old"."external_id" as "external_id",
                  to_char("old"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "unavailable_until",
                  to_char("old"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                  "old"."version" as "version"
              ) as fields
          )
          else (
            select
              to_json(fields)
            from
              (
                select
                  "old"."item_id" as "item_id",
                  "old"."category_id" as "category_id",
                  "old"."menu_id" as "menu_id",
                  "old"."name" as "name",
                  "old"."description" as "description",
                  "old"."price" as "price",
                  "old"."photo_url" as "photo_url",
                  "old"."allergens" as "allergens",
                  "old"."dietary_tags" as "dietary_tags",
                  (
                    "old"."is_available"
                    or coalesce("old"."unavailable_until" <= now(), false)
                  ) as "is_available",
                  "old"."sort_order" as "sort_order",
                  to_char("old"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                  "old"."external_id" as "external_id",
                  to_char(
                    case
                      when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                    end at time zone 'UTC',
                    'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                  ) as "unavailable_until",
                  to_char("old"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                  "old"."version" as "version"
              ) as fields
          )
        end,
        (
          select
            to_json(fields)
          from
            (
              select
                "new"."item_id" as "item_id",
                "new"."category_id" as "category_id",
                "new"."menu_id" as "menu_id",
                "new"."name" as "name",
                "new"."description" as "description",
                "new"."price" as "price",
                "new"."photo_url" as "photo_url",
                "new"."allergens" as "allergens",
                "new"."dietary_tags" as "dietary_tags",
                (
                  "new"."is_available"
                  or coalesce("new"."unavailable_until" <= now(), false)
                ) as "is_available",
                "new"."sort_order" as "sort_order",
                to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                "new"."external_id" as "external_id",
                to_char(
                  case
                    when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                  end at time zone 'UTC',
                  'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                ) as "unavailable_until",
                to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                "new"."version" as "version"
            ) as fields
        )
      ) as "previous"
  ),
  recorded as (
    insert into
      event (event_id, account_id, type, record, location_id, menu_id, payload)
    select
      event_id,
      account_id,
      event_type,
      record,
      location_id,
      menu_id,
      (
        select
          to_json(fields)
        from
          (
            select
              event_id_text ("change"."event_id") as "id",
              "change"."event_type" as "type",
              to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "timestamp",
              "change"."location_id" as "location_id",
              "change"."menu_id" as "menu_id",
              "change"."resource" as "data",
              "change"."previous" as "previous",
              $4::text as "request_id"
          ) as fields
      )
    from
      (
        select
          uuidv7() as event_id,
          *
        from
          changed,
          unnest(event_types) as event_type
      ) as change
  )
select
  "record"
from
  changed;

-- menus.importMenu.updateMenu
-- $1 rows json
-- $2 menu_id bigint
-- $3 account_id bigint
-- $4 request_id text
with
  changed as (
    update "menu"
    set
      "name" = wanted."name",
      "description" = wanted."description",
      "is_active" = wanted."is_active",
      version = "menu".version + 1,
      updated_at = clock_timestamp()
    from
      json_to_recordset($1::json) as wanted ("menu_id" bigint, "name" text, "description" text, "is_active" boolean)
    where
      "menu"."menu_id" = wanted."menu_id"
      and "menu".menu_id = $2::bigint
      and "menu".account_id = $3::bigint
    returning
      "new"."account_id" as "account_id",
      "new"."location_id" as "location_id",
      "new"."menu_id" as "menu_id",
      'menu:' || "new"."menu_id" as "record",
      array_remove(
        array[
          case
            when old.is_active <> new.is_active then 'menu.toggled'
          end,
          case
            when ("old"."name", "old"."description", "old"."sort_order", "old"."external_id") is distinct from ("new"."name", "new"."description", "new"."sort_order", "new"."external_id") then 'menu.updated'
          end
        ],
        null
      ) as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "new"."menu_id" as "menu_id",
              "new"."location_id" as "location_id",
              "new"."name" as "name",
              "new"."description" as "description",
              "new"."is_active" as "is_active",
              "new"."sort_order" as "sort_order",
              "new"."external_id" as "external_id",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      changed_fields (
        (
          select
            to_json(fields)
          from
            (
              select
                "old"."menu_id" as "menu_id",
                "old"."location_id" as "location_id",
                "old"."name" as "name",
                "old"."description" as "description",
                "old"."is_active" as "is_active",
                "old"."sort_order" as "sort_order",
                "old"."external_id" as "external_id",
                to_char("old"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                to_char("old"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                "old"."version" as "version"
            ) as fields
        ),
        (
          select
            to_json(fields)
          from
            (
              select
                "new"."menu_id" as "menu_id",
                "new"."location_id" as "location_id",
                "new"."name" as "name",
                "new"."description" as "description",
                "new"."is_active" as "is_active",
                "new"."sort_order" as "sort_order",
                "new"."external_id" as "external_id",
                to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                "new"."version" as "version"
            ) as fields
        )
      ) as "previous"
  ),
  recorded as (
    insert into
      event (event_id, account_id, type, record, location_id, menu_id, payload)
    select
      event_id,
      account_id,
      event_type,
      record,
      location_id,
      menu_id,
      (
        select
          to_json(fields)
        from
          (
            select
              event_id_text ("change"."event_id") as "id",
              "change"."event_type" as "type",
              to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "timestamp",
              "change"."location_id" as "location_id",
              "change"."menu_id" as "menu_id",
              "change"."resource" as "data",
              "change"."previous" as "previous",
              $4::text as "request_id"
          ) as fields
      )
    from
      (
        select
          uuidv7() as event_id,
          *
        from
          changed,
          unnest(event_types) as event_type
      ) as change
  )
select
  "record"
from
  changed;

-- menus.listMenus
-- $1 account_id bigint
-- $2 location_ids bigint[]
-- $3 after bigint
-- $4 location_id bigint
-- $5 is_active boolean
-- $6 limit bigint
-- Conditions that are there when given: location_id, is_active
select
  "menu_id" as "id",
  (
    select
      to_json(fields)
    from
      (
        select
          "menu"."menu_id" as "menu_id",
          "menu"."location_id" as "location_id",
          "menu"."name" as "name",
          "menu"."description" as "description",
          "menu"."is_active" as "is_active",
          "menu"."sort_order" as "sort_order",
          "menu"."external_id" as "external_id",
          to_char("menu"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
          to_char("menu"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
          "menu"."version" as "version"
      ) as fields
  ) as "resource"
from
  "menu"
where
  (
    "menu"."account_id" = $1::bigint
    and (
      $2::bigint[] is null
      or "menu"."location_id" = any ($2::bigint[])
    )
  )
  and "menu_id" > $3::bigint
  and "location_id" = $4::bigint
  and "is_active" = $5::boolean
order by
  "menu_id"
limit
  $6::bigint;

-- menus.lockCategories
-- $1 menu_id bigint
-- $2 account_id bigint
with
  "locked" as (
    select
      "category_id"
    from
      "category"
    where
      "menu_id" = $1::bigint
      and "account_id" = $2::bigint
    order by
      "category_id"
    for update
  )
select
  count(*) as "count"
from
  "locked";

-- menus.lockItems
-- $1 menu_id bigint
-- $2 account_id bigint
with
  "locked" as (
    select
      "item_id"
    from
      "item"
    where
      "menu_id" = $1::bigint
      and "account_id" = $2::bigint
    order by
      "item_id"
    for update
  )
select
  count(*) as "count"
from
  "locked";

-- menus.lockMenu
-- $1 menu_id bigint
-- $2 account_id bigint
select
  "menu_id"
from
  "menu"
where
  "menu_id" = $1::bigint
  and "account_id" = $2::bigint
for no key update;

-- menus.menuDetail
-- $1 account_id bigint
-- $2 location_ids bigint[]
-- $3 menu_id bigint
select
  (
    "menu"."account_id" = $1::bigint
    and (
      $2::bigint[] is null
      or "menu"."location_id" = any ($2::bigint[])
    )
  ) as "within_reach",
  '"' || "menu"."content_version" || '-' || (
    select
      count(*)
    from
      item
    where
      item.menu_id = "menu"."menu_id"
      and item.unavailable_until <= now()
  ) || '"' as "etag",
  (
    select
      to_json(fields)
    from
      (
        select
          "menu"."menu_id" as "menu_id",
          "menu"."location_id" as "location_id",
          "menu"."name" as "name",
          "menu"."description" as "description",
          "menu"."is_active" as "is_active",
          "menu"."sort_order" as "sort_order",
          "menu"."external_id" as "external_id",
          to_char("menu"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
          to_char("menu"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
          "menu"."version" as "version",
          (
            select
              coalesce(
                json_agg(
                  (
                    select
                      to_json(fields)
                    from
                      (
                        select
                          "category"."category_id" as "category_id",
                          "category"."menu_id" as "menu_id",
                          "category"."name" as "name",
                          "category"."description" as "description",
                          "category"."sort_order" as "sort_order",
                          "category"."external_id" as "external_id",
                          to_char("category"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                          to_char("category"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                          "category"."version" as "version",
                          (
                            select
                              coalesce(
                                json_agg(
                                  (
                                    select
                                      to_json(fields)
                                    from
                                      (
                                        select
                                          "item"."item_id" as "item_id",
                                          "item"."category_id" as "category_id",
                                          "item"."menu_id" as "menu_id",
                                          "item"."name" as "name",
                                          "item"."description" as "description",
                                          "item"."price" as "price",
                                          "item"."photo_url" as "photo_url",
                                          "item"."allergens" as "allergens",
                                          "item"."dietary_tags" as "dietary_tags",
                                          (
                                            "item"."is_available"
                                            or coalesce("item"."unavailable_until" <= now(), false)
                                          ) as "is_available",
                                          "item"."sort_order" as "sort_order",
                                          to_char("item"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                                          "item"."external_id" as "external_id",
                                          to_char(
                                            case
                                              when not coalesce("item"."unavailable_until" <= now(), false) then "item"."unavailable_until"
                                            end at time zone 'UTC',
                                            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                                          ) as "unavailable_until",
                                          to_char("item"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                                          "item"."version" as "version"
                                      ) as fields
                                  )
                                  order by
                                    item.sort_order,
                                    item.item_id
                                ),
                                '[]'
                              )
                            from
                              item
                            where
                              item.category_id = category.category_id
                          ) as "items"
                      ) as fields
                  )
                  order by
                    category.sort_order,
                    category.category_id
                ),
                '[]'
              )
            from
              category
            where
              category.menu_id = menu.menu_id
          ) as "categories"
      ) as fields
  ) as "resource"
from
  "menu"
where
  ("menu"."menu_id" = $3::bigint);

-- menus.menuETag
-- $1 account_id bigint
-- $2 location_ids bigint[]
-- $3 menu_id bigint
select
  (
    "menu"."account_id" = $1::bigint
    and (
      $2::bigint[] is null
      or "menu"."location_id" = any ($2::bigint[])
    )
  ) as "within_reach",
  '"' || "menu"."content_version" || '-' || (
    select
      count(*)
    from
      item
    where
      item.menu_id = "menu"."menu_id"
      and item.unavailable_until <= now()
  ) || '"' as "etag"
from
  "menu"
where
  ("menu"."menu_id" = $3::bigint);

-- menus.readStored
-- $1 account_id bigint
-- $2 location_ids bigint[]
-- $3 menu_id bigint
select
  (
    "menu"."account_id" = $1::bigint
    and (
      $2::bigint[] is null
      or "menu"."location_id" = any ($2::bigint[])
    )
  ) as "within_reach",
  "location_id",
  '"' || "menu"."content_version" || '-' || (
    select
      count(*)
    from
      item
    where
      item.menu_id = "menu"."menu_id"
      and item.unavailable_until <= now()
  ) || '"' as "etag",
  (
    select
      to_json(fields)
    from
      (
        select
          "menu"."name" as "name",
          "menu"."description" as "description",
          "menu"."is_active" as "is_active"
      ) as fields
  ) as "menu",
  (
    select
      coalesce(
        json_agg(
          (
            select
              to_json(fields)
            from
              (
                select
                  "category"."category_id" as "category_id",
                  "category"."name" as "name",
                  "category"."description" as "description",
                  "category"."sort_order" as "sort_order",
                  "category"."external_id" as "external_id"
              ) as fields
          )
          order by
            category.sort_order,
            category.category_id
        ),
        '[]'
      )
    from
      category
    where
      category.menu_id = menu.menu_id
  ) as "categories",
  (
    select
      coalesce(
        json_agg(
          (
            select
              to_json(fields)
            from
              (
                select
                  "item"."item_id" as "item_id",
                  "item"."category_id" as "category_id",
                  "item"."name" as "name",
                  "item"."description" as "description",
                  "item"."price" as "price",
                  "item"."photo_url" as "photo_url",
                  "item"."allergens" as "allergens",
                  "item"."dietary_tags" as "dietary_tags",
                  (
                    "item"."is_available"
                    or coalesce("item"."unavailable_until" <= now(), false)
                  ) as "is_available",
                  "item"."sort_order" as "sort_order",
                  "item"."external_id" as "external_id",
                  to_char(
                    case
                      when not coalesce("item"."unavailable_until" <= now(), false) then "item"."unavailable_until"
                    end at time zone 'UTC',
                    'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                  ) as "unavailable_until"
              ) as fields
          )
          order by
            item.sort_order,
            item.item_id
        ),
        '[]'
      )
    from
      item
    where
      item.menu_id = menu.menu_id
  ) as "items"
from
  "menu"
where
  ("menu"."menu_id" = $3::bigint);

-- menus.reorderMenu
-- $1 category_ids bigint[]
-- $2 category_orders integer[]
-- $3 account_id bigint
-- $4 item_ids bigint[]
-- $5 item_categories bigint[]
-- $6 item_orders integer[]
-- $7 request_id text
with
  "change_1" as (
    update "category"
    set
      "sort_order" = place.sort_order,
      "version" = category.version + 1,
      "updated_at" = clock_timestamp()
    from
      unnest($1::bigint[], $2::integer[]) as place (category_id, sort_order)
    where
      category.category_id = place.category_id
      and category.account_id = $3::bigint
    returning
      "new"."account_id" as "account_id",
      "new"."location_id" as "location_id",
      "new"."menu_id" as "menu_id",
      'category:' || "new"."category_id" as "record",
      array['category.updated'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "new"."category_id" as "category_id",
              "new"."menu_id" as "menu_id",
              "new"."name" as "name",
              "new"."description" as "description",
              "new"."sort_order" as "sort_order",
              "new"."external_id" as "external_id",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      changed_fields (
        (
          select
            to_json(fields)
          from
            (
              select
                "old"."category_id" as "category_id",
                "old"."menu_id" as "menu_id",
                "old"."name" as "name",
                "old"."description" as "description",
                "old"."sort_order" as "sort_order",
                "old"."external_id" as "external_id",
                to_char("old"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                to_char("old"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                "old"."version" as "version"
            ) as fields
        ),
        (
          select
            to_json(fields)
          from
            (
              select
                "new"."category_id" as "category_id",
                "new"."menu_id" as "menu_id",
                "new"."name" as "name",
                "new"."description" as "description",
                "new"."sort_order" as "sort_order",
                "new"."external_id" as "external_id",
                to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                "new"."version" as "version"
            ) as fields
        )
      ) as "previous"
  ),
  "change_2" as (
    update "item"
    set
      "category_id" = place.category_id,
      "sort_order" = place.sort_order,
      "version" = item.version + 1,
      "updated_at" = clock_timestamp()
    from
      unnest($4::bigint[], $5::bigint[], $6::integer[]) as place (item_id, category_id, sort_order)
    where
      item.item_id = place.item_id
      and item.account_id = $3::bigint
    returning
      "new"."account_id" as "account_id",
      "new"."location_id" as "location_id",
      "new"."menu_id" as "menu_id",
      'item:' || "new"."item_id" as "record",
      array['item.updated'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "new"."item_id" as "item_id",
              "new"."category_id" as "category_id",
              "new"."menu_id" as "menu_id",
              "new"."name" as "name",
              "new"."description" as "description",
              "new"."price" as "price",
              "new"."photo_url" as "photo_url",
              "new"."allergens" as "allergens",
              "new"."dietary_tags" as "dietary_tags",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              "new"."sort_order" as "sort_order",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "new"."external_id" as "external_id",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      changed_fields (
        (
          select
            to_json(fields)
          from
            (
              select
                "old"."item_id" as "item_id",
                "old"."category_id" as "category_id",
                "old"."menu_id" as "menu_id",
                "old"."name" as "name",
                "old"."description" as "description",
                "old"."price" as "price",
                "old"."photo_url" as "photo_url",
                "old"."allergens" as "allergens",
                "old"."dietary_tags" as "dietary_tags",
                "old"."is_available" as "is_available",
                "old"."sort_order" as "sort_order",
                to_char("old"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                "old"."external_id" as "external_id",
                to_char("old"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "unavailable_until",
                to_char("old"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                "old"."version" as "version"
            ) as fields
        ),
        (
          select
            to_json(fields)
          from
            (
              select
                "new"."item_id" as "item_id",
                "new"."category_id" as "category_id",
                "new"."menu_id" as "menu_id",
                "new"."name" as "name",
                "new"."description" as "description",
                "new"."price" as "price",
                "new"."photo_url" as "photo_url",
                "new"."allergens" as "allergens",
                "new"."dietary_tags" as "dietary_tags",
                "new"."is_available" as "is_available",
                "new"."sort_order" as "sort_order",
                to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                "new"."external_id" as "external_id",
                to_char("new"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "unavailable_until",
                to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                "new"."version" as "version"
            ) as fields
        )
      ) as "previous"
  ),
  changed as (
    select
      *
    from
      "change_1"
    union all
    select
      *
    from
      "change_2"
  ),
  recorded as (
    insert into
      event (event_id, account_id, type, record, location_id, menu_id, payload)
    select
      event_id,
      account_id,
      event_type,
      record,
      location_id,
      menu_id,
      (
        select
          to_json(fields)
        from
          (
            select
              event_id_text ("change"."event_id") as "id",
              "change"."event_type" as "type",
              to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "timestamp",
              "change"."location_id" as "location_id",
              "change"."menu_id" as "menu_id",
              "change"."resource" as "data",
              "change"."previous" as "previous",
              $7::text as "request_id"
          ) as fields
      )
    from
      (
        select
          uuidv7() as event_id,
          *
        from
          changed,
          unnest(event_types) as event_type
      ) as change
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1
    where
      menu_id = any (
        array(
          select
            menu_id
          from
            changed
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            changed
        )
      )
  )
select
  "record"
from
  changed;

-- menus.requireMenu
-- $1 account_id bigint
-- $2 location_ids bigint[]
-- $3 menu_id bigint
select
  (
    "menu"."account_id" = $1::bigint
    and (
      $2::bigint[] is null
      or "menu"."location_id" = any ($2::bigint[])
    )
  ) as "within_reach"
from
  "menu"
where
  ("menu"."menu_id" = $3::bigint);

-- menus.toggleMenu
-- $1 menu_id bigint
-- $2 account_id bigint
-- $3 location_ids bigint[]
-- $4 if_match text[]
-- $5 request_id text
with
  changed as (
    update "menu"
    set
      "is_active" = not menu.is_active,
      "version" = menu.version + 1,
      "content_version" = menu.content_version + 1,
      "updated_at" = clock_timestamp()
    where
      (
        ("menu"."menu_id" = $1::bigint)
        and (
          "menu"."account_id" = $2::bigint
          and (
            $3::bigint[] is null
            or "menu"."location_id" = any ($3::bigint[])
          )
        )
      )
      and (
        $4::text[] is null
        or '"' || "menu"."content_version" || '-' || (
          select
            count(*)
          from
            item
          where
            item.menu_id = "menu"."menu_id"
            and item.unavailable_until <= now()
        ) || '"' = any ($4::text[])
      )
    returning
      "new"."account_id" as "account_id",
      "new"."location_id" as "location_id",
      "new"."menu_id" as "menu_id",
      'menu:' || "new"."menu_id" as "record",
      array['menu.toggled'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "new"."menu_id" as "menu_id",
              "new"."location_id" as "location_id",
              "new"."name" as "name",
              "new"."description" as "description",
              "new"."is_active" as "is_active",
              "new"."sort_order" as "sort_order",
              "new"."external_id" as "external_id",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      (
        select
          to_json(fields)
        from
          (
            select
              old.is_active as "is_active"
          ) as fields
      ) as "previous",
      '"' || "new"."content_version" || '-' || (
        select
          count(*)
        from
          item
        where
          item.menu_id = "new"."menu_id"
          and item.unavailable_until <= now()
      ) || '"' as "etag"
  ),
  recorded as (
    insert into
      event (event_id, account_id, type, record, location_id, menu_id, payload)
    select
      event_id,
      account_id,
      event_type,
      record,
      location_id,
      menu_id,
      (
        select
          to_json(fields)
        from
          (
            select
              event_id_text ("change"."event_id") as "id",
              "change"."event_type" as "type",
              to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "timestamp",
              "change"."location_id" as "location_id",
              "change"."menu_id" as "menu_id",
              "change"."resource" as "data",
              "change"."previous" as "previous",
              $5::text as "request_id"
          ) as fields
      )
    from
      (
        select
          uuidv7() as event_id,
          *
        from
          changed,
          unnest(event_types) as event_type
      ) as change
  )
select
  "etag",
  "resource"
from
  changed;

-- menus.updateMenu
-- $1 present text[]
-- $2 name text
-- $3 description text
-- $4 is_active boolean
-- $5 sort_order integer
-- $6 external_id text
-- $7 menu_id bigint
-- $8 account_id bigint
-- $9 location_ids bigint[]
-- $10 if_match text[]
-- $11 request_id text
with
  changed as (
    update "menu"
    set
      "name" = case
        when 'name' = any ($1::text[]) then $2::text
        else "menu"."name"
      end,
      "description" = case
        when 'description' = any ($1::text[]) then $3::text
        else "menu"."description"
      end,
      "is_active" = case
        when 'is_active' = any ($1::text[]) then $4::boolean
        else "menu"."is_active"
      end,
      "sort_order" = case
        when 'sort_order' = any ($1::text[]) then $5::integer
        else "menu"."sort_order"
      end,
      "external_id" = case
        when 'external_id' = any ($1::text[]) then $6::text
        else "menu"."external_id"
      end,
      "version" = "menu"."version" + 1,
      "content_version" = "menu"."content_version" + 1,
      updated_at = clock_timestamp()
    where
      (
        ("menu"."menu_id" = $7::bigint)
        and (
          "menu"."account_id" = $8::bigint
          and (
            $9::bigint[] is null
            or "menu"."location_id" = any ($9::bigint[])
          )
        )
      )
      and (
        $10::text[] is null
        or '"' || "menu"."content_version" || '-' || (
          select
            count(*)
          from
            item
          where
            item.menu_id = "menu"."menu_id"
            and item.unavailable_until <= now()
        ) || '"' = any ($10::text[])
      )
      and ("menu"."name", "menu"."description", "menu"."is_active", "menu"."sort_order", "menu"."external_id") is distinct from (
        case
          when 'name' = any ($1::text[]) then $2::text
          else "menu"."name"
        end,
        case
          when 'description' = any ($1::text[]) then $3::text
          else "menu"."description"
        end,
        case
          when 'is_active' = any ($1::text[]) then $4::boolean
          else "menu"."is_active"
        end,
        case
          when 'sort_order' = any ($1::text[]) then $5::integer
          else "menu"."sort_order"
        end,
        case
          when 'external_id' = any ($1::text[]) then $6::text
          else "menu"."external_id"
        end
      )
    returning
      "new"."account_id" as "account_id",
      "new"."location_id" as "location_id",
      "new"."menu_id" as "menu_id",
      'menu:' || "new"."menu_id" as "record",
      array_remove(
        array[
          case
            when old.is_active <> new.is_active then 'menu.toggled'
          end,
          case
            when ("old"."name", "old"."description", "old"."sort_order", "old"."external_id") is distinct from ("new"."name", "new"."description", "new"."sort_order", "new"."external_id") then 'menu.updated'
          end
        ],
        null
      ) as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "new"."menu_id" as "menu_id",
              "new"."location_id" as "location_id",
              "new"."name" as "name",
              "new"."description" as "description",
              "new"."is_active" as "is_active",
              "new"."sort_order" as "sort_order",
              "new"."external_id" as "external_id",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      changed_fields (
        (
          select
            to_json(fields)
          from
            (
              select
                "old"."menu_id" as "menu_id",
                "old"."location_id" as "location_id",
                "old"."name" as "name",
                "old"."description" as "description",
                "old"."is_active" as "is_active",
                "old"."sort_order" as "sort_order",
                "old"."external_id" as "external_id",
                to_char("old"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                to_char("old"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                "old"."version" as "version"
            ) as fields
        ),
        (
          select
            to_json(fields)
          from
            (
              select
                "new"."menu_id" as "menu_id",
                "new"."location_id" as "location_id",
                "new"."name" as "name",
                "new"."description" as "description",
                "new"."is_active" as "is_active",
                "new"."sort_order" as "sort_order",
                "new"."external_id" as "external_id",
                to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                "new"."version" as "version"
            ) as fields
        )
      ) as "previous",
      '"' || "new"."content_version" || '-' || (
        select
          count(*)
        from
          item
        where
          item.menu_id = "new"."menu_id"
          and item.unavailable_until <= now()
      ) || '"' as "etag"
  ),
  recorded as (
    insert into
      event (event_id, account_id, type, record, location_id, menu_id, payload)
    select
      event_id,
      account_id,
      event_type,
      record,
      location_id,
      menu_id,
      (
        select
          to_json(fields)
        from
          (
            select
              event_id_text ("change"."event_id") as "id",
              "change"."event_type" as "type",
              to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "timestamp",
              "change"."location_id" as "location_id",
              "change"."menu_id" as "menu_id",
              "change"."resource" as "data",
              "change"."previous" as "previous",
              $11::text as "request_id"
          ) as fields
      )
    from
      (
        select
          uuidv7() as event_id,
          *
        from
          changed,
          unnest(event_types) as event_type
      ) as change
  )
select
  "etag",
  "resource"
from
  changed;

-- menus.updateMenu.current
-- $1 present text[]
-- $2 name text
-- $3 description text
-- $4 is_active boolean
-- $5 sort_order integer
-- $6 external_id text
-- $7 menu_id bigint
-- $8 account_id bigint
-- $9 location_ids bigint[]
select
  '"' || "menu"."content_version" || '-' || (
    select
      count(*)
    from
      item
    where
      item.menu_id = "menu"."menu_id"
      and item.unavailable_until <= now()
  ) || '"' as "etag",
  (
    select
      to_json(fields)
    from
      (
        select
          "menu"."menu_id" as "menu_id",
          "menu"."location_id" as "location_id",
          "menu"."name" as "name",
          "menu"."description" as "description",
          "menu"."is_active" as "is_active",
          "menu"."sort_order" as "sort_order",
          "menu"."external_id" as "external_id",
          to_char("menu"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
          to_char("menu"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
          "menu"."version" as "version"
      ) as fields
  ) as "resource",
  ("menu"."name", "menu"."description", "menu"."is_active", "menu"."sort_order", "menu"."external_id") is distinct from (
    case
      when 'name' = any ($1::text[]) then $2::text
      else "menu"."name"
    end,
    case
      when 'description' = any ($1::text[]) then $3::text
      else "menu"."description"
    end,
    case
      when 'is_active' = any ($1::text[]) then $4::boolean
      else "menu"."is_active"
    end,
    case
      when 'sort_order' = any ($1::text[]) then $5::integer
      else "menu"."sort_order"
    end,
    case
      when 'external_id' = any ($1::text[]) then $6::text
      else "menu"."external_id"
    end
  ) as "differs"
from
  "menu"
where
  (
    ("menu"."menu_id" = $7::bigint)
    and (
      "menu"."account_id" = $8::bigint
      and (
        $9::bigint[] is null
        or "menu"."location_id" = any ($9::bigint[])
      )
    )
  );

-- webhooks.backlog
with recursive
  waiting as (
    (
      select
        webhook_id
      from
        delivery
      where
        state = 'pending'
      order by
        webhook_id
      limit
        1
    )
    union all
    select
      (
        select
          webhook_id
        from
          delivery
        where
          state = 'pending'
          and delivery.webhook_id > waiting.webhook_id
        order by
          webhook_id
        limit
          1
      )
    from
      waiting
    where
      webhook_id is not null
  ),
  endpoint as materialized (
    select
      webhook_id
    from
      waiting
      join webhook using (webhook_id)
    where
      enabled
  ),
  oldest as (
    (
      select
        created_at
      from
        event
      where
        not relayed
      order by
        sequence
      limit
        1
    )
    union all
    select
      head.created_at
    from
      endpoint,
      lateral (
        select
          created_at
        from
          delivery
        where
          delivery.webhook_id = endpoint.webhook_id
          and state = 'pending'
        order by
          next_attempt_at
        limit
          10
      ) as head
  )
select
  (
    select
      count(*)
    from
      (
        select
        from
          event
        where
          not relayed
        limit
          50000
      ) as found
  ) as unrelayed,
  (
    select
      count(*)
    from
      (
        select
        from
          endpoint,
          lateral (
            select
            from
              delivery
            where
              delivery.webhook_id = endpoint.webhook_id
              and delivery.state in ('held', 'pending')
              and delivery.state = 'pending'
            limit
              50000
          ) as one
        limit
          50000
      ) as found
  ) as pending,
  (
    select
      count(*)
    from
      (
        select
        from
          endpoint,
          lateral (
            select
            from
              delivery
            where
              delivery.webhook_id = endpoint.webhook_id
              and delivery.state in ('held', 'pending')
              and delivery.state = 'held'
            limit
              50000
          ) as one
        limit
          50000
      ) as found
  ) as held,
  (
    select
      coalesce(
        extract(
          epoch
          from
            greatest(now() - min(created_at), interval '0')
        ),
        0
      )
    from
      oldest
  )::float8 as oldest_seconds;

-- webhooks.claim
-- $1 per_endpoint integer
-- $2 busy_ids bigint[]
-- $3 busy_attempts int[]
-- $4 limit bigint
-- $5 lease_seconds float8
with recursive
  waiting as (
    (
      select
        webhook_id
      from
        delivery
      where
        state = 'pending'
      order by
        webhook_id
      limit
        1
    )
    union all
    select
      (
        select
          webhook_id
        from
          delivery
        where
          state = 'pending'
          and delivery.webhook_id > waiting.webhook_id
        order by
          webhook_id
        limit
          1
      )
    from
      waiting
    where
      webhook_id is not null
  ),
  endpoint as (
    select
      webhook.webhook_id,
      webhook.url,
      case
        when webhook.consecutive_failures < 10 then $1::integer
        when webhook.probe_at <= now() then 1
        else 0
      end - coalesce(busy.attempts, 0) as places
    from
      waiting
      join webhook using (webhook_id)
      left join unnest($2::bigint[], $3::int[]) as busy (webhook_id, attempts) using (webhook_id)
    where
      webhook.enabled
    order by
      random()
  ),
  due as materialized (
    select
      delivery_id,
      account_id
    from
      endpoint,
      lateral (
        select
          delivery_id,
          account_id
        from
          delivery
        where
          delivery.webhook_id = endpoint.webhook_id
          and state = 'pending'
          and next_attempt_at <= now()
          and (
            leased_until is null
            or leased_until <= now()
          )
        order by
          next_attempt_at
        limit
          greatest(endpoint.places, 0)
        for update
          skip locked
      ) as head
    limit
      $4::bigint
  ),
  claimed as (
    update delivery
    set
      leased_until = now() + make_interval(secs => $5::float8)
    where
      (delivery_id, account_id) in (
        select
          delivery_id,
          account_id
        from
          due
      )
    returning
      delivery_id,
      account_id,
      webhook_id,
      record,
      attempts,
      event_id,
      leased_until
  )
select
  claimed.delivery_id,
  claimed.account_id,
  claimed.webhook_id,
  claimed.record,
  claimed.attempts + 1 as number,
  now() as claimed_at,
  claimed.leased_until,
  event_id_text (event.event_id) as event_id,
  event.payload,
  endpoint.url,
  array(
    select
      sealed_secret
    from
      webhook_secret
    where
      webhook_secret.webhook_id = claimed.webhook_id
      and webhook_secret.account_id = claimed.account_id
      and (
        expires_at is null
        or expires_at > now()
      )
    order by
      expires_at desc nulls first
  ) as sealed_secrets
from
  claimed
  join event on event.event_id = claimed.event_id
  and event.account_id = claimed.account_id
  join endpoint on endpoint.webhook_id = claimed.webhook_id;

-- webhooks.createWebhook
-- $1 account_id bigint
-- $2 url text
-- $3 description text
-- $4 event_types text[]
-- $5 wanted_locations bigint[]
-- $6 wanted_menus bigint[]
-- $7 location_ids bigint[]
-- $8 enabled boolean
-- $9 sealed_secret bytea
with
  "webhook" as (
    insert into
      "webhook" (
        "account_id",
        "url",
        "description",
        "event_types",
        "location_ids",
        "menu_ids",
        "granted_location_ids",
        "enabled"
      )
    values
      ($1::bigint, $2::text, $3::text, $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::boolean)
    returning
      *
  ),
  "secret" as (
    insert into
      "webhook_secret" ("webhook_id", "account_id", "sealed_secret")
    select
      "webhook_id",
      "account_id",
      $9::bytea as "sealed_secret"
    from
      "webhook"
  )
select
  "webhook_id",
  '"' || "webhook"."version" || '"' as "etag",
  (
    select
      to_json(fields)
    from
      (
        select
          "webhook"."webhook_id" as "webhook_id",
          "webhook"."url" as "url",
          "webhook"."description" as "description",
          "webhook"."event_types" as "event_types",
          "webhook"."location_ids" as "location_ids",
          "webhook"."menu_ids" as "menu_ids",
          "webhook"."enabled" as "enabled",
          "webhook"."disabled_reason" as "disabled_reason",
          to_char("webhook"."disabled_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "disabled_at",
          to_char("webhook"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
          to_char("webhook"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
          "webhook"."version" as "version"
      ) as fields
  ) as "resource"
from
  "webhook";

-- webhooks.deleteWebhook
-- $1 webhook_id bigint
-- $2 account_id bigint
-- $3 location_ids bigint[]
-- $4 if_match text[]
delete from "webhook"
where
  "webhook_id" = $1::bigint
  and (
    webhook.account_id = $2::bigint
    and (
      $3::bigint[] is null
      or coalesce(webhook.granted_location_ids <@ $3::bigint[], false)
    )
  )
  and (
    $4::text[] is null
    or '"' || "webhook"."version" || '"' = any ($4::text[])
  )
returning
  "webhook_id";

-- webhooks.disable
-- $1 gone_ids bigint[]
-- $2 webhook_ids bigint[]
update webhook
set
  enabled = false,
  disabled_reason = case
    when webhook_id = any ($1::bigint[]) then 'gone'
    else 'failing'
  end,
  disabled_at = now(),
  updated_at = clock_timestamp(),
  version = version + 1
where
  webhook_id = any ($2::bigint[])
  and enabled
  and (
    webhook_id = any ($1::bigint[])
    or failing_since <= now() - make_interval(days => 5)
  );

-- webhooks.getDelivery
-- $1 delivery_id bigint
-- $2 account_id bigint
-- $3 webhook_id bigint
select
  (
    select
      to_json(fields)
    from
      (
        select
          "delivery"."delivery_id" as "delivery_id",
          "delivery"."webhook_id" as "webhook_id",
          "delivery"."replay_id" as "replay_id",
          event_id_text ("delivery"."event_id") as "event_id",
          "delivery"."event_type" as "event_type",
          "delivery"."record" as "record",
          "delivery"."state" as "state",
          "delivery"."attempts" as "attempt_count",
          to_char("delivery"."next_attempt_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "next_attempt_at",
          to_char("delivery"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "queued_at",
          array_to_json(
            array(
              select
                (
                  select
                    to_json(fields)
                  from
                    (
                      select
                        "attempt"."number" as "number",
                        to_char("attempt"."started_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "started_at",
                        "attempt"."duration_ms" as "duration_ms",
                        "attempt"."status" as "status",
                        "attempt"."error" as "error",
                        "attempt"."response_excerpt" as "response_excerpt"
                    ) as fields
                )
              from
                attempt
              where
                attempt.delivery_id = delivery.delivery_id
                and attempt.account_id = delivery.account_id
              order by
                attempt.number desc
              limit
                100
            )
          ) as "attempts"
      ) as fields
  ) as "resource"
from
  "delivery"
where
  "delivery_id" = $1::bigint
  and "account_id" = $2::bigint
  and "webhook_id" = $3::bigint;

-- webhooks.getReplay
-- $1 replay_id bigint
-- $2 account_id bigint
-- $3 webhook_id bigint
select
  (
    select
      to_json(fields)
    from
      (
        select
          "replay"."replay_id" as "replay_id",
          "replay"."webhook_id" as "webhook_id",
          case
            when "replay"."position" < "replay"."until" then 'queueing'
            when (
              select
                count(*)
              from
                delivery
              where
                delivery.replay_id = "replay"."replay_id"
                and state in ('held', 'pending')
            ) > 0 then 'sending'
            else 'finished'
          end as "state",
          "replay"."queued" as "queued",
          (
            select
              count(*)
            from
              delivery
            where
              delivery.replay_id = "replay"."replay_id"
              and state in ('held', 'pending')
          ) as "unfinished",
          to_char(uuid_extract_timestamp("replay"."position") at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "queued_through",
          to_char(uuid_extract_timestamp("replay"."until") at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "until",
          to_char("replay"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "requested_at"
      ) as fields
  ) as "resource"
from
  "replay"
where
  "replay_id" = $1::bigint
  and "account_id" = $2::bigint
  and "webhook_id" = $3::bigint;

-- webhooks.getWebhook
-- $1 account_id bigint
-- $2 location_ids bigint[]
-- $3 webhook_id bigint
select
  (
    webhook.account_id = $1::bigint
    and (
      $2::bigint[] is null
      or coalesce(webhook.granted_location_ids <@ $2::bigint[], false)
    )
  ) as "within_reach",
  '"' || "webhook"."version" || '"' as "etag",
  (
    select
      to_json(fields)
    from
      (
        select
          "webhook"."webhook_id" as "webhook_id",
          "webhook"."url" as "url",
          "webhook"."description" as "description",
          "webhook"."event_types" as "event_types",
          "webhook"."location_ids" as "location_ids",
          "webhook"."menu_ids" as "menu_ids",
          "webhook"."enabled" as "enabled",
          "webhook"."disabled_reason" as "disabled_reason",
          to_char("webhook"."disabled_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "disabled_at",
          to_char("webhook"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
          to_char("webhook"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
          "webhook"."version" as "version"
      ) as fields
  ) as "resource"
from
  "webhook"
where
  "webhook_id" = $3::bigint;

-- webhooks.knownIds
-- $1 wanted_locations bigint[]
-- $2 account_id bigint
-- $3 location_ids bigint[]
-- $4 wanted_menus bigint[]
select
  array(
    select
      location_id::float8
    from
      location
    where
      location_id = any ($1::bigint[])
      and (
        "location"."account_id" = $2::bigint
        and (
          $3::bigint[] is null
          or "location"."location_id" = any ($3::bigint[])
        )
      )
  ) as "locations",
  array(
    select
      menu_id::float8
    from
      menu
    where
      menu_id = any ($4::bigint[])
      and (
        "menu"."account_id" = $2::bigint
        and (
          $3::bigint[] is null
          or "menu"."location_id" = any ($3::bigint[])
        )
      )
  ) as "menus";

-- webhooks.listDeliveries
-- $1 webhook_id bigint
-- $2 account_id bigint
-- $3 before bigint
-- $4 state text
-- $5 type text[]
-- $6 record text
-- $7 since timestamptz
-- $8 until timestamptz
-- $9 limit bigint
-- Conditions that are there when given: before, state, type, record, since, until
select
  "delivery_id" as "id",
  (
    select
      to_json(fields)
    from
      (
        select
          "delivery"."delivery_id" as "delivery_id",
          "delivery"."webhook_id" as "webhook_id",
          "delivery"."replay_id" as "replay_id",
          event_id_text ("delivery"."event_id") as "event_id",
          "delivery"."event_type" as "event_type",
          "delivery"."record" as "record",
          "delivery"."state" as "state",
          "delivery"."attempts" as "attempt_count",
          to_char("delivery"."next_attempt_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "next_attempt_at",
          to_char("delivery"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "queued_at",
          (
            select
              (
                select
                  to_json(fields)
                from
                  (
                    select
                      "attempt"."number" as "number",
                      to_char("attempt"."started_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "started_at",
                      "attempt"."duration_ms" as "duration_ms",
                      "attempt"."status" as "status",
                      "attempt"."error" as "error",
                      "attempt"."response_excerpt" as "response_excerpt"
                  ) as fields
              )
            from
              attempt
            where
              attempt.delivery_id = delivery.delivery_id
              and attempt.account_id = delivery.account_id
            order by
              attempt.number desc
            limit
              1
          ) as "last_attempt"
      ) as fields
  ) as "resource"
from
  "delivery"
where
  "webhook_id" = $1::bigint
  and "account_id" = $2::bigint
  and (
    delivery_id < $3::bigint
    and state = $4::text
    and (
      "event_type" = any ($5::text[])
      or split_part("event_type", '.', 1) || '.*' = any ($5::text[])
    )
    and record = $6::text
    and created_at >= $7::timestamptz
    and created_at < $8::timestamptz
  )
order by
  "delivery_id" desc
limit
  $9::bigint;

-- webhooks.listWebhooks
-- $1 account_id bigint
-- $2 location_ids bigint[]
-- $3 after bigint
-- $4 limit bigint
select
  "webhook_id" as "id",
  (
    select
      to_json(fields)
    from
      (
        select
          "webhook"."webhook_id" as "webhook_id",
          "webhook"."url" as "url",
          "webhook"."description" as "description",
          "webhook"."event_types" as "event_types",
          "webhook"."location_ids" as "location_ids",
          "webhook"."menu_ids" as "menu_ids",
          "webhook"."enabled" as "enabled",
          "webhook"."disabled_reason" as "disabled_reason",
          to_char("webhook"."disabled_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "disabled_at",
          to_char("webhook"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
          to_char("webhook"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
          "webhook"."version" as "version"
      ) as fields
  ) as "resource"
from
  "webhook"
where
  (
    webhook.account_id = $1::bigint
    and (
      $2::bigint[] is null
      or coalesce(webhook.granted_location_ids <@ $2::bigint[], false)
    )
  )
  and "webhook_id" > $3::bigint
order by
  "webhook_id"
limit
  $4::bigint;

-- webhooks.lockEndpoints
-- $1 webhook_ids bigint[]
select
  "webhook_id"
from
  "webhook"
where
  webhook_id = any ($1::bigint[])
order by
  "webhook_id"
for no key update;

-- webhooks.noteHealth
-- $1 webhook_ids bigint[]
-- $2 failures int[]
-- $3 reached boolean[]
update webhook
set
  failing_since = case
    when not reached then coalesce(failing_since, now())
  end,
  consecutive_failures = case
    when reached then 0
    else consecutive_failures + failures
  end,
  probe_at = case
    when not reached then now() + least(greatest((now() - coalesce(failing_since, now())) / 10, interval '5 seconds'), interval '5 minutes')
  end
from
  unnest($1::bigint[], $2::int[], $3::boolean[]) as impression (webhook_id, failures, reached)
where
  webhook.webhook_id = impression.webhook_id
  and (
    failing_since is not null
    or not reached
  );

-- webhooks.promoteHeads
-- $1 webhook_ids bigint[]
-- $2 records text[]
update delivery
set
  state = 'pending',
  next_attempt_at = now()
where
  state = 'held'
  and (delivery_id, account_id) in (
    select
      head.delivery_id,
      head.account_id
    from
      unnest($1::bigint[], $2::text[]) as key (webhook_id, record),
      lateral (
        select
          delivery_id,
          account_id
        from
          delivery
        where
          delivery.webhook_id = key.webhook_id
          and delivery.record = key.record
          and delivery.state in ('held', 'pending')
        order by
          event_sequence
        limit
          1
      ) as head
  );

-- webhooks.recordOutcomes
-- $1 delivery_ids bigint[]
-- $2 account_ids bigint[]
-- $3 leases timestamptz[]
-- $4 numbers smallint[]
-- $5 states text[]
-- $6 retry_in_ms float8[]
-- $7 started_at timestamptz[]
-- $8 durations_ms int[]
-- $9 statuses smallint[]
-- $10 errors text[]
-- $11 response_excerpts text[]
with
  outcome as (
    select
      *
    from
      unnest(
        $1::bigint[],
        $2::bigint[],
        $3::timestamptz[],
        $4::smallint[],
        $5::text[],
        $6::float8[],
        $7::timestamptz[],
        $8::int[],
        $9::smallint[],
        $10::text[],
        $11::text[]
      ) with ordinality as outcome (
        delivery_id,
        account_id,
        lease,
        number,
        new_state,
        retry_in_ms,
        started_at,
        duration_ms,
        status,
        error,
        response_excerpt,
        place
      )
  ),
  recorded as (
    update delivery
    set
      state = new_state,
      attempts = number,
      leased_until = null,
      next_attempt_at = now() + make_interval(secs => retry_in_ms / 1000)
    from
      outcome
    where
      delivery.delivery_id = outcome.delivery_id
      and delivery.account_id = outcome.account_id
      and state = 'pending'
      and leased_until = lease
    returning
      outcome.*
  ),
  logged as (
    insert into
      attempt (delivery_id, account_id, number, started_at, duration_ms, status, error, response_excerpt)
    select
      delivery_id,
      account_id,
      number,
      started_at,
      duration_ms,
      status,
      error,
      response_excerpt
    from
      recorded
  )
select
  place
from
  recorded;

-- webhooks.relay.endpoints
-- $1 account_ids bigint[]
select
  "webhook_id",
  "account_id"
from
  "webhook"
where
  account_id = any ($1::bigint[]);

-- webhooks.relay.lock
select
  "singleton"
from
  "relay"
for update
  skip locked;

-- webhooks.relay.markRelayed
-- $1 event_ids uuid[]
-- $2 account_ids bigint[]
update event
set
  relayed = true
from
  unnest($1::uuid[], $2::bigint[]) as taken (event_id, account_id)
where
  event.event_id = taken.event_id
  and event.account_id = taken.account_id;

-- webhooks.relay.queue
-- $1 event_ids uuid[]
-- $2 account_ids bigint[]
-- $3 webhook_ids bigint[]
-- $4 retention_days integer
with
  inserted as (
    insert into
      delivery (
        account_id,
        webhook_id,
        event_id,
        event_sequence,
        event_type,
        record,
        replay_id,
        state,
        next_attempt_at
      )
    select
      account_id,
      webhook_id,
      event_id,
      sequence,
      type,
      record,
      replay_id,
      case
        when is_head then 'pending'
        else 'held'
      end,
      case
        when is_head then now()
      end
    from
      (
        select
          wanted.*,
          row_number() over (
            partition by
              webhook_id,
              record
            order by
              sequence
          ) = 1
          and not exists (
            select
            from
              delivery as ahead
            where
              ahead.webhook_id = wanted.webhook_id
              and ahead.record = wanted.record
              and ahead.state in ('held', 'pending')
          ) as is_head
        from
          (
            select
              event.account_id,
              webhook.webhook_id,
              event.event_id,
              event.sequence,
              event.type,
              event.record,
              null::bigint as replay_id
            from
              unnest($1::uuid[], $2::bigint[]) as taken (event_id, account_id)
              join event using (event_id, account_id)
              join webhook using (account_id)
            where
              webhook.webhook_id = any ($3::bigint[])
              and (
                webhook.event_types = '{}'
                or (
                  "event"."type" = any ("webhook"."event_types")
                  or split_part("event"."type", '.', 1) || '.*' = any ("webhook"."event_types")
                )
              )
              and (
                webhook.location_ids = '{}'
                or event.location_id = any (webhook.location_ids)
              )
              and (
                webhook.menu_ids = '{}'
                or event.menu_id = any (webhook.menu_ids)
              )
              and (
                webhook.granted_location_ids is null
                or event.location_id = any (webhook.granted_location_ids)
              )
              and (
                webhook.disabled_at is null
                or webhook.disabled_at > now() - make_interval(days => $4::integer)
              )
          ) as wanted
      ) as placed
    order by
      sequence
    returning
      1
  )
select
  count(*) as queued
from
  inserted;

-- webhooks.relay.waiting
-- $1 limit bigint
select
  "event_id",
  "account_id"
from
  "event"
where
  "relayed" = false
order by
  "sequence"
limit
  $1::bigint;

-- webhooks.replayWebhook
-- $1 account_id bigint
-- $2 webhook_id bigint
-- $3 after_event_id uuid
-- $4 since timestamptz
with
  "replay" as (
    insert into
      "replay" ("account_id", "webhook_id", "position", "until")
    select
      $1::bigint as "account_id",
      $2::bigint as "webhook_id",
      coalesce(
        $3::uuid,
        greatest(
          event_id_at ($4::timestamptz),
          event_id_at (
            (
              select
                uuid_extract_timestamp(event_id)
              from
                event
              order by
                event_id
              limit
                1
            )
          )
        )
      ) as "position",
      event_id_at (clock_timestamp() + interval '1 millisecond') as "until"
    where
      not exists (
        select
        from
          replay
        where
          webhook_id = $2::bigint
          and position < until
      )
    returning
      *
  )
select
  "replay_id",
  (
    select
      to_json(fields)
    from
      (
        select
          "replay"."replay_id" as "replay_id",
          "replay"."webhook_id" as "webhook_id",
          case
            when "replay"."position" < "replay"."until" then 'queueing'
            when (
              select
                count(*)
              from
                delivery
              where
                delivery.replay_id = "replay"."replay_id"
                and state in ('held', 'pending')
            ) > 0 then 'sending'
            else 'finished'
          end as "state",
          "replay"."queued" as "queued",
          (
            select
              count(*)
            from
              delivery
            where
              delivery.replay_id = "replay"."replay_id"
              and state in ('held', 'pending')
          ) as "unfinished",
          to_char(uuid_extract_timestamp("replay"."position") at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "queued_through",
          to_char(uuid_extract_timestamp("replay"."until") at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "until",
          to_char("replay"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "requested_at"
      ) as fields
  ) as "resource"
from
  "replay";

-- webhooks.replayWebhook.event
-- $1 after_event_id uuid
-- $2 account_id bigint
-- $3 location_ids bigint[]
select
  "event_id"
from
  "event"
where
  "event_id" = $1::uuid
  and (
    "event"."account_id" = $2::bigint
    and (
      $3::bigint[] is null
      or "event"."location_id" = any ($3::bigint[])
    )
  );

-- webhooks.replayWebhook.removeOld
-- $1 webhook_id bigint
-- $2 account_id bigint
delete from "replay"
where
  "webhook_id" = $1::bigint
  and "account_id" = $2::bigint
  and "created_at" < now() - interval '30 days';

-- webhooks.replays.advance
-- $1 end uuid
-- $2 replay_id bigint
-- $3 account_id bigint
-- $4 position uuid
update "replay"
set
  "position" = $1::uuid
where
  "replay_id" = $2::bigint
  and "account_id" = $3::bigint
  and "position" = $4::uuid
returning
  "replay_id";

-- webhooks.replays.countQueued
-- $1 queued bigint
-- $2 replay_id bigint
-- $3 account_id bigint
update "replay"
set
  "queued" = queued + $1::bigint
where
  "replay_id" = $2::bigint
  and "account_id" = $3::bigint;

-- webhooks.replays.lockEvents
-- $1 position uuid
-- $2 window_end uuid
-- $3 account_id bigint
select
  "event_id"
from
  "event"
where
  "event_id" > $1::uuid
  and "event_id" <= $2::uuid
  and "account_id" = $3::bigint
  and "relayed" = true
order by
  "event_id"
limit
  1000
for key share;

-- webhooks.replays.queue
-- $1 replay_id bigint
-- $2 webhook_id bigint
-- $3 event_ids uuid[]
-- $4 account_id bigint
with
  inserted as (
    insert into
      delivery (
        account_id,
        webhook_id,
        event_id,
        event_sequence,
        event_type,
        record,
        replay_id,
        state,
        next_attempt_at
      )
    select
      account_id,
      webhook_id,
      event_id,
      sequence,
      type,
      record,
      replay_id,
      case
        when is_head then 'pending'
        else 'held'
      end,
      case
        when is_head then now()
      end
    from
      (
        select
          wanted.*,
          row_number() over (
            partition by
              webhook_id,
              record
            order by
              sequence
          ) = 1
          and not exists (
            select
            from
              delivery as ahead
            where
              ahead.webhook_id = wanted.webhook_id
              and ahead.record = wanted.record
              and ahead.state in ('held', 'pending')
          ) as is_head
        from
          (
            select
              event.account_id,
              webhook.webhook_id,
              event.event_id,
              event.sequence,
              event.type,
              event.record,
              $1::bigint as replay_id
            from
              event
              join webhook on webhook.account_id = event.account_id
              and webhook.webhook_id = $2::bigint
            where
              event.event_id = any ($3::uuid[])
              and event.account_id = $4::bigint
              and (
                webhook.event_types = '{}'
                or (
                  "event"."type" = any ("webhook"."event_types")
                  or split_part("event"."type", '.', 1) || '.*' = any ("webhook"."event_types")
                )
              )
              and (
                webhook.location_ids = '{}'
                or event.location_id = any (webhook.location_ids)
              )
              and (
                webhook.menu_ids = '{}'
                or event.menu_id = any (webhook.menu_ids)
              )
              and (
                webhook.granted_location_ids is null
                or event.location_id = any (webhook.granted_location_ids)
              )
              and not exists (
                select
                from
                  delivery
                where
                  delivery.webhook_id = webhook.webhook_id
                  and delivery.record = event.record
                  and delivery.event_sequence = event.sequence
                  and delivery.state = 'held'
              )
          ) as wanted
      ) as placed
    order by
      sequence
    returning
      1
  )
select
  count(*) as queued
from
  inserted;

-- webhooks.replays.queueing
select
  "replay_id",
  "account_id",
  "webhook_id",
  "position"
from
  "replay"
where
  "position" < "until"
order by
  "replay_id"
limit
  20;

-- webhooks.replays.window
-- $1 replay_id bigint
-- $2 account_id bigint
select
  least(until, event_id_at (uuid_extract_timestamp(position) + interval '1 hour')) as "window_end"
from
  "replay"
where
  "replay_id" = $1::bigint
  and "account_id" = $2::bigint;

-- webhooks.requireWebhook
-- $1 account_id bigint
-- $2 location_ids bigint[]
-- $3 webhook_id bigint
select
  (
    webhook.account_id = $1::bigint
    and (
      $2::bigint[] is null
      or coalesce(webhook.granted_location_ids <@ $2::bigint[], false)
    )
  ) as "within_reach",
  "webhook_id",
  "account_id",
  "url",
  "granted_location_ids",
  array(
    select
      sealed_secret
    from
      webhook_secret
    where
      webhook_secret.webhook_id = webhook.webhook_id
      and webhook_secret.account_id = webhook.account_id
      and (
        expires_at is null
        or expires_at > now()
      )
    order by
      expires_at desc nulls first
  ) as "sealed_secrets",
  clock_timestamp() as "found_at"
from
  "webhook"
where
  "webhook_id" = $3::bigint;

-- webhooks.retention.lockOldEvents
-- $1 after uuid
-- $2 days integer
-- $3 batch bigint
select
  "event_id"
from
  "event"
where
  "event_id" > $1::uuid
  and "event_id" < (
    select
      uuidv7(make_interval(days => - $2::integer))
  )
order by
  "event_id"
limit
  $3::bigint
for update
  skip locked;

-- webhooks.retention.removeDeliveries
-- $1 after bigint
-- $2 batch bigint
-- $3 days integer
with
  old as (
    select
      delivery_id,
      state
    from
      (
        select
          delivery_id,
          state,
          created_at
        from
          delivery
        where
          delivery_id > $1::bigint
        order by
          delivery_id
        limit
          $2::bigint
      ) as next
    where
      created_at < now() - make_interval(days => $3::integer)
  ),
  removed as (
    delete from delivery
    where
      state in ('delivered', 'failed')
      and delivery_id = any (
        array(
          select
            delivery_id
          from
            old
          where
            state in ('delivered', 'failed')
        )
      )
  )
select
  max(delivery_id) as last
from
  old;

-- webhooks.retention.removeFinishedEvents
-- $1 event_ids uuid[]
delete from event
where
  event_id = any ($1::uuid[])
  and relayed
  and not exists (
    select
    from
      webhook
      join delivery using (webhook_id)
    where
      webhook.account_id = event.account_id
      and delivery.record = event.record
      and delivery.event_sequence = event.sequence
      and delivery.state in ('held', 'pending')
  );

-- webhooks.retention.removeOrphans
-- $1 batch bigint
with recursive
  known as (
    (
      select
        webhook_id
      from
        delivery
      order by
        webhook_id
      limit
        1
    )
    union all
    select
      (
        select
          webhook_id
        from
          delivery
        where
          delivery.webhook_id > known.webhook_id
        order by
          webhook_id
        limit
          1
      )
    from
      known
    where
      webhook_id is not null
  ),
  orphan as (
    select
      webhook_id
    from
      known
    where
      webhook_id is not null
      and not exists (
        select
        from
          webhook
        where
          webhook.webhook_id = known.webhook_id
      )
    limit
      1
  )
delete from delivery
where
  delivery_id = any (
    array(
      select
        delivery_id
      from
        delivery
      where
        webhook_id = (
          select
            webhook_id
          from
            orphan
        )
      order by
        delivery_id
      limit
        $1::bigint
      for update
        skip locked
    )
  )
returning
  delivery_id;

-- webhooks.retryDelivery
-- $1 delivery_id bigint
-- $2 webhook_id bigint
-- $3 account_id bigint
select
  (
    select
      to_json(fields)
    from
      (
        select
          "delivery"."delivery_id" as "delivery_id",
          "delivery"."webhook_id" as "webhook_id",
          "delivery"."replay_id" as "replay_id",
          event_id_text ("delivery"."event_id") as "event_id",
          "delivery"."event_type" as "event_type",
          "delivery"."record" as "record",
          "delivery"."state" as "state",
          "delivery"."attempts" as "attempt_count",
          to_char("delivery"."next_attempt_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "next_attempt_at",
          to_char("delivery"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "queued_at",
          (
            select
              (
                select
                  to_json(fields)
                from
                  (
                    select
                      "attempt"."number" as "number",
                      to_char("attempt"."started_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "started_at",
                      "attempt"."duration_ms" as "duration_ms",
                      "attempt"."status" as "status",
                      "attempt"."error" as "error",
                      "attempt"."response_excerpt" as "response_excerpt"
                  ) as fields
              )
            from
              attempt
            where
              attempt.delivery_id = delivery.delivery_id
              and attempt.account_id = delivery.account_id
            order by
              attempt.number desc
            limit
              1
          ) as "last_attempt"
      ) as fields
  ) as "resource"
from
  "delivery"
where
  (
    delivery_id = $1::bigint
    and webhook_id = $2::bigint
    and account_id = $3::bigint
  );

-- webhooks.retryDelivery.event
-- $1 delivery_id bigint
-- $2 webhook_id bigint
-- $3 account_id bigint
select
  "event_id"
from
  "delivery"
where
  (
    delivery_id = $1::bigint
    and webhook_id = $2::bigint
    and account_id = $3::bigint
  );

-- webhooks.retryDelivery.hold
-- $1 webhook_id bigint
-- $2 account_id bigint
-- $3 record text
-- $4 delivery_id bigint
update "delivery"
set
  "state" = 'held',
  "next_attempt_at" = null,
  "leased_until" = null
where
  "webhook_id" = $1::bigint
  and "account_id" = $2::bigint
  and "record" = $3::text
  and (
    state = 'pending'
    or delivery_id = $4::bigint
  )
  and coalesce(leased_until <= now(), true);

-- webhooks.retryDelivery.lockEvent
-- $1 event_id uuid
-- $2 account_id bigint
select
  "record"
from
  "event"
where
  "event_id" = $1::uuid
  and "account_id" = $2::bigint
for key share;

-- webhooks.retryDelivery.pending
-- $1 webhook_id bigint
-- $2 record text
select
  "delivery_id"
from
  "delivery"
where
  "webhook_id" = $1::bigint
  and "record" = $2::text
  and "state" = 'pending';

-- webhooks.rotateWebhookSecret
-- $1 webhook_id bigint
-- $2 account_id bigint
-- $3 location_ids bigint[]
-- $4 if_match text[]
update "webhook"
set
  "version" = version + 1,
  "updated_at" = clock_timestamp()
where
  "webhook_id" = $1::bigint
  and (
    webhook.account_id = $2::bigint
    and (
      $3::bigint[] is null
      or coalesce(webhook.granted_location_ids <@ $3::bigint[], false)
    )
  )
  and (
    $4::text[] is null
    or '"' || "webhook"."version" || '"' = any ($4::text[])
  )
returning
  '"' || "new"."version" || '"' as "etag",
  (
    select
      to_json(fields)
    from
      (
        select
          "new"."webhook_id" as "webhook_id",
          "new"."url" as "url",
          "new"."description" as "description",
          "new"."event_types" as "event_types",
          "new"."location_ids" as "location_ids",
          "new"."menu_ids" as "menu_ids",
          "new"."enabled" as "enabled",
          "new"."disabled_reason" as "disabled_reason",
          to_char("new"."disabled_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "disabled_at",
          to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
          to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
          "new"."version" as "version"
      ) as fields
  ) as "resource";

-- webhooks.rotateWebhookSecret.add
-- $1 webhook_id bigint
-- $2 account_id bigint
-- $3 sealed_secret bytea
insert into
  "webhook_secret" ("webhook_id", "account_id", "sealed_secret")
values
  ($1::bigint, $2::bigint, $3::bytea);

-- webhooks.rotateWebhookSecret.retire
-- $1 overlap_seconds float8
-- $2 webhook_id bigint
-- $3 account_id bigint
with
  old as (
    select
      ctid,
      row_number() over (
        order by
          expires_at desc nulls first,
          created_at desc
      ) as place,
      least(expires_at, now() + make_interval(secs => $1::float8)) as ends_at
    from
      webhook_secret
    where
      webhook_id = $2::bigint
      and account_id = $3::bigint
  ),
  removed as (
    delete from webhook_secret
    where
      ctid in (
        select
          ctid
        from
          old
        where
          place > 4
          or ends_at <= now()
      )
  )
update webhook_secret
set
  expires_at = ends_at
from
  old
where
  webhook_secret.ctid = old.ctid
  and place <= 4
  and ends_at > now();

-- webhooks.updateWebhook
-- $1 url text
-- $2 description text
-- $3 event_types text[]
-- $4 wanted_locations bigint[]
-- $5 wanted_menus bigint[]
-- $6 enabled boolean
-- $7 webhook_id bigint
-- $8 account_id bigint
-- $9 location_ids bigint[]
-- $10 if_match text[]
with
  "changed" as (
    update "webhook"
    set
      "url" = coalesce($1::text, url),
      "description" = coalesce($2::text, description),
      "event_types" = coalesce($3::text[], event_types),
      "location_ids" = coalesce($4::bigint[], location_ids),
      "menu_ids" = coalesce($5::bigint[], menu_ids),
      "enabled" = coalesce($6::boolean, enabled),
      "disabled_reason" = case
        when $6::boolean is not true then disabled_reason
      end,
      "disabled_at" = case
        when $6::boolean is not true then disabled_at
      end,
      "failing_since" = case
        when (
          $6::boolean is true
          or $1::text <> url
        ) then null
        else failing_since
      end,
      "consecutive_failures" = case
        when (
          $6::boolean is true
          or $1::text <> url
        ) then 0
        else consecutive_failures
      end,
      "probe_at" = case
        when (
          $6::boolean is true
          or $1::text <> url
        ) then null
        else probe_at
      end,
      "version" = version + (
        (
          "webhook"."url",
          "webhook"."description",
          "webhook"."event_types",
          "webhook"."location_ids",
          "webhook"."menu_ids",
          "webhook"."enabled",
          "webhook"."disabled_reason",
          "webhook"."disabled_at"
        ) is distinct from (
          coalesce($1::text, url),
          coalesce($2::text, description),
          coalesce($3::text[], event_types),
          coalesce($4::bigint[], location_ids),
          coalesce($5::bigint[], menu_ids),
          coalesce($6::boolean, enabled),
          case
            when $6::boolean is not true then disabled_reason
          end,
          case
            when $6::boolean is not true then disabled_at
          end
        )
      )::int,
      "updated_at" = case
        when (
          "webhook"."url",
          "webhook"."description",
          "webhook"."event_types",
          "webhook"."location_ids",
          "webhook"."menu_ids",
          "webhook"."enabled",
          "webhook"."disabled_reason",
          "webhook"."disabled_at"
        ) is distinct from (
          coalesce($1::text, url),
          coalesce($2::text, description),
          coalesce($3::text[], event_types),
          coalesce($4::bigint[], location_ids),
          coalesce($5::bigint[], menu_ids),
          coalesce($6::boolean, enabled),
          case
            when $6::boolean is not true then disabled_reason
          end,
          case
            when $6::boolean is not true then disabled_at
          end
        ) then clock_timestamp()
        else updated_at
      end
    where
      "webhook_id" = $7::bigint
      and (
        webhook.account_id = $8::bigint
        and (
          $9::bigint[] is null
          or coalesce(webhook.granted_location_ids <@ $9::bigint[], false)
        )
      )
      and (
        $10::text[] is null
        or '"' || "webhook"."version" || '"' = any ($10::text[])
      )
    returning
      "webhook_id",
      '"' || "new"."version" || '"' as "etag",
      (
        select
          to_json(fields)
        from
          (
            select
              "new"."webhook_id" as "webhook_id",
              "new"."url" as "url",
              "new"."description" as "description",
              "new"."event_types" as "event_types",
              "new"."location_ids" as "location_ids",
              "new"."menu_ids" as "menu_ids",
              "new"."enabled" as "enabled",
              "new"."disabled_reason" as "disabled_reason",
              to_char("new"."disabled_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "disabled_at",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      (
        $6::boolean is true
        or old.url <> new.url
      ) as "starts_anew"
  ),
  "hurried" as (
    update "delivery"
    set
      "next_attempt_at" = now()
    from
      "changed"
    where
      "delivery"."webhook_id" = "changed"."webhook_id"
      and "starts_anew" = true
      and "delivery"."state" = 'pending'
      and "delivery"."next_attempt_at" > now()
      and coalesce(delivery.leased_until <= now(), true)
  )
select
  "etag",
  "resource"
from
  "changed";
