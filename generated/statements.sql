-- Every SQL statement of the service, by name, as it is prepared on the database.
-- Generated from src/ by `make generate`; do not edit.

-- accounts.authenticateClient
-- $1 client_ids text[]
select
  "account_id",
  "client_id",
  "scopes",
  "location_ids",
  "token_generation",
  exists (
    select
    from
      account_move
    where
      account_move.account_id = "client"."account_id"
      and state <> 'leaving'
  ) as "is_away",
  secret_hash || array(
    select
      retired.secret_hash
    from
      retired_client_secret as retired
    where
      retired.client_id = client.client_id
      and retired.account_id = client.account_id
      and expires_at > now()
  ) as "secret_hashes"
from
  "client"
where
  "disabled_at" is null
  and "client_id" = any ($1::text[]);

-- accounts.createClient
-- $1 account_id bigint
-- $2 client_id text
-- $3 secret_hash bytea
-- $4 scopes text[]
-- $5 location_ids bigint[]
insert into
  "client" ("account_id", "client_id", "secret_hash", "scopes", "location_ids")
values
  ($1::bigint, $2::text, $3::bytea, $4::text[], $5::bigint[])
on conflict do nothing
returning
  "client_id";

-- accounts.disableClient
-- $1 client_id text
update "client"
set
  "disabled_at" = coalesce(disabled_at, now()),
  "token_generation" = token_generation + 1
where
  "client_id" = $1::text
returning
  "client_id";

-- accounts.enableClient
-- $1 client_id text
update "client"
set
  "disabled_at" = null
where
  "client_id" = $1::text
returning
  "client_id";

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

-- accounts.findCaller
-- $1 client_id text
-- $2 token_id uuid
select
  "account_id",
  "client_id",
  "scopes",
  "location_ids",
  "token_generation",
  exists (
    select
    from
      account_move
    where
      account_move.account_id = "client"."account_id"
      and state <> 'leaving'
  ) as "is_away"
from
  "client"
where
  "disabled_at" is null
  and "client_id" = $1::text
  and not exists (
    select
    from
      revoked_token as revoked
    where
      revoked.client_id = client.client_id
      and revoked.account_id = client.account_id
      and revoked.token_id = $2::uuid
  );

-- accounts.findCallers
-- $1 client_ids text[]
-- $2 token_ids uuid[]
select
  wanted.number,
  found.*
from
  unnest(
    (
      select
        $1::text[]
    )::text[],
    (
      select
        $2::uuid[]
    )::uuid[]
  ) with ordinality as wanted (client_id, token_id, number)
  cross join lateral (
    (
      select
        "account_id",
        "client_id",
        "scopes",
        "location_ids",
        "token_generation",
        exists (
          select
          from
            account_move
          where
            account_move.account_id = "client"."account_id"
            and state <> 'leaving'
        ) as "is_away"
      from
        "client"
      where
        "disabled_at" is null
        and "client_id" = "wanted"."client_id"
        and not exists (
          select
          from
            revoked_token as revoked
          where
            revoked.client_id = client.client_id
            and revoked.account_id = client.account_id
            and revoked.token_id = "wanted"."token_id"
        )
    )
  ) as found;

-- accounts.getCurrentClient
-- $1 account_id bigint
select
  "name"
from
  "account"
where
  "account_id" = $1::bigint;

-- accounts.listClients
-- $1 account text
select
  "account"."account_id",
  "account"."name" as "account",
  "client_id",
  "scopes",
  "location_ids" as "locations",
  "client"."created_at",
  "disabled_at",
  (
    select
      max(expires_at)
    from
      retired_client_secret as retired
    where
      retired.client_id = client.client_id
      and retired.account_id = client.account_id
      and expires_at > now()
  ) as "overlap_until"
from
  "client"
  inner join "account" on "account"."account_id" = "client"."account_id"
where
  coalesce(account.name = $1::text, true)
order by
  "client"."created_at";

-- accounts.lookAtWebhooks
-- $1 client_id text
update "endpoint_due"
set
  "look_at" = now()
from
  "webhook"
where
  "webhook"."client_id" = $1::text
  and "endpoint_due"."webhook_id" = "webhook"."webhook_id"
  and "endpoint_due"."account_id" = "webhook"."account_id";

-- accounts.removeEndedTokens
-- $1 batch bigint
delete from "revoked_token"
where
  ("client_id", "token_id", "account_id") in (
    select
      "ended"."client_id",
      "ended"."token_id",
      "ended"."account_id"
    from
      "revoked_token" as "ended"
    where
      "ended"."expires_at" <= now()
    order by
      "ended"."expires_at"
    limit
      $1::bigint
    for update
      skip locked
  )
returning
  "token_id";

-- accounts.requireKeys
select distinct
  on (substring(sealed_private_key for 8)) 'a signing key' as what,
  sealed_private_key as sealed
from
  signing_key
union all
select
  *
from
  (
    select distinct
      on (substring(sealed_secret for 8)) 'a webhook secret',
      sealed_secret
    from
      webhook_secret
  ) as webhook;

-- accounts.revokeToken
-- $1 account_id bigint
-- $2 client_id text
-- $3 token_id uuid
-- $4 ends bigint
insert into
  "revoked_token" ("account_id", "client_id", "token_id", "expires_at")
values
  ($1::bigint, $2::text, $3::uuid, to_timestamp($4::bigint))
on conflict do nothing;

-- accounts.rotateClientSecret.end
-- $1 client_id text
select
  (
    select
      max(expires_at)
    from
      retired_client_secret as retired
    where
      retired.client_id = client.client_id
      and retired.account_id = client.account_id
      and expires_at > now()
  ) as "overlap_until"
from
  "client"
where
  "client_id" = $1::text;

-- accounts.rotateClientSecret.lock
-- $1 client_id text
select
  "client_id"
from
  "client"
where
  "client_id" = $1::text
for update;

-- accounts.rotateClientSecret.remove
-- $1 client_id text
-- $2 all boolean
delete from "retired_client_secret"
where
  "client_id" = $1::text
  and (
    "expires_at" <= now()
    or $2::boolean
  );

-- accounts.rotateClientSecret.retire
-- $1 overlap_seconds float8
-- $2 client_id text
insert into
  retired_client_secret (client_id, account_id, secret_hash, expires_at)
select
  client_id,
  account_id,
  secret_hash,
  now() + make_interval(secs => $1::float8)
from
  client
where
  client_id = $2::text;

-- accounts.rotateClientSecret.set
-- $1 secret_hash bytea
-- $2 ends_tokens boolean
-- $3 client_id text
update "client"
set
  "secret_hash" = $1::bytea,
  "token_generation" = token_generation + $2::boolean::int
where
  "client_id" = $3::text;

-- accounts.signingKeys.due
-- $1 days float8
select
  not exists (
    select
    from
      signing_key
    where
      extract(
        epoch
        from
          now() - created_at
      ) < $1::float8 * 86400
  ) as "is_old";

-- accounts.signingKeys.form
select
  names_keys_from <= now() as "names_keys"
from
  "sealing";

-- accounts.signingKeys.insert
-- $1 kid text
-- $2 public_jwk json
-- $3 sealed_private_key bytea
-- $4 delay boolean
-- $5 days float8
insert into
  signing_key (kid, public_jwk, sealed_private_key, signs_from)
select
  $1::text,
  $2::json,
  $3::bytea,
  clock_timestamp() + case
    when $4::boolean then interval '10 minutes'
    else interval '0'
  end
where
  not exists (
    select
    from
      signing_key
    where
      extract(
        epoch
        from
          now() - created_at
      ) < $5::float8 * 86400
  )
returning
  kid,
  signs_from;

-- accounts.signingKeys.lock
lock table signing_key in share row exclusive mode;

-- accounts.signingKeys.removeAll
delete from "signing_key";

-- accounts.signingKeys.removeOver
delete from signing_key as old
where
  exists (
    select
    from
      signing_key as next
    where
      coalesce(next.signs_from, next.created_at) > coalesce(old.signs_from, old.created_at)
      and coalesce(next.signs_from, next.created_at) < now() - interval '1 day'
  );

-- accounts.signingKeys.select
select
  kid,
  public_jwk,
  sealed_private_key,
  kid = first_value(kid) over (
    order by
      coalesce(signs_from, created_at) > now(),
      coalesce(signs_from, created_at) desc,
      kid
  ) as signs,
  (
    select
      names_keys_from <= now()
    from
      sealing
  ) as names_keys
from
  signing_key
order by
  created_at desc,
  kid;

-- accounts.updateClient
-- $1 scopes text[]
-- $2 changes_locations boolean
-- $3 location_ids bigint[]
-- $4 client_id text
update "client"
set
  "scopes" = coalesce($1::text[], scopes),
  "location_ids" = case
    when $2::boolean then $3::bigint[]
    else location_ids
  end
where
  "client_id" = $4::text
returning
  "client_id",
  "scopes",
  "location_ids" as "locations";

-- categories.createCategory
-- $1 menu_id bigint
-- $2 account_id bigint
-- $3 location_ids bigint[]
-- $4 name text
-- $5 description text
-- $6 external_id text
-- $7 hours jsonb
-- $8 sort_order integer
-- $9 request_id text
-- $10 stamp integer
with
  changed as (
    insert into
      "category" ("account_id", "location_id", "menu_id", "name", "description", "external_id", "hours", "sort_order")
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
      $7::jsonb,
      coalesce(
        $8::integer,
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
              "new"."hours" as "hours",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      null::json as "previous",
      "category"."category_id" as "id",
      '"' || "new"."version" || '-' || to_hex("new"."stamp") || '-' || (
        select
          md5(
            coalesce(
              string_agg(
                item.item_id || '"' || "item"."version" || '-' || to_hex("item"."stamp") || case
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1,
      stamp = $10::integer
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

-- categories.createCategory.count
-- $1 menu_id bigint
-- $2 account_id bigint
select
  (
    select
      count(*)
    from
      "category"
    where
      menu_id = $1::bigint
      and account_id = $2::bigint
  ) as "count";

-- categories.createCategory.withRoom
-- $1 menu_id bigint
-- $2 account_id bigint
-- $3 location_ids bigint[]
-- $4 name text
-- $5 description text
-- $6 external_id text
-- $7 hours jsonb
-- $8 sort_order integer
-- $9 request_id text
-- $10 stamp integer
with
  room as (
    select
      content_version,
      (
        select
          count(*)
        from
          "category"
        where
          menu_id = $1::bigint
          and account_id = $2::bigint
      ) as records
    from
      menu
    where
      menu_id = $1::bigint
      and account_id = $2::bigint
  ),
  changed as (
    insert into
      "category" ("account_id", "location_id", "menu_id", "name", "description", "external_id", "hours", "sort_order")
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
      $7::jsonb,
      coalesce(
        $8::integer,
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
              "new"."hours" as "hours",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      null::json as "previous",
      "category"."category_id" as "id",
      '"' || "new"."version" || '-' || to_hex("new"."stamp") || '-' || (
        select
          md5(
            coalesce(
              string_agg(
                item.item_id || '"' || "item"."version" || '-' || to_hex("item"."stamp") || case
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  touched as (
    update menu
    set
      content_version = case
        when (
          select
            records - content_version
          from
            room
        ) + content_version < 1000 then content_version + 1
      end,
      stamp = $10::integer
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
-- $7 stamp integer
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
                or '"' || "category"."version" || '-' || to_hex("category"."stamp") || '-' || (
                  select
                    md5(
                      coalesce(
                        string_agg(
                          item.item_id || '"' || "item"."version" || '-' || to_hex("item"."stamp") || case
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
              "old"."modifier_groups" as "modifier_groups",
              (
                "old"."is_available"
                or coalesce("old"."unavailable_until" <= now(), false)
              ) as "is_available",
              "old"."sort_order" as "sort_order",
              to_char("old"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "old"."external_id" as "external_id",
              "old"."hours" as "hours",
              to_char(
                case
                  when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char(
                case
                  when not (
                    "old"."is_available"
                    or coalesce("old"."unavailable_until" <= now(), false)
                  ) then "old"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "old"."is_available"
                  or coalesce("old"."unavailable_until" <= now(), false)
                ) then "old"."unavailable_by"
              end as "unavailable_by",
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
        or '"' || "category"."version" || '-' || to_hex("category"."stamp") || '-' || (
          select
            md5(
              coalesce(
                string_agg(
                  item.item_id || '"' || "item"."version" || '-' || to_hex("item"."stamp") || case
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
              "old"."hours" as "hours",
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1,
      stamp = $7::integer
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
  '"' || "category"."version" || '-' || to_hex("category"."stamp") || '-' || (
    select
      md5(
        coalesce(
          string_agg(
            item.item_id || '"' || "item"."version" || '-' || to_hex("item"."stamp") || case
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
          "category"."hours" as "hours",
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
                          "item"."modifier_groups" as "modifier_groups",
                          (
                            "item"."is_available"
                            or coalesce("item"."unavailable_until" <= now(), false)
                          ) as "is_available",
                          "item"."sort_order" as "sort_order",
                          to_char("item"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                          "item"."external_id" as "external_id",
                          "item"."hours" as "hours",
                          to_char(
                            case
                              when not coalesce("item"."unavailable_until" <= now(), false) then "item"."unavailable_until"
                            end at time zone 'UTC',
                            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                          ) as "unavailable_until",
                          to_char(
                            case
                              when not (
                                "item"."is_available"
                                or coalesce("item"."unavailable_until" <= now(), false)
                              ) then "item"."unavailable_since"
                            end at time zone 'UTC',
                            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                          ) as "unavailable_since",
                          case
                            when not (
                              "item"."is_available"
                              or coalesce("item"."unavailable_until" <= now(), false)
                            ) then "item"."unavailable_by"
                          end as "unavailable_by",
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
  '"' || "category"."version" || '-' || to_hex("category"."stamp") || '-' || (
    select
      md5(
        coalesce(
          string_agg(
            item.item_id || '"' || "item"."version" || '-' || to_hex("item"."stamp") || case
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
-- $5 updated_since timestamptz
-- $6 limit bigint
-- Conditions that are there when given: updated_since
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
          "category"."hours" as "hours",
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
  and updated_at >= $5::timestamptz
order by
  "category_id"
limit
  $6::bigint;

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
-- $6 hours jsonb
-- $7 stamp integer
-- $8 category_id bigint
-- $9 menu_id bigint
-- $10 account_id bigint
-- $11 location_ids bigint[]
-- $12 if_match text[]
-- $13 request_id text
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
      "hours" = case
        when 'hours' = any ($1::text[]) then $6::jsonb
        else "category"."hours"
      end,
      "version" = "category"."version" + 1,
      "stamp" = $7::integer,
      "updated_at" = clock_timestamp()
    where
      (
        (
          "category"."category_id" = $8::bigint
          and "category"."menu_id" = $9::bigint
        )
        and (
          "category"."account_id" = $10::bigint
          and (
            $11::bigint[] is null
            or "category"."location_id" = any ($11::bigint[])
          )
        )
      )
      and (
        $12::text[] is null
        or '"' || "category"."version" || '-' || to_hex("category"."stamp") || '-' || (
          select
            md5(
              coalesce(
                string_agg(
                  item.item_id || '"' || "item"."version" || '-' || to_hex("item"."stamp") || case
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
        ) || '"' = any ($12::text[])
      )
      and (
        "category"."name",
        "category"."description",
        "category"."sort_order",
        "category"."external_id",
        "category"."hours"
      ) is distinct from (
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
        end,
        case
          when 'hours' = any ($1::text[]) then $6::jsonb
          else "category"."hours"
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
              "new"."hours" as "hours",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      nullif(
        '{' || concat_ws(
          ',',
          case
            when ("old"."category_id")::text is distinct from ("new"."category_id")::text then '"category_id":' || coalesce(to_json("old"."category_id")::text, 'null')
          end,
          case
            when ("old"."menu_id")::text is distinct from ("new"."menu_id")::text then '"menu_id":' || coalesce(to_json("old"."menu_id")::text, 'null')
          end,
          case
            when ("old"."name")::text is distinct from ("new"."name")::text then '"name":' || coalesce(to_json("old"."name")::text, 'null')
          end,
          case
            when ("old"."description")::text is distinct from ("new"."description")::text then '"description":' || coalesce(to_json("old"."description")::text, 'null')
          end,
          case
            when ("old"."sort_order")::text is distinct from ("new"."sort_order")::text then '"sort_order":' || coalesce(to_json("old"."sort_order")::text, 'null')
          end,
          case
            when ("old"."external_id")::text is distinct from ("new"."external_id")::text then '"external_id":' || coalesce(to_json("old"."external_id")::text, 'null')
          end,
          case
            when ("old"."hours")::text is distinct from ("new"."hours")::text then '"hours":' || coalesce(to_json("old"."hours")::text, 'null')
          end
        ) || '}',
        '{}'
      )::json as "previous",
      '"' || "new"."version" || '-' || to_hex("new"."stamp") || '-' || (
        select
          md5(
            coalesce(
              string_agg(
                item.item_id || '"' || "item"."version" || '-' || to_hex("item"."stamp") || case
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
              $13::text as "request_id"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1,
      stamp = $7::integer
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
-- $6 hours jsonb
-- $7 category_id bigint
-- $8 menu_id bigint
-- $9 account_id bigint
-- $10 location_ids bigint[]
select
  '"' || "category"."version" || '-' || to_hex("category"."stamp") || '-' || (
    select
      md5(
        coalesce(
          string_agg(
            item.item_id || '"' || "item"."version" || '-' || to_hex("item"."stamp") || case
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
          "category"."hours" as "hours",
          to_char("category"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
          to_char("category"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
          "category"."version" as "version"
      ) as fields
  ) as "resource",
  (
    "category"."name",
    "category"."description",
    "category"."sort_order",
    "category"."external_id",
    "category"."hours"
  ) is distinct from (
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
    end,
    case
      when 'hours' = any ($1::text[]) then $6::jsonb
      else "category"."hours"
    end
  ) as "differs",
  null as "refused"
from
  "category"
where
  (
    (
      "category"."category_id" = $7::bigint
      and "category"."menu_id" = $8::bigint
    )
    and (
      "category"."account_id" = $9::bigint
      and (
        $10::bigint[] is null
        or "category"."location_id" = any ($10::bigint[])
      )
    )
  );

-- db.daysToDrop
-- $1 days integer
select
  max(until)::text as until
from
  (
    values
      ('feed'::regclass),
      ('event')
  ) as parent (name),
  partitions_of (name)
where
  until <= least(
    now() - make_interval(days => $1::integer),
    (
      select
        uuid_extract_timestamp(event_id)
      from
        outbox
      order by
        event_id
      limit
        1
    )
  );

-- db.dropDeliveryLog
-- $1 days integer
select
  drop_partitions ('delivery_log', now() - make_interval(days => $1::integer));

-- db.dropNotedEvents
-- $1 until timestamptz
select
  drop_noted_events ($1::timestamptz);

-- db.keepPartitions
-- $1 table regclass
-- $2 days_ahead integer
select
  keep_partitions ($1::regclass, $2::integer) as more;

-- db.noteDroppedEvents
-- $1 after bigint
-- $2 until timestamptz
with
  own as materialized (
    select
      account_id
    from
      account_feed
    where
      account_id > $1::bigint
    order by
      account_id
    limit
      500
    for no key update
  ),
  dropped as materialized (
    select
      own.account_id,
      last.*
    from
      own
      cross join lateral (
        select
          epoch,
          position,
          event_id
        from
          feed
        where
          feed.account_id = own.account_id
          and event_id < event_id_at ($2::timestamptz)
        order by
          epoch desc,
          position desc
        limit
          1
      ) as last
  ),
  noted as (
    update account_feed
    set
      removed_epoch = dropped.epoch,
      removed_position = dropped.position,
      removed_event_id = dropped.event_id
    from
      dropped
    where
      account_feed.account_id = dropped.account_id
      and coalesce((dropped.epoch, dropped.position) > (removed_epoch, removed_position), true)
  )
select
  max(account_id) as last
from
  own;

-- events.beginEpoch
insert into
  epoch (epoch, server, inherited)
select
  greatest(
    floor(
      extract(
        epoch
        from
          clock_timestamp()
      ) * 1000
    )::bigint,
    last.epoch + 1
  ),
  server_history (),
  case
    when last.epoch > 0 then (
      select
        event_id
      from
        outbox
      order by
        event_id desc
      limit
        1
    )
  end
from
  (
    select
      epoch
    from
      epoch
    order by
      epoch desc
    limit
      1
  ) as last
returning
  epoch;

-- events.enterFeed
-- $1 sequences bigint[]
-- $2 account_ids bigint[]
-- $3 epoch bigint
-- $4 first_id uuid
-- $5 last_id uuid
with
  taken as (
    delete from outbox using unnest($1::bigint[], $2::bigint[]) as chosen (sequence, account_id)
    where
      outbox.sequence = chosen.sequence
      and outbox.account_id = chosen.account_id
    returning
      outbox.sequence,
      outbox.account_id,
      outbox.event_id
  ),
  numbered as (
    select
      *,
      row_number() over (
        partition by
          account_id
        order by
          sequence desc
      ) - 1 as behind
    from
      taken
  ),
  ended as (
    insert into
      account_feed (account_id, epoch, position, event_id)
    select
      account_id,
      $3::bigint,
      count(*),
      (
        array_agg(
          event_id
          order by
            sequence desc
        )
      ) [1]
    from
      taken
    group by
      account_id
    order by
      account_id
    on conflict (account_id) do update
    set
      epoch = excluded.epoch,
      position = account_feed.position + excluded.position,
      event_id = excluded.event_id
    returning
      account_id,
      position
  )
insert into
  feed (account_id, epoch, position, event_id, type, record, location_id, menu_id)
select
  account_id,
  $3::bigint,
  ended.position - behind,
  event_id,
  type,
  record,
  location_id,
  menu_id
from
  numbered
  join ended using (account_id)
  join event using (event_id, account_id)
where
  event.event_id between $4::uuid and $5::uuid
order by
  sequence;

-- events.epoch
select
  "epoch",
  server = server_history () as "continues"
from
  "epoch"
order by
  "epoch" desc
limit
  1;

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
  case
    when "event"."type" like 'item.%'
    and "event"."payload"::text not like '%"unavailable_by":%' then jsonb_set(
      "event"."payload"::jsonb,
      '{data}',
      '{"modifier_groups":[],"hours":null,"unavailable_since":null,"unavailable_by":null}'::jsonb || ("event"."payload"::jsonb -> 'data')
    )::json
    when "event"."type" like 'modifier.%'
    and "event"."payload"::text not like '%"unavailable_by":%' then jsonb_set(
      "event"."payload"::jsonb,
      '{data}',
      '{"unavailable_since":null,"unavailable_by":null}'::jsonb || ("event"."payload"::jsonb -> 'data')
    )::json
    when "event"."type" ~ '^(location|menu|category)[.]'
    and "event"."payload"::text not like '%"hours":%' then jsonb_set("event"."payload"::jsonb, '{data}', '{"hours":null}'::jsonb || ("event"."payload"::jsonb -> 'data'))::json
    else "event"."payload"
  end as "resource"
from
  "event"
where
  "event_id" = $3::uuid;

-- events.listEvents
-- $1 account_id bigint
-- $2 menu_id bigint
-- $3 epoch bigint
-- $4 position bigint
-- $5 location_id bigint
-- $6 type text[]
-- $7 granted bigint[]
-- $8 limit bigint
-- Conditions that are there when given: menu_id, location_id, type, granted
with
  examined as (
    select
      *
    from
      (
        select
          epoch,
          position,
          event_id,
          type,
          location_id,
          menu_id
        from
          feed
        where
          account_id = $1::bigint
          and menu_id = $2::bigint
          and position > coalesce(
            (
              select
                seen.position
              from
                feed as seen
              where
                seen.account_id = $1::bigint
                and (seen.epoch, seen.position) <= ($3::bigint, $4::bigint)
              order by
                seen.epoch desc,
                seen.position desc
              limit
                1
            ),
            0
          )
        order by
          position
        limit
          5000
      ) as stream
    order by
      epoch,
      position
    limit
      5000
  ),
  listed as (
    select
      epoch,
      position,
      event_id
    from
      examined
    where
      true
      and location_id = $5::bigint
      and type = any ($6::text[])
      and location_id = any ($7::bigint[])
    order by
      epoch,
      position
    limit
      $8::bigint
  )
select
  epoch,
  position,
  event_id,
  false as is_cut,
  false as is_end
from
  listed
union all
select
  coalesce(last.epoch, feed_end.epoch, 0),
  coalesce(last.position, feed_end.position, 0),
  coalesce(last.event_id, feed_end.event_id),
  is_cut,
  true
from
  (
    select
      count(*) = 5000 as is_cut
    from
      examined
  ) as examination
  left join (
    select
      *
    from
      examined
    order by
      epoch desc,
      position desc
    limit
      1
  ) as last on is_cut
  left join account_feed as feed_end on not is_cut
  and feed_end.account_id = $1::bigint
order by
  is_end,
  epoch,
  position;

-- events.listEvents.payloads
-- $1 event_ids uuid[]
-- $2 account_id bigint
-- $3 first_id uuid
-- $4 last_id uuid
select
  case
    when "event"."type" like 'item.%'
    and "event"."payload"::text not like '%"unavailable_by":%' then jsonb_set(
      "event"."payload"::jsonb,
      '{data}',
      '{"modifier_groups":[],"hours":null,"unavailable_since":null,"unavailable_by":null}'::jsonb || ("event"."payload"::jsonb -> 'data')
    )::json
    when "event"."type" like 'modifier.%'
    and "event"."payload"::text not like '%"unavailable_by":%' then jsonb_set(
      "event"."payload"::jsonb,
      '{data}',
      '{"unavailable_since":null,"unavailable_by":null}'::jsonb || ("event"."payload"::jsonb -> 'data')
    )::json
    when "event"."type" ~ '^(location|menu|category)[.]'
    and "event"."payload"::text not like '%"hours":%' then jsonb_set("event"."payload"::jsonb, '{data}', '{"hours":null}'::jsonb || ("event"."payload"::jsonb -> 'data'))::json
    else "event"."payload"
  end as resource
from
  unnest($1::uuid[]) with ordinality as listed (event_id, place)
  join event using (event_id)
where
  event.account_id = $2::bigint
  and event.event_id between $3::uuid and $4::uuid
order by
  place;

-- events.positionOfCursor
-- $1 epoch bigint
-- $2 position bigint
-- $3 event_id uuid
-- $4 account_id bigint
select
  coalesce(($1::bigint, $2::bigint) < (removed_epoch, removed_position), false) as is_removed,
  coalesce(
    feed.event_id,
    case
      when ($1::bigint, $2::bigint) = (removed_epoch, removed_position) then removed_event_id
    end
  ) is not distinct from $3::uuid as is_ours,
  coalesce(removed_event_id > $3::uuid, false) as is_newer_removed,
  case
    when feed.event_id is null then exists (
      select
      from
        epoch
      where
        epoch = $1::bigint
    )
    and coalesce(
      (
        select
          event_id
        from
          feed
        where
          account_id = own.account_id
          and epoch = $1::bigint
        order by
          position desc
        limit
          1
      ) < $3::uuid,
      true
    )
    and (
      select
        epoch > $1::bigint
        or server is distinct from server_history ()
      from
        epoch
      order by
        epoch desc
      limit
        1
    )
    else false
  end as is_past
from
  (
    values
      ($4::bigint)
  ) as own (account_id)
  left join account_feed using (account_id)
  left join feed on feed.account_id = own.account_id
  and (feed.epoch, feed.position) = ($1::bigint, $2::bigint);

-- events.positionOfEvent
-- $1 account_id bigint
-- $2 location_ids bigint[]
-- $3 event_id uuid
select
  coalesce(
    (
      "event"."account_id" = $1::bigint
      and (
        $2::bigint[] is null
        or "event"."location_id" = any ($2::bigint[])
      )
    ),
    false
  ) as within_reach,
  feed.epoch,
  feed.position,
  coalesce(
    (
      select
        feed.event_id <= inherited
      from
        epoch
      where
        epoch.epoch = feed.epoch
    ),
    false
  ) as is_inherited,
  coalesce((feed.epoch, feed.position) < (removed_epoch, removed_position), false) as is_removed,
  event.event_id is null
  and $3::uuid >= event_id_at (account.created_at)
  and coalesce($3::uuid >= removed_event_id, true) as is_missing
from
  account
  left join account_feed using (account_id)
  left join event on event.event_id = $3::uuid
  left join feed on feed.event_id = $3::uuid
  and feed.event_id = event.event_id
  and feed.account_id = event.account_id
where
  account.account_id = $1::bigint;

-- idempotency.count
-- $1 client_id text
select
  count(*) as "keys",
  coalesce(sum(bytes), 0) as "bytes",
  extract(
    epoch
    from
      min(created_at) + interval '24 hours' - now()
  ) as "oldest_ends_in"
from
  "idempotency_key"
where
  "client_id" = $1::text
  and "created_at" > now() - interval '24 hours';

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
  "idempotency_key" ("client_id", "account_id", "path", "key", "body_hash", "sealed_answer", "bytes")
values
  ($1::text, $2::bigint, $3::text, $4::text, $5::bytea, $6::bytea, octet_length($6::bytea))
on conflict ("client_id", "path", "key", "account_id") do update
set
  "body_hash" = "excluded"."body_hash",
  "sealed_answer" = "excluded"."sealed_answer",
  "bytes" = "excluded"."bytes",
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
-- $14 hours jsonb
-- $15 unavailable_since timestamptz
-- $16 unavailable_by text
-- $17 sort_order integer
-- $18 request_id text
-- $19 stamp integer
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
        "hours",
        "unavailable_since",
        "unavailable_by",
        "searchable",
        "searchable_of",
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
      ),
      terms as materialized (
        select
          currency,
          case
            when "currency" = any ('{BIF,CLP,DJF,GNF,ISK,JPY,KMF,KRW,PYG,RWF,UGX,VND,VUV,XAF,XOF,XPF}') then 0
            when "currency" = any ('{BHD,IQD,JOD,KWD,LYD,OMR,TND}') then 3
            else 2
          end as decimals
        from
          location
        where
          (location_id, account_id) = (
            select
              location_id,
              account_id
            from
              home
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
      round($7::numeric, terms.decimals),
      $8::text,
      $9::text[],
      $10::text[],
      $11::boolean,
      $12::timestamptz,
      $13::text,
      $14::jsonb,
      $15::timestamptz,
      $16::text,
      search_text ($5::text) || e'\n' || search_text ($6::text),
      hashtextextended ($5::text || e'\n' || $6::text, 0),
      coalesce(
        $17::integer,
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
      cross join terms
    where
      scale(trim_scale($7::numeric)) <= "terms"."decimals"
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
              "new"."modifier_groups" as "modifier_groups",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              "new"."sort_order" as "sort_order",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "new"."external_id" as "external_id",
              "new"."hours" as "hours",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char(
                case
                  when not (
                    "new"."is_available"
                    or coalesce("new"."unavailable_until" <= now(), false)
                  ) then "new"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "new"."is_available"
                  or coalesce("new"."unavailable_until" <= now(), false)
                ) then "new"."unavailable_by"
              end as "unavailable_by",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      null::json as "previous",
      "item"."item_id" as "id",
      '"' || "new"."version" || '-' || to_hex("new"."stamp") || case
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1,
      stamp = $19::integer
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

-- items.createItem.count
-- $1 menu_id bigint
-- $2 account_id bigint
select
  (
    select
      count(*)
    from
      "item"
    where
      menu_id = $1::bigint
      and account_id = $2::bigint
  ) as "count";

-- items.createItem.currency
-- $1 price numeric
-- $2 category_id bigint
-- $3 menu_id bigint
-- $4 account_id bigint
-- $5 location_ids bigint[]
select
  currency,
  not scale(trim_scale($1::numeric)) <= case
    when "currency" = any ('{BIF,CLP,DJF,GNF,ISK,JPY,KMF,KRW,PYG,RWF,UGX,VND,VUV,XAF,XOF,XPF}') then 0
    when "currency" = any ('{BHD,IQD,JOD,KWD,LYD,OMR,TND}') then 3
    else 2
  end as is_too_precise
from
  location
  join category using (location_id, account_id)
where
  (
    (
      "category"."category_id" = $2::bigint
      and "category"."menu_id" = $3::bigint
    )
    and (
      "category"."account_id" = $4::bigint
      and (
        $5::bigint[] is null
        or "category"."location_id" = any ($5::bigint[])
      )
    )
  );

-- items.createItem.withRoom
-- $1 menu_id bigint
-- $2 account_id bigint
-- $3 category_id bigint
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
-- $14 hours jsonb
-- $15 unavailable_since timestamptz
-- $16 unavailable_by text
-- $17 sort_order integer
-- $18 request_id text
-- $19 stamp integer
with
  room as (
    select
      content_version,
      (
        select
          count(*)
        from
          "item"
        where
          menu_id = $1::bigint
          and account_id = $2::bigint
      ) as records
    from
      menu
    where
      menu_id = $1::bigint
      and account_id = $2::bigint
  ),
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
        "hours",
        "unavailable_since",
        "unavailable_by",
        "searchable",
        "searchable_of",
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
              "category"."category_id" = $3::bigint
              and "category"."menu_id" = $1::bigint
            )
            and (
              "category"."account_id" = $2::bigint
              and (
                $4::bigint[] is null
                or "category"."location_id" = any ($4::bigint[])
              )
            )
          )
        for key share
      ),
      terms as materialized (
        select
          currency,
          case
            when "currency" = any ('{BIF,CLP,DJF,GNF,ISK,JPY,KMF,KRW,PYG,RWF,UGX,VND,VUV,XAF,XOF,XPF}') then 0
            when "currency" = any ('{BHD,IQD,JOD,KWD,LYD,OMR,TND}') then 3
            else 2
          end as decimals
        from
          location
        where
          (location_id, account_id) = (
            select
              location_id,
              account_id
            from
              home
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
      round($7::numeric, terms.decimals),
      $8::text,
      $9::text[],
      $10::text[],
      $11::boolean,
      $12::timestamptz,
      $13::text,
      $14::jsonb,
      $15::timestamptz,
      $16::text,
      search_text ($5::text) || e'\n' || search_text ($6::text),
      hashtextextended ($5::text || e'\n' || $6::text, 0),
      coalesce(
        $17::integer,
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
      cross join terms
    where
      scale(trim_scale($7::numeric)) <= "terms"."decimals"
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
              "new"."modifier_groups" as "modifier_groups",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              "new"."sort_order" as "sort_order",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "new"."external_id" as "external_id",
              "new"."hours" as "hours",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char(
                case
                  when not (
                    "new"."is_available"
                    or coalesce("new"."unavailable_until" <= now(), false)
                  ) then "new"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "new"."is_available"
                  or coalesce("new"."unavailable_until" <= now(), false)
                ) then "new"."unavailable_by"
              end as "unavailable_by",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      null::json as "previous",
      "item"."item_id" as "id",
      '"' || "new"."version" || '-' || to_hex("new"."stamp") || case
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  touched as (
    update menu
    set
      content_version = case
        when (
          select
            records - content_version
          from
            room
        ) + content_version < 10000 then content_version + 1
      end,
      stamp = $19::integer
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
-- $7 stamp integer
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
        or '"' || "item"."version" || '-' || to_hex("item"."stamp") || case
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
              "old"."modifier_groups" as "modifier_groups",
              (
                "old"."is_available"
                or coalesce("old"."unavailable_until" <= now(), false)
              ) as "is_available",
              "old"."sort_order" as "sort_order",
              to_char("old"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "old"."external_id" as "external_id",
              "old"."hours" as "hours",
              to_char(
                case
                  when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char(
                case
                  when not (
                    "old"."is_available"
                    or coalesce("old"."unavailable_until" <= now(), false)
                  ) then "old"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "old"."is_available"
                  or coalesce("old"."unavailable_until" <= now(), false)
                ) then "old"."unavailable_by"
              end as "unavailable_by",
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1,
      stamp = $7::integer
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
  '"' || "item"."version" || '-' || to_hex("item"."stamp") || case
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
          "item"."modifier_groups" as "modifier_groups",
          (
            "item"."is_available"
            or coalesce("item"."unavailable_until" <= now(), false)
          ) as "is_available",
          "item"."sort_order" as "sort_order",
          to_char("item"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
          "item"."external_id" as "external_id",
          "item"."hours" as "hours",
          to_char(
            case
              when not coalesce("item"."unavailable_until" <= now(), false) then "item"."unavailable_until"
            end at time zone 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
          ) as "unavailable_until",
          to_char(
            case
              when not (
                "item"."is_available"
                or coalesce("item"."unavailable_until" <= now(), false)
              ) then "item"."unavailable_since"
            end at time zone 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
          ) as "unavailable_since",
          case
            when not (
              "item"."is_available"
              or coalesce("item"."unavailable_until" <= now(), false)
            ) then "item"."unavailable_by"
          end as "unavailable_by",
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

-- items.getItem.several
-- $1 ids bigint[]
-- $2 account_id bigint
-- $3 location_ids bigint[]
select
  found.*
from
  unnest(
    (
      select
        $1::bigint[]
    )::bigint[]
  ) as wanted (id)
  cross join lateral (
    select
      (
        "item"."account_id" = $2::bigint
        and (
          $3::bigint[] is null
          or "item"."location_id" = any ($3::bigint[])
        )
      ) as "within_reach",
      '"' || "item"."version" || '-' || to_hex("item"."stamp") || case
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
              "item"."modifier_groups" as "modifier_groups",
              (
                "item"."is_available"
                or coalesce("item"."unavailable_until" <= now(), false)
              ) as "is_available",
              "item"."sort_order" as "sort_order",
              to_char("item"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "item"."external_id" as "external_id",
              "item"."hours" as "hours",
              to_char(
                case
                  when not coalesce("item"."unavailable_until" <= now(), false) then "item"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char(
                case
                  when not (
                    "item"."is_available"
                    or coalesce("item"."unavailable_until" <= now(), false)
                  ) then "item"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "item"."is_available"
                  or coalesce("item"."unavailable_until" <= now(), false)
                ) then "item"."unavailable_by"
              end as "unavailable_by",
              to_char("item"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "item"."version" as "version"
          ) as fields
      ) as "resource",
      "item"."item_id",
      "item"."menu_id"
    from
      "item"
    where
      "item"."item_id" = wanted.id
    limit
      1
  ) as found;

-- items.getItemById
-- $1 account_id bigint
-- $2 location_ids bigint[]
-- $3 item_id bigint
select
  (
    "item"."account_id" = $1::bigint
    and (
      $2::bigint[] is null
      or "item"."location_id" = any ($2::bigint[])
    )
  ) as "within_reach",
  '"' || "item"."version" || '-' || to_hex("item"."stamp") || case
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
          "item"."modifier_groups" as "modifier_groups",
          (
            "item"."is_available"
            or coalesce("item"."unavailable_until" <= now(), false)
          ) as "is_available",
          "item"."sort_order" as "sort_order",
          to_char("item"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
          "item"."external_id" as "external_id",
          "item"."hours" as "hours",
          to_char(
            case
              when not coalesce("item"."unavailable_until" <= now(), false) then "item"."unavailable_until"
            end at time zone 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
          ) as "unavailable_until",
          to_char(
            case
              when not (
                "item"."is_available"
                or coalesce("item"."unavailable_until" <= now(), false)
              ) then "item"."unavailable_since"
            end at time zone 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
          ) as "unavailable_since",
          case
            when not (
              "item"."is_available"
              or coalesce("item"."unavailable_until" <= now(), false)
            ) then "item"."unavailable_by"
          end as "unavailable_by",
          to_char("item"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
          "item"."version" as "version"
      ) as fields
  ) as "resource"
from
  "item"
where
  ("item"."item_id" = $3::bigint);

-- items.getItemById.several
-- $1 ids bigint[]
-- $2 account_id bigint
-- $3 location_ids bigint[]
select
  found.*
from
  unnest(
    (
      select
        $1::bigint[]
    )::bigint[]
  ) as wanted (id)
  cross join lateral (
    select
      (
        "item"."account_id" = $2::bigint
        and (
          $3::bigint[] is null
          or "item"."location_id" = any ($3::bigint[])
        )
      ) as "within_reach",
      '"' || "item"."version" || '-' || to_hex("item"."stamp") || case
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
              "item"."modifier_groups" as "modifier_groups",
              (
                "item"."is_available"
                or coalesce("item"."unavailable_until" <= now(), false)
              ) as "is_available",
              "item"."sort_order" as "sort_order",
              to_char("item"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "item"."external_id" as "external_id",
              "item"."hours" as "hours",
              to_char(
                case
                  when not coalesce("item"."unavailable_until" <= now(), false) then "item"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char(
                case
                  when not (
                    "item"."is_available"
                    or coalesce("item"."unavailable_until" <= now(), false)
                  ) then "item"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "item"."is_available"
                  or coalesce("item"."unavailable_until" <= now(), false)
                ) then "item"."unavailable_by"
              end as "unavailable_by",
              to_char("item"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "item"."version" as "version"
          ) as fields
      ) as "resource",
      "item"."item_id"
    from
      "item"
    where
      "item"."item_id" = wanted.id
    limit
      1
  ) as found;

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
          "item"."modifier_groups" as "modifier_groups",
          (
            "item"."is_available"
            or coalesce("item"."unavailable_until" <= now(), false)
          ) as "is_available",
          "item"."sort_order" as "sort_order",
          to_char("item"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
          "item"."external_id" as "external_id",
          "item"."hours" as "hours",
          to_char(
            case
              when not coalesce("item"."unavailable_until" <= now(), false) then "item"."unavailable_until"
            end at time zone 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
          ) as "unavailable_until",
          to_char(
            case
              when not (
                "item"."is_available"
                or coalesce("item"."unavailable_until" <= now(), false)
              ) then "item"."unavailable_since"
            end at time zone 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
          ) as "unavailable_since",
          case
            when not (
              "item"."is_available"
              or coalesce("item"."unavailable_until" <= now(), false)
            ) then "item"."unavailable_by"
          end as "unavailable_by",
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
      and searchable_text (searchable, searchable_of, name, description) like '%' || regexp_replace(search_text ($11::text), '([\\%_])', '\\\1', 'g') || '%'
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

-- items.restore.hours
-- $1 new_category_id bigint
-- $2 item_id bigint
-- $3 menu_id bigint
-- $4 account_id bigint
-- $5 location_ids bigint[]
select
  item.item_id,
  item.external_id,
  (
    select
      "location"."timezone"
    from
      "location"
    where
      "location"."location_id" = "item"."location_id"
      and "location"."account_id" = item.account_id
  ) as timezone,
  json_build_array(
    (
      select
        "location"."hours"
      from
        "location"
      where
        "location"."location_id" = "item"."location_id"
        and "location"."account_id" = item.account_id
    ),
    (
      select
        "menu"."hours"
      from
        "menu"
      where
        "menu"."menu_id" = "item"."menu_id"
        and "menu"."account_id" = item.account_id
    ),
    (
      select
        category.hours
      from
        category
      where
        category.category_id = coalesce($1::bigint, item.category_id)
        and category.menu_id = item.menu_id
        and category.account_id = item.account_id
    ),
    item.hours
  ) as levels,
  floor(
    extract(
      epoch
      from
        now()
    ) * 1000
  ) as now
from
  item
where
  (
    (
      "item"."item_id" = $2::bigint
      and "item"."menu_id" = $3::bigint
    )
    and (
      "item"."account_id" = $4::bigint
      and (
        $5::bigint[] is null
        or "item"."location_id" = any ($5::bigint[])
      )
    )
  )
limit
  1001;

-- items.restoreDueItems
-- $1 stamp integer
-- $2 request_id text
with
  changed as (
    update "item"
    set
      is_available = true,
      unavailable_until = null,
      unavailable_since = null,
      unavailable_by = null,
      version = "item".version + 1,
      stamp = $1::integer,
      updated_at = clock_timestamp()
    where
      (
        select
          pg_try_advisory_xact_lock(hashtextextended ('restore items', 0))
      )
      and ("item_id", account_id) in (
        select
          due."item_id",
          due.account_id
        from
          "item" as due
        where
          due.unavailable_until <= now()
          and not exists (
            select
            from
              account_move
            where
              account_move.account_id = "due"."account_id"
          )
        order by
          due."item_id"
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
              "new"."modifier_groups" as "modifier_groups",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              "new"."sort_order" as "sort_order",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "new"."external_id" as "external_id",
              "new"."hours" as "hours",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char(
                case
                  when not (
                    "new"."is_available"
                    or coalesce("new"."unavailable_until" <= now(), false)
                  ) then "new"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "new"."is_available"
                  or coalesce("new"."unavailable_until" <= now(), false)
                ) then "new"."unavailable_by"
              end as "unavailable_by",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      nullif(
        '{' || concat_ws(
          ',',
          case
            when (
              case
                when new.is_available then old.is_available
                else (
                  "old"."is_available"
                  or coalesce("old"."unavailable_until" <= now(), false)
                )
              end
            )::text is distinct from ("new"."is_available")::text then '"is_available":' || coalesce(
              to_json(
                case
                  when new.is_available then old.is_available
                  else (
                    "old"."is_available"
                    or coalesce("old"."unavailable_until" <= now(), false)
                  )
                end
              )::text,
              'null'
            )
          end,
          case
            when (
              to_char(
                case
                  when new.is_available then old.unavailable_until
                  else case
                    when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                  end
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              )
            )::text is distinct from (to_char("new"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text then '"unavailable_until":' || coalesce(
              to_json(
                to_char(
                  case
                    when new.is_available then old.unavailable_until
                    else case
                      when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                    end
                  end at time zone 'UTC',
                  'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                )
              )::text,
              'null'
            )
          end
        ) || '}',
        '{}'
      )::json as "previous"
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
              $2::text as "request_id"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  locked_menus as (
    select
      menu_id,
      account_id
    from
      menu
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
    order by
      menu_id
    for no key update
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1,
      stamp = $1::integer
    where
      menu_id = any (
        array(
          select
            menu_id
          from
            locked_menus
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            locked_menus
        )
      )
  )
select
  "record"
from
  changed;

-- items.searchItems
-- $1 account_id bigint
-- $2 after bigint
-- $3 item_id bigint[]
-- $4 external_id text[]
-- $5 location_id bigint
-- $6 is_available boolean
-- $7 q text
-- $8 granted bigint[]
-- $9 limit bigint
-- Conditions that are there when given: item_id, external_id, location_id, is_available, q, granted
select
  item_id as id,
  false as is_end,
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
          "item"."modifier_groups" as "modifier_groups",
          (
            "item"."is_available"
            or coalesce("item"."unavailable_until" <= now(), false)
          ) as "is_available",
          "item"."sort_order" as "sort_order",
          to_char("item"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
          "item"."external_id" as "external_id",
          "item"."hours" as "hours",
          to_char(
            case
              when not coalesce("item"."unavailable_until" <= now(), false) then "item"."unavailable_until"
            end at time zone 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
          ) as "unavailable_until",
          to_char(
            case
              when not (
                "item"."is_available"
                or coalesce("item"."unavailable_until" <= now(), false)
              ) then "item"."unavailable_since"
            end at time zone 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
          ) as "unavailable_since",
          case
            when not (
              "item"."is_available"
              or coalesce("item"."unavailable_until" <= now(), false)
            ) then "item"."unavailable_by"
          end as "unavailable_by",
          to_char("item"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
          "item"."version" as "version"
      ) as fields
  ) as resource
from
  item
where
  item.account_id = $1::bigint
  and item_id > $2::bigint
  and item_id = any ($3::bigint[])
  and external_id = any ($4::text[])
  and location_id = $5::bigint
  and (
    "item"."is_available"
    or coalesce("item"."unavailable_until" <= now(), false)
  ) = $6::boolean
  and (
    search_text (name || ' ' || description) like '%' || regexp_replace(search_text ($7::text), '([\\%_])', '\\\1', 'g') || '%'
    and searchable_text (searchable, searchable_of, name, description) like '%' || regexp_replace(search_text ($7::text), '([\\%_])', '\\\1', 'g') || '%'
  )
  and location_id = any ($8::bigint[])
order by
  item_id
limit
  $9::bigint;

-- items.setAvailabilities
-- $1 calls json
-- $2 account_id bigint
-- $3 menu_ids bigint[]
-- $4 location_ids bigint[]
-- $5 stamp integer
with
  wanted as (
    select
      *
    from
      json_to_recordset($1::json) as wanted (
        call integer,
        rows integer,
        place integer,
        menu_id bigint,
        id bigint,
        external_id text,
        wants_available boolean,
        wanted_until timestamptz,
        has_plan boolean,
        client_id text,
        stamp integer,
        request_id text
      )
  ),
  -- One look-up for each, whatever the planner thinks of their number.
  named as materialized (
    select
    call,
    place,
    coalesce(
      id,
      (
        select
          item_id
        from
          item
        where
          item.menu_id = wanted.menu_id
          and item.external_id = wanted.external_id
          and account_id = $2::bigint
      )
    ) as item_id
    from
      wanted
  ),
  locked_menus as materialized (
    select
      menu_id
    from
      menu
    where
      menu_id = any ($3::bigint[])
      and (
        "menu"."account_id" = $2::bigint
        and (
          $4::bigint[] is null
          or "menu"."location_id" = any ($4::bigint[])
        )
      )
    order by
      menu_id
    for no key update
      skip locked
  ),
  locked as materialized (
    select
      *
    from
      item
    where
      item_id = any (
        array(
          select
            item_id
          from
            named
        )
      )
      and menu_id = any (
        array(
          select
            menu_id
          from
            locked_menus
        )
      )
      and (
        "item"."account_id" = $2::bigint
        and (
          $4::bigint[] is null
          or "item"."location_id" = any ($4::bigint[])
        )
      )
    order by
      item_id
    for no key update
      skip locked
  ),
  turns as (
    select
      wanted.*,
      item_id,
      account_id,
      locked.external_id as known_id,
      is_available,
      unavailable_until,
      row_number() over (
        partition by
          item_id
        order by
        call,
        place
      ) as turn
    from
      wanted
      join named using (
        call,
        place
      )
      join locked using (item_id, menu_id)
    where
      wanted.external_id is null
      or locked.external_id = wanted.external_id
  ),
  matched as (
    select
      *,
      count(*) over (
        partition by
        call
      ) = rows
      and max(turn) over (
        partition by
        call
      ) = 1 as is_whole
    from
      turns
  ),
  found as materialized (
    select
    call,
    place,
    item_id as id,
    account_id,
    known_id as external_id,
    becomes_available,
    returns_at,
    differs,
    client_id,
    stamp,
    request_id,
    case
      when not differs then (
        select
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
                  "locked"."modifier_groups" as "modifier_groups",
                  (
                    "locked"."is_available"
                    or coalesce("locked"."unavailable_until" <= now(), false)
                  ) as "is_available",
                  "locked"."sort_order" as "sort_order",
                  to_char("locked"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                  "locked"."external_id" as "external_id",
                  "locked"."hours" as "hours",
                  to_char(
                    case
                      when not coalesce("locked"."unavailable_until" <= now(), false) then "locked"."unavailable_until"
                    end at time zone 'UTC',
                    'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                  ) as "unavailable_until",
                  to_char(
                    case
                      when not (
                        "locked"."is_available"
                        or coalesce("locked"."unavailable_until" <= now(), false)
                      ) then "locked"."unavailable_since"
                    end at time zone 'UTC',
                    'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                  ) as "unavailable_since",
                  case
                    when not (
                      "locked"."is_available"
                      or coalesce("locked"."unavailable_until" <= now(), false)
                    ) then "locked"."unavailable_by"
                  end as "unavailable_by",
                  to_char("locked"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                  "locked"."version" as "version"
              ) as fields
          )
        from
          locked
        where
          locked.item_id = matched.item_id
      )
    end as resource
    from
      matched
      cross join lateral (
        select
          case
            when wants_available then null
            when has_plan then wanted_until
            else case
              when not coalesce("matched"."unavailable_until" <= now(), false) then "matched"."unavailable_until"
            end
          end as wanted_return
      ) as plan
      cross join lateral (
        select
          wants_available
          or coalesce(wanted_return <= now(), false) as becomes_available,
          case
            when wanted_return > now() then wanted_return
          end as returns_at
      ) as ending
      cross join lateral (
        select
          (becomes_available, returns_at) is distinct from (
            (
              "matched"."is_available"
              or coalesce("matched"."unavailable_until" <= now(), false)
            ),
            case
              when not coalesce("matched"."unavailable_until" <= now(), false) then "matched"."unavailable_until"
            end
          ) as differs
      ) as comparison
    where
      is_whole
  ),
  changed as (
    update "item"
    set
      "is_available" = "found"."becomes_available",
      "unavailable_until" = "found"."returns_at",
      "unavailable_since" = case
        when not "found"."becomes_available" then case
          when (
            "item"."is_available"
            or coalesce("item"."unavailable_until" <= now(), false)
          ) then clock_timestamp()
          else "item"."unavailable_since"
        end
      end,
      "unavailable_by" = case
        when not "found"."becomes_available" then case
          when (
            "item"."is_available"
            or coalesce("item"."unavailable_until" <= now(), false)
          ) then "found"."client_id"
          else "item"."unavailable_by"
        end
      end,
      "version" = "item"."version" + 1,
      "stamp" = "found"."stamp",
      "updated_at" = clock_timestamp()
    from
      found
    where
      "item"."item_id" = found.id
      and "item"."account_id" = found.account_id
      and found.differs
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
              "new"."modifier_groups" as "modifier_groups",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              "new"."sort_order" as "sort_order",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "new"."external_id" as "external_id",
              "new"."hours" as "hours",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char(
                case
                  when not (
                    "new"."is_available"
                    or coalesce("new"."unavailable_until" <= now(), false)
                  ) then "new"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "new"."is_available"
                  or coalesce("new"."unavailable_until" <= now(), false)
                ) then "new"."unavailable_by"
              end as "unavailable_by",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      nullif(
        '{' || concat_ws(
          ',',
          case
            when (
              case
                when new.is_available then old.is_available
                else (
                  "old"."is_available"
                  or coalesce("old"."unavailable_until" <= now(), false)
                )
              end
            )::text is distinct from ("new"."is_available")::text then '"is_available":' || coalesce(
              to_json(
                case
                  when new.is_available then old.is_available
                  else (
                    "old"."is_available"
                    or coalesce("old"."unavailable_until" <= now(), false)
                  )
                end
              )::text,
              'null'
            )
          end,
          case
            when (
              to_char(
                case
                  when new.is_available then old.unavailable_until
                  else case
                    when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                  end
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              )
            )::text is distinct from (to_char("new"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text then '"unavailable_until":' || coalesce(
              to_json(
                to_char(
                  case
                    when new.is_available then old.unavailable_until
                    else case
                      when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                    end
                  end at time zone 'UTC',
                  'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                )
              )::text,
              'null'
            )
          end
        ) || '}',
        '{}'
      )::json as "previous",
      "new"."item_id" as "id",
      new.external_id,
    call,
    place,
    request_id
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
              "change"."request_id" as "request_id"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  touched as (
    update menu
    set
      content_version = content_version + touch.changes,
      stamp = $5::integer
    from
      (
        select
          menu_id,
          account_id,
          count(
            distinct
            call
          ) as changes
        from
          changed
        group by
          menu_id,
          account_id
      ) as touch
    where
      menu.menu_id = touch.menu_id
      and menu.account_id = touch.account_id
  )
select
call,
place,
place as first_place,
false as are_too_many,
'changed' as outcome,
(
  select
    to_json(fields)
  from
    (
      select
        "id" as "item_id",
        "external_id" as "external_id",
        'changed' as "result",
        "resource" as "item"
    ) as fields
) as result
from
  changed
union all
select
call,
place,
place as first_place,
false as are_too_many,
'unchanged' as outcome,
(
  select
    to_json(fields)
  from
    (
      select
        "id" as "item_id",
        "external_id" as "external_id",
        'unchanged' as "result",
        "resource" as "item"
    ) as fields
) as result
from
  found
where
  not differs
order by
call,
place;

-- items.setAvailabilitiesInMenu
-- $1 calls json
-- $2 account_id bigint
-- $3 menu_ids bigint[]
-- $4 location_ids bigint[]
-- $5 stamp integer
with
  wanted as (
    select
      *
    from
      json_to_recordset($1::json) as wanted (
        call integer,
        rows integer,
        place integer,
        menu_id bigint,
        id bigint,
        external_id text,
        wants_available boolean,
        wanted_until timestamptz,
        has_plan boolean,
        client_id text,
        stamp integer,
        request_id text
      )
  ),
  -- One look-up for each, whatever the planner thinks of their number.
  named as materialized (
    select
    call,
    place,
    coalesce(
      id,
      (
        select
          item_id
        from
          item
        where
          item.menu_id = wanted.menu_id
          and item.external_id = wanted.external_id
          and account_id = $2::bigint
      )
    ) as item_id
    from
      wanted
  ),
  locked_menus as materialized (
    select
      menu_id
    from
      menu
    where
      menu_id = any ($3::bigint[])
      and (
        "menu"."account_id" = $2::bigint
        and (
          $4::bigint[] is null
          or "menu"."location_id" = any ($4::bigint[])
        )
      )
    order by
      menu_id
    for no key update
  ),
  locked as materialized (
    select
      *
    from
      item
    where
      item_id = any (
        array(
          select
            item_id
          from
            named
        )
      )
      and menu_id = any (
        array(
          select
            menu_id
          from
            locked_menus
        )
      )
      and (
        "item"."account_id" = $2::bigint
        and (
          $4::bigint[] is null
          or "item"."location_id" = any ($4::bigint[])
        )
      )
    order by
      item_id
    for no key update
      skip locked
  ),
  turns as (
    select
      wanted.*,
      item_id,
      account_id,
      locked.external_id as known_id,
      is_available,
      unavailable_until,
      row_number() over (
        partition by
          item_id
        order by
        call,
        place
      ) as turn
    from
      wanted
      join named using (
        call,
        place
      )
      join locked using (item_id, menu_id)
    where
      wanted.external_id is null
      or locked.external_id = wanted.external_id
  ),
  matched as (
    select
      *,
      count(*) over (
        partition by
        call
      ) = rows
      and max(turn) over (
        partition by
        call
      ) = 1 as is_whole
    from
      turns
  ),
  found as materialized (
    select
    call,
    place,
    item_id as id,
    account_id,
    known_id as external_id,
    becomes_available,
    returns_at,
    differs,
    client_id,
    stamp,
    request_id,
    case
      when not differs then (
        select
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
                  "locked"."modifier_groups" as "modifier_groups",
                  (
                    "locked"."is_available"
                    or coalesce("locked"."unavailable_until" <= now(), false)
                  ) as "is_available",
                  "locked"."sort_order" as "sort_order",
                  to_char("locked"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                  "locked"."external_id" as "external_id",
                  "locked"."hours" as "hours",
                  to_char(
                    case
                      when not coalesce("locked"."unavailable_until" <= now(), false) then "locked"."unavailable_until"
                    end at time zone 'UTC',
                    'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                  ) as "unavailable_until",
                  to_char(
                    case
                      when not (
                        "locked"."is_available"
                        or coalesce("locked"."unavailable_until" <= now(), false)
                      ) then "locked"."unavailable_since"
                    end at time zone 'UTC',
                    'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                  ) as "unavailable_since",
                  case
                    when not (
                      "locked"."is_available"
                      or coalesce("locked"."unavailable_until" <= now(), false)
                    ) then "locked"."unavailable_by"
                  end as "unavailable_by",
                  to_char("locked"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                  "locked"."version" as "version"
              ) as fields
          )
        from
          locked
        where
          locked.item_id = matched.item_id
      )
    end as resource
    from
      matched
      cross join lateral (
        select
          case
            when wants_available then null
            when has_plan then wanted_until
            else case
              when not coalesce("matched"."unavailable_until" <= now(), false) then "matched"."unavailable_until"
            end
          end as wanted_return
      ) as plan
      cross join lateral (
        select
          wants_available
          or coalesce(wanted_return <= now(), false) as becomes_available,
          case
            when wanted_return > now() then wanted_return
          end as returns_at
      ) as ending
      cross join lateral (
        select
          (becomes_available, returns_at) is distinct from (
            (
              "matched"."is_available"
              or coalesce("matched"."unavailable_until" <= now(), false)
            ),
            case
              when not coalesce("matched"."unavailable_until" <= now(), false) then "matched"."unavailable_until"
            end
          ) as differs
      ) as comparison
    where
      is_whole
  ),
  changed as (
    update "item"
    set
      "is_available" = "found"."becomes_available",
      "unavailable_until" = "found"."returns_at",
      "unavailable_since" = case
        when not "found"."becomes_available" then case
          when (
            "item"."is_available"
            or coalesce("item"."unavailable_until" <= now(), false)
          ) then clock_timestamp()
          else "item"."unavailable_since"
        end
      end,
      "unavailable_by" = case
        when not "found"."becomes_available" then case
          when (
            "item"."is_available"
            or coalesce("item"."unavailable_until" <= now(), false)
          ) then "found"."client_id"
          else "item"."unavailable_by"
        end
      end,
      "version" = "item"."version" + 1,
      "stamp" = "found"."stamp",
      "updated_at" = clock_timestamp()
    from
      found
    where
      "item"."item_id" = found.id
      and "item"."account_id" = found.account_id
      and found.differs
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
              "new"."modifier_groups" as "modifier_groups",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              "new"."sort_order" as "sort_order",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "new"."external_id" as "external_id",
              "new"."hours" as "hours",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char(
                case
                  when not (
                    "new"."is_available"
                    or coalesce("new"."unavailable_until" <= now(), false)
                  ) then "new"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "new"."is_available"
                  or coalesce("new"."unavailable_until" <= now(), false)
                ) then "new"."unavailable_by"
              end as "unavailable_by",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      nullif(
        '{' || concat_ws(
          ',',
          case
            when (
              case
                when new.is_available then old.is_available
                else (
                  "old"."is_available"
                  or coalesce("old"."unavailable_until" <= now(), false)
                )
              end
            )::text is distinct from ("new"."is_available")::text then '"is_available":' || coalesce(
              to_json(
                case
                  when new.is_available then old.is_available
                  else (
                    "old"."is_available"
                    or coalesce("old"."unavailable_until" <= now(), false)
                  )
                end
              )::text,
              'null'
            )
          end,
          case
            when (
              to_char(
                case
                  when new.is_available then old.unavailable_until
                  else case
                    when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                  end
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              )
            )::text is distinct from (to_char("new"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text then '"unavailable_until":' || coalesce(
              to_json(
                to_char(
                  case
                    when new.is_available then old.unavailable_until
                    else case
                      when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                    end
                  end at time zone 'UTC',
                  'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                )
              )::text,
              'null'
            )
          end
        ) || '}',
        '{}'
      )::json as "previous",
      "new"."item_id" as "id",
      new.external_id,
    call,
    place,
    request_id
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
              "change"."request_id" as "request_id"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  touched as (
    update menu
    set
      content_version = content_version + touch.changes,
      stamp = $5::integer
    from
      (
        select
          menu_id,
          account_id,
          count(
            distinct
            call
          ) as changes
        from
          changed
        group by
          menu_id,
          account_id
      ) as touch
    where
      menu.menu_id = touch.menu_id
      and menu.account_id = touch.account_id
  )
select
call,
place,
place as first_place,
false as are_too_many,
'changed' as outcome,
(
  select
    to_json(fields)
  from
    (
      select
        "id" as "item_id",
        "external_id" as "external_id",
        'changed' as "result",
        "resource" as "item"
    ) as fields
) as result
from
  changed
union all
select
call,
place,
place as first_place,
false as are_too_many,
'unchanged' as outcome,
(
  select
    to_json(fields)
  from
    (
      select
        "id" as "item_id",
        "external_id" as "external_id",
        'unchanged' as "result",
        "resource" as "item"
    ) as fields
) as result
from
  found
where
  not differs
order by
call,
place;

-- items.setAvailability
-- $1 ids bigint[]
-- $2 external_ids text[]
-- $3 availables boolean[]
-- $4 untils timestamptz[]
-- $5 plans boolean[]
-- $6 restores boolean[]
-- $7 menu_id bigint
-- $8 account_id bigint
-- $9 location_ids bigint[]
-- $10 returned_ids bigint[]
-- $11 returned_untils timestamptz[]
-- $12 client_id text
-- $13 stamp integer
-- $14 request_id text
with
  wanted as (
    select
      id,
      external_id,
      is_available,
      unavailable_until,
      has_plan,
      restores,
      place::int - 1 as place
    from
      unnest($1::bigint[], $2::text[], $3::boolean[], $4::timestamptz[], $5::boolean[], $6::boolean[]) with ordinality as wanted (id, external_id, is_available, unavailable_until, has_plan, restores, place)
  ),
  named as materialized (
    select
      id
    from
      wanted
    where
      id is not null
    union all
    select
      "item"."item_id"
    from
      wanted
      join "item" using (external_id)
    where
      wanted.external_id is not null
      and "item"."menu_id" = $7::bigint
      and "item"."account_id" = $8::bigint
    limit
      1001
  ),
  locked as (
    select
      *
    from
      "item"
    where
      "item"."menu_id" = $7::bigint
      and (
        "item"."account_id" = $8::bigint
        and (
          $9::bigint[] is null
          or "item"."location_id" = any ($9::bigint[])
        )
      )
      and "item"."item_id" = any (
        array(
          select
            id
          from
            named
        )
      )
      and not (
        (
          select
            count(*)
          from
            named
        ) > 1000
      )
    order by
      "item"."item_id"
    for no key update
  ),
  matched as (
    select
      locked.*,
      wanted.place,
      wanted.is_available as wants_available,
      wanted.unavailable_until as wanted_until,
      wanted.has_plan,
      wanted.restores
    from
      wanted
      join locked on "locked"."item_id" = wanted.id
    union all
    select
      locked.*,
      wanted.place,
      wanted.is_available as wants_available,
      wanted.unavailable_until as wanted_until,
      wanted.has_plan,
      wanted.restores
    from
      wanted
      join locked on locked.external_id = wanted.external_id
    where
      wanted.external_id is not null
  ),
  found as (
    select
      place,
      min(place) over (
        partition by
          "matched"."item_id"
      ) as first_place,
      "matched"."item_id" as id,
      account_id,
      external_id,
      becomes_available,
      returns_at,
      differs,
      case
        when not differs then (
          select
            to_json(fields)
          from
            (
              select
                "matched"."item_id" as "item_id",
                "matched"."category_id" as "category_id",
                "matched"."menu_id" as "menu_id",
                "matched"."name" as "name",
                "matched"."description" as "description",
                "matched"."price" as "price",
                "matched"."photo_url" as "photo_url",
                "matched"."allergens" as "allergens",
                "matched"."dietary_tags" as "dietary_tags",
                "matched"."modifier_groups" as "modifier_groups",
                (
                  "matched"."is_available"
                  or coalesce("matched"."unavailable_until" <= now(), false)
                ) as "is_available",
                "matched"."sort_order" as "sort_order",
                to_char("matched"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                "matched"."external_id" as "external_id",
                "matched"."hours" as "hours",
                to_char(
                  case
                    when not coalesce("matched"."unavailable_until" <= now(), false) then "matched"."unavailable_until"
                  end at time zone 'UTC',
                  'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                ) as "unavailable_until",
                to_char(
                  case
                    when not (
                      "matched"."is_available"
                      or coalesce("matched"."unavailable_until" <= now(), false)
                    ) then "matched"."unavailable_since"
                  end at time zone 'UTC',
                  'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                ) as "unavailable_since",
                case
                  when not (
                    "matched"."is_available"
                    or coalesce("matched"."unavailable_until" <= now(), false)
                  ) then "matched"."unavailable_by"
                end as "unavailable_by",
                to_char("matched"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                "matched"."version" as "version"
            ) as fields
        )
      end as shown
    from
      matched
      left join unnest($10::bigint[], $11::timestamptz[]) as returned (id, until) on returned.id = "matched"."item_id"
      cross join lateral (
        select
          case
            when wants_available then null
            when restores then returned.until
            when has_plan then wanted_until
            else case
              when not coalesce("matched"."unavailable_until" <= now(), false) then "matched"."unavailable_until"
            end
          end as wanted_return
      ) as plan
      cross join lateral (
        select
          wants_available
          or coalesce(wanted_return <= now(), false) as becomes_available,
          case
            when wanted_return > now() then wanted_return
          end as returns_at
      ) as ending
      cross join lateral (
        select
          (becomes_available, returns_at) is distinct from (
            (
              "matched"."is_available"
              or coalesce("matched"."unavailable_until" <= now(), false)
            ),
            case
              when not coalesce("matched"."unavailable_until" <= now(), false) then "matched"."unavailable_until"
            end
          ) as differs
      ) as comparison
    where
      not restores
      or returned.id is not null
  ),
  changed as (
    update "item"
    set
      "is_available" = "found"."becomes_available",
      "unavailable_until" = "found"."returns_at",
      "unavailable_since" = case
        when not "found"."becomes_available" then case
          when (
            "item"."is_available"
            or coalesce("item"."unavailable_until" <= now(), false)
          ) then clock_timestamp()
          else "item"."unavailable_since"
        end
      end,
      "unavailable_by" = case
        when not "found"."becomes_available" then case
          when (
            "item"."is_available"
            or coalesce("item"."unavailable_until" <= now(), false)
          ) then $12::text
          else "item"."unavailable_by"
        end
      end,
      "version" = "item"."version" + 1,
      "stamp" = $13::integer,
      "updated_at" = clock_timestamp()
    from
      found
    where
      "item"."item_id" = found.id
      and "item"."account_id" = found.account_id
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
              "new"."modifier_groups" as "modifier_groups",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              "new"."sort_order" as "sort_order",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "new"."external_id" as "external_id",
              "new"."hours" as "hours",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char(
                case
                  when not (
                    "new"."is_available"
                    or coalesce("new"."unavailable_until" <= now(), false)
                  ) then "new"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "new"."is_available"
                  or coalesce("new"."unavailable_until" <= now(), false)
                ) then "new"."unavailable_by"
              end as "unavailable_by",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      nullif(
        '{' || concat_ws(
          ',',
          case
            when (
              case
                when new.is_available then old.is_available
                else (
                  "old"."is_available"
                  or coalesce("old"."unavailable_until" <= now(), false)
                )
              end
            )::text is distinct from ("new"."is_available")::text then '"is_available":' || coalesce(
              to_json(
                case
                  when new.is_available then old.is_available
                  else (
                    "old"."is_available"
                    or coalesce("old"."unavailable_until" <= now(), false)
                  )
                end
              )::text,
              'null'
            )
          end,
          case
            when (
              to_char(
                case
                  when new.is_available then old.unavailable_until
                  else case
                    when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                  end
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              )
            )::text is distinct from (to_char("new"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text then '"unavailable_until":' || coalesce(
              to_json(
                to_char(
                  case
                    when new.is_available then old.unavailable_until
                    else case
                      when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                    end
                  end at time zone 'UTC',
                  'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                )
              )::text,
              'null'
            )
          end
        ) || '}',
        '{}'
      )::json as "previous",
      "new"."item_id" as "id"
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
              $14::text as "request_id"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1,
      stamp = $13::integer
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
  wanted.place,
  case
    when changed.id is not null then 'changed'
    when found.id is not null then 'unchanged'
    else 'not_found'
  end as outcome,
  (
    select
      to_json(fields)
    from
      (
        select
          coalesce(found.id, wanted.id) as "item_id",
          case
            when found.id is null then wanted.external_id
            else found.external_id
          end as "external_id",
          case
            when changed.id is not null then 'changed'
            when found.id is not null then 'unchanged'
            else 'not_found'
          end as "result",
          coalesce(changed.resource, found.shown) as "item"
      ) as fields
  ) as result,
  found.first_place,
  (
    (
      select
        count(*)
      from
        named
    ) > 1000
  ) as are_too_many
from
  wanted
  left join found using (place)
  left join changed on changed.id = found.id
order by
  wanted.place,
  found.id;

-- items.setAvailability.hours
-- $1 menu_id bigint
-- $2 account_id bigint
-- $3 location_ids bigint[]
-- $4 named_ids bigint[]
-- $5 named_external_ids text[]
select
  item.item_id,
  item.external_id,
  (
    select
      "location"."timezone"
    from
      "location"
    where
      "location"."location_id" = "item"."location_id"
      and "location"."account_id" = item.account_id
  ) as timezone,
  json_build_array(
    (
      select
        "location"."hours"
      from
        "location"
      where
        "location"."location_id" = "item"."location_id"
        and "location"."account_id" = item.account_id
    ),
    (
      select
        "menu"."hours"
      from
        "menu"
      where
        "menu"."menu_id" = "item"."menu_id"
        and "menu"."account_id" = item.account_id
    ),
    (
      select
        category.hours
      from
        category
      where
        category.category_id = item.category_id
        and category.menu_id = item.menu_id
        and category.account_id = item.account_id
    ),
    item.hours
  ) as levels,
  floor(
    extract(
      epoch
      from
        now()
    ) * 1000
  ) as now
from
  item
where
  "item"."menu_id" = $1::bigint
  and (
    "item"."account_id" = $2::bigint
    and (
      $3::bigint[] is null
      or "item"."location_id" = any ($3::bigint[])
    )
  )
  and item.item_id = any (
    array(
      select
        unnest($4::bigint[])
      union all
      select
        item.item_id
      from
        item
      where
        item.external_id = any ($5::text[])
        and "item"."menu_id" = $1::bigint
        and item.account_id = $2::bigint
    )
  )
limit
  1001;

-- items.setLocationAvailability
-- $1 ids bigint[]
-- $2 external_ids text[]
-- $3 availables boolean[]
-- $4 untils timestamptz[]
-- $5 plans boolean[]
-- $6 restores boolean[]
-- $7 locations bigint[]
-- $8 account_id bigint
-- $9 location_ids bigint[]
-- $10 returned_ids bigint[]
-- $11 returned_untils timestamptz[]
-- $12 client_id text
-- $13 stamp integer
-- $14 request_id text
with
  wanted as (
    select
      id,
      external_id,
      is_available,
      unavailable_until,
      has_plan,
      restores,
      place::int - 1 as place
    from
      unnest($1::bigint[], $2::text[], $3::boolean[], $4::timestamptz[], $5::boolean[], $6::boolean[]) with ordinality as wanted (id, external_id, is_available, unavailable_until, has_plan, restores, place)
  ),
  named as materialized (
    select
      id
    from
      wanted
    where
      id is not null
    union all
    select
      "item"."item_id"
    from
      wanted
      join "item" using (external_id)
    where
      wanted.external_id is not null
      and "item"."location_id" = any ($7::bigint[])
      and "item"."account_id" = $8::bigint
    limit
      1001
  ),
  locked as (
    select
      *
    from
      "item"
    where
      "item"."location_id" = any ($7::bigint[])
      and (
        "item"."account_id" = $8::bigint
        and (
          $9::bigint[] is null
          or "item"."location_id" = any ($9::bigint[])
        )
      )
      and "item"."item_id" = any (
        array(
          select
            id
          from
            named
        )
      )
      and not (
        (
          select
            count(*)
          from
            named
        ) > 1000
      )
    order by
      "item"."item_id"
    for no key update
  ),
  matched as (
    select
      locked.*,
      wanted.place,
      wanted.is_available as wants_available,
      wanted.unavailable_until as wanted_until,
      wanted.has_plan,
      wanted.restores
    from
      wanted
      join locked on "locked"."item_id" = wanted.id
    union all
    select
      locked.*,
      wanted.place,
      wanted.is_available as wants_available,
      wanted.unavailable_until as wanted_until,
      wanted.has_plan,
      wanted.restores
    from
      wanted
      join locked on locked.external_id = wanted.external_id
    where
      wanted.external_id is not null
  ),
  found as (
    select
      place,
      min(place) over (
        partition by
          "matched"."item_id"
      ) as first_place,
      "matched"."item_id" as id,
      account_id,
      external_id,
      becomes_available,
      returns_at,
      differs,
      case
        when not differs then (
          select
            to_json(fields)
          from
            (
              select
                "matched"."item_id" as "item_id",
                "matched"."category_id" as "category_id",
                "matched"."menu_id" as "menu_id",
                "matched"."name" as "name",
                "matched"."description" as "description",
                "matched"."price" as "price",
                "matched"."photo_url" as "photo_url",
                "matched"."allergens" as "allergens",
                "matched"."dietary_tags" as "dietary_tags",
                "matched"."modifier_groups" as "modifier_groups",
                (
                  "matched"."is_available"
                  or coalesce("matched"."unavailable_until" <= now(), false)
                ) as "is_available",
                "matched"."sort_order" as "sort_order",
                to_char("matched"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                "matched"."external_id" as "external_id",
                "matched"."hours" as "hours",
                to_char(
                  case
                    when not coalesce("matched"."unavailable_until" <= now(), false) then "matched"."unavailable_until"
                  end at time zone 'UTC',
                  'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                ) as "unavailable_until",
                to_char(
                  case
                    when not (
                      "matched"."is_available"
                      or coalesce("matched"."unavailable_until" <= now(), false)
                    ) then "matched"."unavailable_since"
                  end at time zone 'UTC',
                  'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                ) as "unavailable_since",
                case
                  when not (
                    "matched"."is_available"
                    or coalesce("matched"."unavailable_until" <= now(), false)
                  ) then "matched"."unavailable_by"
                end as "unavailable_by",
                to_char("matched"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                "matched"."version" as "version"
            ) as fields
        )
      end as shown
    from
      matched
      left join unnest($10::bigint[], $11::timestamptz[]) as returned (id, until) on returned.id = "matched"."item_id"
      cross join lateral (
        select
          case
            when wants_available then null
            when restores then returned.until
            when has_plan then wanted_until
            else case
              when not coalesce("matched"."unavailable_until" <= now(), false) then "matched"."unavailable_until"
            end
          end as wanted_return
      ) as plan
      cross join lateral (
        select
          wants_available
          or coalesce(wanted_return <= now(), false) as becomes_available,
          case
            when wanted_return > now() then wanted_return
          end as returns_at
      ) as ending
      cross join lateral (
        select
          (becomes_available, returns_at) is distinct from (
            (
              "matched"."is_available"
              or coalesce("matched"."unavailable_until" <= now(), false)
            ),
            case
              when not coalesce("matched"."unavailable_until" <= now(), false) then "matched"."unavailable_until"
            end
          ) as differs
      ) as comparison
    where
      not restores
      or returned.id is not null
  ),
  changed as (
    update "item"
    set
      "is_available" = "found"."becomes_available",
      "unavailable_until" = "found"."returns_at",
      "unavailable_since" = case
        when not "found"."becomes_available" then case
          when (
            "item"."is_available"
            or coalesce("item"."unavailable_until" <= now(), false)
          ) then clock_timestamp()
          else "item"."unavailable_since"
        end
      end,
      "unavailable_by" = case
        when not "found"."becomes_available" then case
          when (
            "item"."is_available"
            or coalesce("item"."unavailable_until" <= now(), false)
          ) then $12::text
          else "item"."unavailable_by"
        end
      end,
      "version" = "item"."version" + 1,
      "stamp" = $13::integer,
      "updated_at" = clock_timestamp()
    from
      found
    where
      "item"."item_id" = found.id
      and "item"."account_id" = found.account_id
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
              "new"."modifier_groups" as "modifier_groups",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              "new"."sort_order" as "sort_order",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "new"."external_id" as "external_id",
              "new"."hours" as "hours",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char(
                case
                  when not (
                    "new"."is_available"
                    or coalesce("new"."unavailable_until" <= now(), false)
                  ) then "new"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "new"."is_available"
                  or coalesce("new"."unavailable_until" <= now(), false)
                ) then "new"."unavailable_by"
              end as "unavailable_by",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      nullif(
        '{' || concat_ws(
          ',',
          case
            when (
              case
                when new.is_available then old.is_available
                else (
                  "old"."is_available"
                  or coalesce("old"."unavailable_until" <= now(), false)
                )
              end
            )::text is distinct from ("new"."is_available")::text then '"is_available":' || coalesce(
              to_json(
                case
                  when new.is_available then old.is_available
                  else (
                    "old"."is_available"
                    or coalesce("old"."unavailable_until" <= now(), false)
                  )
                end
              )::text,
              'null'
            )
          end,
          case
            when (
              to_char(
                case
                  when new.is_available then old.unavailable_until
                  else case
                    when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                  end
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              )
            )::text is distinct from (to_char("new"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text then '"unavailable_until":' || coalesce(
              to_json(
                to_char(
                  case
                    when new.is_available then old.unavailable_until
                    else case
                      when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                    end
                  end at time zone 'UTC',
                  'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                )
              )::text,
              'null'
            )
          end
        ) || '}',
        '{}'
      )::json as "previous",
      "new"."item_id" as "id"
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
              $14::text as "request_id"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  locked_menus as (
    select
      menu_id,
      account_id
    from
      menu
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
    order by
      menu_id
    for no key update
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1,
      stamp = $13::integer
    where
      menu_id = any (
        array(
          select
            menu_id
          from
            locked_menus
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            locked_menus
        )
      )
  )
select
  wanted.place,
  case
    when changed.id is not null then 'changed'
    when found.id is not null then 'unchanged'
    else 'not_found'
  end as outcome,
  (
    select
      to_json(fields)
    from
      (
        select
          coalesce(found.id, wanted.id) as "item_id",
          case
            when found.id is null then wanted.external_id
            else found.external_id
          end as "external_id",
          case
            when changed.id is not null then 'changed'
            when found.id is not null then 'unchanged'
            else 'not_found'
          end as "result",
          coalesce(changed.resource, found.shown) as "item"
      ) as fields
  ) as result,
  found.first_place,
  (
    (
      select
        count(*)
      from
        named
    ) > 1000
  ) as are_too_many
from
  wanted
  left join found using (place)
  left join changed on changed.id = found.id
order by
  wanted.place,
  found.id;

-- items.setLocationAvailability.hours
-- $1 locations bigint[]
-- $2 account_id bigint
-- $3 location_ids bigint[]
-- $4 named_ids bigint[]
-- $5 named_external_ids text[]
select
  item.item_id,
  item.external_id,
  (
    select
      "location"."timezone"
    from
      "location"
    where
      "location"."location_id" = "item"."location_id"
      and "location"."account_id" = item.account_id
  ) as timezone,
  json_build_array(
    (
      select
        "location"."hours"
      from
        "location"
      where
        "location"."location_id" = "item"."location_id"
        and "location"."account_id" = item.account_id
    ),
    (
      select
        "menu"."hours"
      from
        "menu"
      where
        "menu"."menu_id" = "item"."menu_id"
        and "menu"."account_id" = item.account_id
    ),
    (
      select
        category.hours
      from
        category
      where
        category.category_id = item.category_id
        and category.menu_id = item.menu_id
        and category.account_id = item.account_id
    ),
    item.hours
  ) as levels,
  floor(
    extract(
      epoch
      from
        now()
    ) * 1000
  ) as now
from
  item
where
  "item"."location_id" = any ($1::bigint[])
  and (
    "item"."account_id" = $2::bigint
    and (
      $3::bigint[] is null
      or "item"."location_id" = any ($3::bigint[])
    )
  )
  and item.item_id = any (
    array(
      select
        unnest($4::bigint[])
      union all
      select
        item.item_id
      from
        item
      where
        item.external_id = any ($5::text[])
        and "item"."location_id" = any ($1::bigint[])
        and item.account_id = $2::bigint
    )
  )
limit
  1001;

-- items.setLocationAvailability.missing
-- $1 others bigint[]
-- $2 account_id bigint
-- $3 location_ids bigint[]
select
  place::int - 1 as place
from
  unnest($1::bigint[]) with ordinality as wanted (location_id, place)
where
  not exists (
    select
    from
      location
    where
      location.location_id = wanted.location_id
      and (
        "location"."account_id" = $2::bigint
        and (
          $3::bigint[] is null
          or "location"."location_id" = any ($3::bigint[])
        )
      )
  )
order by
  place;

-- items.toggleItem
-- $1 client_id text
-- $2 stamp integer
-- $3 item_id bigint
-- $4 menu_id bigint
-- $5 account_id bigint
-- $6 location_ids bigint[]
-- $7 if_match text[]
-- $8 request_id text
with
  changed as (
    update "item"
    set
      "is_available" = not (
        "item"."is_available"
        or coalesce("item"."unavailable_until" <= now(), false)
      ),
      "unavailable_until" = null,
      "unavailable_since" = case
        when not not (
          "item"."is_available"
          or coalesce("item"."unavailable_until" <= now(), false)
        ) then case
          when (
            "item"."is_available"
            or coalesce("item"."unavailable_until" <= now(), false)
          ) then clock_timestamp()
          else "item"."unavailable_since"
        end
      end,
      "unavailable_by" = case
        when not not (
          "item"."is_available"
          or coalesce("item"."unavailable_until" <= now(), false)
        ) then case
          when (
            "item"."is_available"
            or coalesce("item"."unavailable_until" <= now(), false)
          ) then $1::text
          else "item"."unavailable_by"
        end
      end,
      "version" = "item"."version" + 1,
      "stamp" = $2::integer,
      "updated_at" = clock_timestamp()
    where
      (
        (
          "item"."item_id" = $3::bigint
          and "item"."menu_id" = $4::bigint
        )
        and (
          "item"."account_id" = $5::bigint
          and (
            $6::bigint[] is null
            or "item"."location_id" = any ($6::bigint[])
          )
        )
      )
      and (
        $7::text[] is null
        or '"' || "item"."version" || '-' || to_hex("item"."stamp") || case
          when coalesce("item"."unavailable_until" <= now(), false) then '-restored'
          else ''
        end || '"' = any ($7::text[])
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
              "new"."modifier_groups" as "modifier_groups",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              "new"."sort_order" as "sort_order",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "new"."external_id" as "external_id",
              "new"."hours" as "hours",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char(
                case
                  when not (
                    "new"."is_available"
                    or coalesce("new"."unavailable_until" <= now(), false)
                  ) then "new"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "new"."is_available"
                  or coalesce("new"."unavailable_until" <= now(), false)
                ) then "new"."unavailable_by"
              end as "unavailable_by",
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
                to_char("old"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "unavailable_until"
            ) as fields
        )
      end as "previous",
      '"' || "new"."version" || '-' || to_hex("new"."stamp") || case
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1,
      stamp = $2::integer
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

-- items.toggleItems
-- $1 item_ids bigint[]
-- $2 menu_ids bigint[]
-- $3 stamps integer[]
-- $4 request_ids text[]
-- $5 client_ids text[]
-- $6 account_id bigint
-- $7 location_ids bigint[]
-- $8 stamp integer
with
  wanted as (
    select
      item_id,
      menu_id,
      stamp,
      request_id,
      client_id,
      place::int - 1 as place,
      row_number() over (
        partition by
          item_id,
          menu_id
        order by
          place
      )::int as turn
    from
      unnest($1::bigint[], $2::bigint[], $3::integer[], $4::text[], $5::text[]) with ordinality as
    call (item_id, menu_id, stamp, request_id, client_id, place)
  ),
  locked_menus as materialized (
    select
      menu_id
    from
      menu
    where
      menu_id = any ($2::bigint[])
      and (
        "menu"."account_id" = $6::bigint
        and (
          $7::bigint[] is null
          or "menu"."location_id" = any ($7::bigint[])
        )
      )
    order by
      menu_id
    for no key update
      skip locked
  ),
  locked as materialized (
    select
      item_id,
      account_id,
      menu_id,
      location_id
    from
      item
    where
      item_id = any ($1::bigint[])
      and menu_id = any (
        array(
          select
            menu_id
          from
            locked_menus
        )
      )
      and (
        "item"."account_id" = $6::bigint
        and (
          $7::bigint[] is null
          or "item"."location_id" = any ($7::bigint[])
        )
      )
    order by
      item_id
    for no key update
      skip locked
  ),
  turns as (
    select
      wanted.*,
      locked.account_id
    from
      wanted
      join locked using (item_id, menu_id)
  ),
  last_turns as (
    select distinct
      on ("item_id") *
    from
      turns
    order by
      "item_id",
      turn desc
  ),
  toggled as (
    update "item"
    set
      is_available = (
        "item"."is_available"
        or coalesce("item"."unavailable_until" <= now(), false)
      ) <> ("last_turns"."turn" % 2 = 1),
      unavailable_until = null,
      unavailable_since = case
        when not (
          (
            "item"."is_available"
            or coalesce("item"."unavailable_until" <= now(), false)
          ) <> ("last_turns"."turn" % 2 = 1)
        ) then clock_timestamp()
      end,
      unavailable_by = case
        when not (
          (
            "item"."is_available"
            or coalesce("item"."unavailable_until" <= now(), false)
          ) <> ("last_turns"."turn" % 2 = 1)
        ) then last_turns.client_id
      end,
      version = "item"."version" + last_turns.turn,
      stamp = last_turns.stamp,
      updated_at = clock_timestamp()
    from
      last_turns
    where
      "item"."item_id" = "last_turns"."item_id"
      and "item"."account_id" = last_turns.account_id
    returning
      new.*,
      old.version as version_before,
      (
        "old"."is_available"
        or coalesce("old"."unavailable_until" <= now(), false)
      ) as was_available,
      case
        when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
      end as was_until
  ),
  changed as (
    select
      place,
      request_id,
      "toggled"."account_id" as "account_id",
      "toggled"."location_id" as "location_id",
      "toggled"."menu_id" as "menu_id",
      'item:' || "toggled"."item_id" as "record",
      array['item.toggled'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "toggled"."item_id" as "item_id",
              "toggled"."category_id" as "category_id",
              "toggled"."menu_id" as "menu_id",
              "toggled"."name" as "name",
              "toggled"."description" as "description",
              "toggled"."price" as "price",
              "toggled"."photo_url" as "photo_url",
              "toggled"."allergens" as "allergens",
              "toggled"."dietary_tags" as "dietary_tags",
              "toggled"."modifier_groups" as "modifier_groups",
              not (was_available = ("turns"."turn" % 2 = 1)) as "is_available",
              "toggled"."sort_order" as "sort_order",
              to_char("toggled"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "toggled"."external_id" as "external_id",
              "toggled"."hours" as "hours",
              to_char(
                case
                  when not coalesce("toggled"."unavailable_until" <= now(), false) then "toggled"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char(
                case
                  when (was_available = ("turns"."turn" % 2 = 1)) then coalesce(unavailable_since, updated_at)
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when (was_available = ("turns"."turn" % 2 = 1)) then turns.client_id
              end as "unavailable_by",
              to_char("toggled"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              (version_before + turns.turn) as "version"
          ) as fields
      ) as "resource",
      case
        when turns.turn > 1
        or was_until is null then (
          select
            to_json(fields)
          from
            (
              select
                (was_available = ("turns"."turn" % 2 = 1)) as "is_available"
            ) as fields
        )
        else (
          select
            to_json(fields)
          from
            (
              select
                (was_available = ("turns"."turn" % 2 = 1)) as "is_available",
                to_char("was_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "unavailable_until"
            ) as fields
        )
      end as "previous",
      '"' || (version_before + turns.turn) || '-' || to_hex("turns"."stamp") || '"' as etag
    from
      toggled
      join turns using ("item_id")
    order by
      place
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
              "change"."request_id" as "request_id"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  touched as (
    update menu
    set
      content_version = content_version + touch.changes,
      stamp = $8::integer
    from
      (
        select
          menu_id,
          account_id,
          count(*) as changes
        from
          changed
        group by
          menu_id,
          account_id
      ) as touch
    where
      menu.menu_id = touch.menu_id
      and menu.account_id = touch.account_id
  )
select
  place,
  etag,
  resource
from
  changed;

-- items.toggleItemsInMenu
-- $1 item_ids bigint[]
-- $2 menu_ids bigint[]
-- $3 stamps integer[]
-- $4 request_ids text[]
-- $5 client_ids text[]
-- $6 account_id bigint
-- $7 location_ids bigint[]
-- $8 stamp integer
with
  wanted as (
    select
      item_id,
      menu_id,
      stamp,
      request_id,
      client_id,
      place::int - 1 as place,
      row_number() over (
        partition by
          item_id,
          menu_id
        order by
          place
      )::int as turn
    from
      unnest($1::bigint[], $2::bigint[], $3::integer[], $4::text[], $5::text[]) with ordinality as
    call (item_id, menu_id, stamp, request_id, client_id, place)
  ),
  locked_menus as materialized (
    select
      menu_id
    from
      menu
    where
      menu_id = any ($2::bigint[])
      and (
        "menu"."account_id" = $6::bigint
        and (
          $7::bigint[] is null
          or "menu"."location_id" = any ($7::bigint[])
        )
      )
    order by
      menu_id
    for no key update
  ),
  locked as materialized (
    select
      item_id,
      account_id,
      menu_id,
      location_id
    from
      item
    where
      item_id = any ($1::bigint[])
      and menu_id = any (
        array(
          select
            menu_id
          from
            locked_menus
        )
      )
      and (
        "item"."account_id" = $6::bigint
        and (
          $7::bigint[] is null
          or "item"."location_id" = any ($7::bigint[])
        )
      )
    order by
      item_id
    for no key update
      skip locked
  ),
  turns as (
    select
      wanted.*,
      locked.account_id
    from
      wanted
      join locked using (item_id, menu_id)
  ),
  last_turns as (
    select distinct
      on ("item_id") *
    from
      turns
    order by
      "item_id",
      turn desc
  ),
  toggled as (
    update "item"
    set
      is_available = (
        "item"."is_available"
        or coalesce("item"."unavailable_until" <= now(), false)
      ) <> ("last_turns"."turn" % 2 = 1),
      unavailable_until = null,
      unavailable_since = case
        when not (
          (
            "item"."is_available"
            or coalesce("item"."unavailable_until" <= now(), false)
          ) <> ("last_turns"."turn" % 2 = 1)
        ) then clock_timestamp()
      end,
      unavailable_by = case
        when not (
          (
            "item"."is_available"
            or coalesce("item"."unavailable_until" <= now(), false)
          ) <> ("last_turns"."turn" % 2 = 1)
        ) then last_turns.client_id
      end,
      version = "item"."version" + last_turns.turn,
      stamp = last_turns.stamp,
      updated_at = clock_timestamp()
    from
      last_turns
    where
      "item"."item_id" = "last_turns"."item_id"
      and "item"."account_id" = last_turns.account_id
    returning
      new.*,
      old.version as version_before,
      (
        "old"."is_available"
        or coalesce("old"."unavailable_until" <= now(), false)
      ) as was_available,
      case
        when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
      end as was_until
  ),
  changed as (
    select
      place,
      request_id,
      "toggled"."account_id" as "account_id",
      "toggled"."location_id" as "location_id",
      "toggled"."menu_id" as "menu_id",
      'item:' || "toggled"."item_id" as "record",
      array['item.toggled'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "toggled"."item_id" as "item_id",
              "toggled"."category_id" as "category_id",
              "toggled"."menu_id" as "menu_id",
              "toggled"."name" as "name",
              "toggled"."description" as "description",
              "toggled"."price" as "price",
              "toggled"."photo_url" as "photo_url",
              "toggled"."allergens" as "allergens",
              "toggled"."dietary_tags" as "dietary_tags",
              "toggled"."modifier_groups" as "modifier_groups",
              not (was_available = ("turns"."turn" % 2 = 1)) as "is_available",
              "toggled"."sort_order" as "sort_order",
              to_char("toggled"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "toggled"."external_id" as "external_id",
              "toggled"."hours" as "hours",
              to_char(
                case
                  when not coalesce("toggled"."unavailable_until" <= now(), false) then "toggled"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char(
                case
                  when (was_available = ("turns"."turn" % 2 = 1)) then coalesce(unavailable_since, updated_at)
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when (was_available = ("turns"."turn" % 2 = 1)) then turns.client_id
              end as "unavailable_by",
              to_char("toggled"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              (version_before + turns.turn) as "version"
          ) as fields
      ) as "resource",
      case
        when turns.turn > 1
        or was_until is null then (
          select
            to_json(fields)
          from
            (
              select
                (was_available = ("turns"."turn" % 2 = 1)) as "is_available"
            ) as fields
        )
        else (
          select
            to_json(fields)
          from
            (
              select
                (was_available = ("turns"."turn" % 2 = 1)) as "is_available",
                to_char("was_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "unavailable_until"
            ) as fields
        )
      end as "previous",
      '"' || (version_before + turns.turn) || '-' || to_hex("turns"."stamp") || '"' as etag
    from
      toggled
      join turns using ("item_id")
    order by
      place
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
              "change"."request_id" as "request_id"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  touched as (
    update menu
    set
      content_version = content_version + touch.changes,
      stamp = $8::integer
    from
      (
        select
          menu_id,
          account_id,
          count(*) as changes
        from
          changed
        group by
          menu_id,
          account_id
      ) as touch
    where
      menu.menu_id = touch.menu_id
      and menu.account_id = touch.account_id
  )
select
  place,
  etag,
  resource
from
  changed;

-- items.updateItem
-- $1 item_id bigint
-- $2 menu_id bigint
-- $3 account_id bigint
-- $4 location_ids bigint[]
-- $5 present text[]
-- $6 category_id bigint
-- $7 name text
-- $8 description text
-- $9 price numeric
-- $10 photo_url text
-- $11 allergens text[]
-- $12 dietary_tags text[]
-- $13 is_available boolean
-- $14 unavailable_until timestamptz
-- $15 sort_order integer
-- $16 external_id text
-- $17 hours jsonb
-- $18 client_id text
-- $19 stamp integer
-- $20 if_match text[]
-- $21 request_id text
with
  terms as materialized (
    select
      currency,
      case
        when "currency" = any ('{BIF,CLP,DJF,GNF,ISK,JPY,KMF,KRW,PYG,RWF,UGX,VND,VUV,XAF,XOF,XPF}') then 0
        when "currency" = any ('{BHD,IQD,JOD,KWD,LYD,OMR,TND}') then 3
        else 2
      end as decimals
    from
      location
    where
      (location_id, account_id) = (
        select
          location_id,
          account_id
        from
          "item"
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
      )
    for key share
  ),
  changed as (
    update "item"
    set
      "category_id" = case
        when 'category_id' = any ($5::text[]) then coalesce(
          (
            select
              category_id
            from
              category
            where
              category_id = $6::bigint
              and menu_id = $2::bigint
              and account_id = $3::bigint
            for key share
          ),
          $6::bigint
        )
        else item.category_id
      end,
      "name" = case
        when 'name' = any ($5::text[]) then $7::text
        else "item"."name"
      end,
      "description" = case
        when 'description' = any ($5::text[]) then $8::text
        else "item"."description"
      end,
      "price" = case
        when 'price' = any ($5::text[])
        and $9::numeric <> "item"."price" then round($9::numeric, terms.decimals)
        else "item"."price"
      end,
      "photo_url" = case
        when 'photo_url' = any ($5::text[]) then $10::text
        else "item"."photo_url"
      end,
      "allergens" = case
        when 'allergens' = any ($5::text[]) then $11::text[]
        else "item"."allergens"
      end,
      "dietary_tags" = case
        when 'dietary_tags' = any ($5::text[]) then $12::text[]
        else "item"."dietary_tags"
      end,
      "is_available" = case
        when 'is_available' = any ($5::text[]) then $13::boolean
        or coalesce($14::timestamptz <= now(), false)
        when $14::timestamptz is not null then $14::timestamptz <= now()
        else "item"."is_available"
        or coalesce("item"."unavailable_until" <= now(), false)
      end,
      "unavailable_until" = case
        when case
          when 'is_available' = any ($5::text[]) then $13::boolean
          or coalesce($14::timestamptz <= now(), false)
          when $14::timestamptz is not null then $14::timestamptz <= now()
          else "item"."is_available"
          or coalesce("item"."unavailable_until" <= now(), false)
        end then null
        when 'unavailable_until' = any ($5::text[]) then $14::timestamptz
        else case
          when not coalesce("item"."unavailable_until" <= now(), false) then "item"."unavailable_until"
        end
      end,
      "sort_order" = case
        when 'sort_order' = any ($5::text[]) then $15::integer
        else "item"."sort_order"
      end,
      "external_id" = case
        when 'external_id' = any ($5::text[]) then $16::text
        else "item"."external_id"
      end,
      "hours" = case
        when 'hours' = any ($5::text[]) then $17::jsonb
        else "item"."hours"
      end,
      "unavailable_since" = case
        when not case
          when 'is_available' = any ($5::text[]) then $13::boolean
          or coalesce($14::timestamptz <= now(), false)
          when $14::timestamptz is not null then $14::timestamptz <= now()
          else "item"."is_available"
          or coalesce("item"."unavailable_until" <= now(), false)
        end then case
          when (
            "item"."is_available"
            or coalesce("item"."unavailable_until" <= now(), false)
          ) then clock_timestamp()
          else "item"."unavailable_since"
        end
      end,
      "unavailable_by" = case
        when not case
          when 'is_available' = any ($5::text[]) then $13::boolean
          or coalesce($14::timestamptz <= now(), false)
          when $14::timestamptz is not null then $14::timestamptz <= now()
          else "item"."is_available"
          or coalesce("item"."unavailable_until" <= now(), false)
        end then case
          when (
            "item"."is_available"
            or coalesce("item"."unavailable_until" <= now(), false)
          ) then $18::text
          else "item"."unavailable_by"
        end
      end,
      "searchable" = case
        when 'name' = any ($5::text[])
        or 'description' = any ($5::text[]) then search_text (
          case
            when 'name' = any ($5::text[]) then $7::text
            else "item"."name"
          end
        ) || e'\n' || search_text (
          case
            when 'description' = any ($5::text[]) then $8::text
            else "item"."description"
          end
        )
        else "item"."searchable"
      end,
      "searchable_of" = case
        when 'name' = any ($5::text[])
        or 'description' = any ($5::text[]) then hashtextextended (
          case
            when 'name' = any ($5::text[]) then $7::text
            else "item"."name"
          end || e'\n' || case
            when 'description' = any ($5::text[]) then $8::text
            else "item"."description"
          end,
          0
        )
        else "item"."searchable_of"
      end,
      "version" = "item"."version" + 1,
      "stamp" = $19::integer,
      "updated_at" = clock_timestamp()
    from
      terms
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
        $20::text[] is null
        or '"' || "item"."version" || '-' || to_hex("item"."stamp") || case
          when coalesce("item"."unavailable_until" <= now(), false) then '-restored'
          else ''
        end || '"' = any ($20::text[])
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
        "item"."external_id",
        "item"."hours"
      ) is distinct from (
        case
          when 'category_id' = any ($5::text[]) then $6::bigint
          else "item"."category_id"
        end,
        case
          when 'name' = any ($5::text[]) then $7::text
          else "item"."name"
        end,
        case
          when 'description' = any ($5::text[]) then $8::text
          else "item"."description"
        end,
        case
          when 'price' = any ($5::text[]) then $9::numeric
          else "item"."price"
        end,
        case
          when 'photo_url' = any ($5::text[]) then $10::text
          else "item"."photo_url"
        end,
        case
          when 'allergens' = any ($5::text[]) then $11::text[]
          else "item"."allergens"
        end,
        case
          when 'dietary_tags' = any ($5::text[]) then $12::text[]
          else "item"."dietary_tags"
        end,
        case
          when 'is_available' = any ($5::text[]) then $13::boolean
          or coalesce($14::timestamptz <= now(), false)
          when $14::timestamptz is not null then $14::timestamptz <= now()
          else "item"."is_available"
          or coalesce("item"."unavailable_until" <= now(), false)
        end,
        case
          when case
            when 'is_available' = any ($5::text[]) then $13::boolean
            or coalesce($14::timestamptz <= now(), false)
            when $14::timestamptz is not null then $14::timestamptz <= now()
            else "item"."is_available"
            or coalesce("item"."unavailable_until" <= now(), false)
          end then null
          when 'unavailable_until' = any ($5::text[]) then $14::timestamptz
          else case
            when not coalesce("item"."unavailable_until" <= now(), false) then "item"."unavailable_until"
          end
        end,
        case
          when 'sort_order' = any ($5::text[]) then $15::integer
          else "item"."sort_order"
        end,
        case
          when 'external_id' = any ($5::text[]) then $16::text
          else "item"."external_id"
        end,
        case
          when 'hours' = any ($5::text[]) then $17::jsonb
          else "item"."hours"
        end
      )
      and (
        not 'price' = any ($5::text[])
        or $9::numeric = "item"."price"
        or scale(trim_scale($9::numeric)) <= "terms"."decimals"
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
              "old"."external_id",
              "old"."hours"
            ) is distinct from (
              "new"."category_id",
              "new"."name",
              "new"."description",
              "new"."price",
              "new"."photo_url",
              "new"."allergens",
              "new"."dietary_tags",
              "new"."sort_order",
              "new"."external_id",
              "new"."hours"
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
              "new"."modifier_groups" as "modifier_groups",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              "new"."sort_order" as "sort_order",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "new"."external_id" as "external_id",
              "new"."hours" as "hours",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char(
                case
                  when not (
                    "new"."is_available"
                    or coalesce("new"."unavailable_until" <= now(), false)
                  ) then "new"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "new"."is_available"
                  or coalesce("new"."unavailable_until" <= now(), false)
                ) then "new"."unavailable_by"
              end as "unavailable_by",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      nullif(
        '{' || concat_ws(
          ',',
          case
            when ("old"."item_id")::text is distinct from ("new"."item_id")::text then '"item_id":' || coalesce(to_json("old"."item_id")::text, 'null')
          end,
          case
            when ("old"."category_id")::text is distinct from ("new"."category_id")::text then '"category_id":' || coalesce(to_json("old"."category_id")::text, 'null')
          end,
          case
            when ("old"."menu_id")::text is distinct from ("new"."menu_id")::text then '"menu_id":' || coalesce(to_json("old"."menu_id")::text, 'null')
          end,
          case
            when ("old"."name")::text is distinct from ("new"."name")::text then '"name":' || coalesce(to_json("old"."name")::text, 'null')
          end,
          case
            when ("old"."description")::text is distinct from ("new"."description")::text then '"description":' || coalesce(to_json("old"."description")::text, 'null')
          end,
          case
            when ("old"."price")::text is distinct from ("new"."price")::text then '"price":' || coalesce(to_json("old"."price")::text, 'null')
          end,
          case
            when ("old"."photo_url")::text is distinct from ("new"."photo_url")::text then '"photo_url":' || coalesce(to_json("old"."photo_url")::text, 'null')
          end,
          case
            when ("old"."allergens")::text is distinct from ("new"."allergens")::text then '"allergens":' || coalesce(to_json("old"."allergens")::text, 'null')
          end,
          case
            when ("old"."dietary_tags")::text is distinct from ("new"."dietary_tags")::text then '"dietary_tags":' || coalesce(to_json("old"."dietary_tags")::text, 'null')
          end,
          case
            when ("old"."modifier_groups")::text is distinct from ("new"."modifier_groups")::text then '"modifier_groups":' || coalesce(to_json("old"."modifier_groups")::text, 'null')
          end,
          case
            when (
              case
                when new.is_available then old.is_available
                else (
                  "old"."is_available"
                  or coalesce("old"."unavailable_until" <= now(), false)
                )
              end
            )::text is distinct from ("new"."is_available")::text then '"is_available":' || coalesce(
              to_json(
                case
                  when new.is_available then old.is_available
                  else (
                    "old"."is_available"
                    or coalesce("old"."unavailable_until" <= now(), false)
                  )
                end
              )::text,
              'null'
            )
          end,
          case
            when ("old"."sort_order")::text is distinct from ("new"."sort_order")::text then '"sort_order":' || coalesce(to_json("old"."sort_order")::text, 'null')
          end,
          case
            when ("old"."external_id")::text is distinct from ("new"."external_id")::text then '"external_id":' || coalesce(to_json("old"."external_id")::text, 'null')
          end,
          case
            when ("old"."hours")::text is distinct from ("new"."hours")::text then '"hours":' || coalesce(to_json("old"."hours")::text, 'null')
          end,
          case
            when (
              to_char(
                case
                  when new.is_available then old.unavailable_until
                  else case
                    when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                  end
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              )
            )::text is distinct from (to_char("new"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text then '"unavailable_until":' || coalesce(
              to_json(
                to_char(
                  case
                    when new.is_available then old.unavailable_until
                    else case
                      when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                    end
                  end at time zone 'UTC',
                  'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                )
              )::text,
              'null'
            )
          end
        ) || '}',
        '{}'
      )::json as "previous",
      '"' || "new"."version" || '-' || to_hex("new"."stamp") || case
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
              $21::text as "request_id"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1,
      stamp = $19::integer
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
-- $13 hours jsonb
-- $14 item_id bigint
-- $15 menu_id bigint
-- $16 account_id bigint
-- $17 location_ids bigint[]
select
  '"' || "item"."version" || '-' || to_hex("item"."stamp") || case
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
          "item"."modifier_groups" as "modifier_groups",
          (
            "item"."is_available"
            or coalesce("item"."unavailable_until" <= now(), false)
          ) as "is_available",
          "item"."sort_order" as "sort_order",
          to_char("item"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
          "item"."external_id" as "external_id",
          "item"."hours" as "hours",
          to_char(
            case
              when not coalesce("item"."unavailable_until" <= now(), false) then "item"."unavailable_until"
            end at time zone 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
          ) as "unavailable_until",
          to_char(
            case
              when not (
                "item"."is_available"
                or coalesce("item"."unavailable_until" <= now(), false)
              ) then "item"."unavailable_since"
            end at time zone 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
          ) as "unavailable_since",
          case
            when not (
              "item"."is_available"
              or coalesce("item"."unavailable_until" <= now(), false)
            ) then "item"."unavailable_by"
          end as "unavailable_by",
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
    "item"."external_id",
    "item"."hours"
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
      or coalesce($10::timestamptz <= now(), false)
      when $10::timestamptz is not null then $10::timestamptz <= now()
      else "item"."is_available"
      or coalesce("item"."unavailable_until" <= now(), false)
    end,
    case
      when case
        when 'is_available' = any ($1::text[]) then $9::boolean
        or coalesce($10::timestamptz <= now(), false)
        when $10::timestamptz is not null then $10::timestamptz <= now()
        else "item"."is_available"
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
    end,
    case
      when 'hours' = any ($1::text[]) then $13::jsonb
      else "item"."hours"
    end
  ) as "differs",
  (
    select
      "terms"."currency"
    from
      (
        select
          currency,
          case
            when "currency" = any ('{BIF,CLP,DJF,GNF,ISK,JPY,KMF,KRW,PYG,RWF,UGX,VND,VUV,XAF,XOF,XPF}') then 0
            when "currency" = any ('{BHD,IQD,JOD,KWD,LYD,OMR,TND}') then 3
            else 2
          end as decimals
        from
          location
        where
          (location_id, account_id) = (
            select
              location_id,
              account_id
            from
              "item"
            where
              (
                (
                  "item"."item_id" = $14::bigint
                  and "item"."menu_id" = $15::bigint
                )
                and (
                  "item"."account_id" = $16::bigint
                  and (
                    $17::bigint[] is null
                    or "item"."location_id" = any ($17::bigint[])
                  )
                )
              )
          )
        for key share
      ) as terms
    where
      not (
        not 'price' = any ($1::text[])
        or $5::numeric = "item"."price"
        or scale(trim_scale($5::numeric)) <= "terms"."decimals"
      )
  ) as "refused"
from
  "item"
where
  (
    (
      "item"."item_id" = $14::bigint
      and "item"."menu_id" = $15::bigint
    )
    and (
      "item"."account_id" = $16::bigint
      and (
        $17::bigint[] is null
        or "item"."location_id" = any ($17::bigint[])
      )
    )
  );

-- items.updateItems
-- $1 calls json
-- $2 menu_ids bigint[]
-- $3 account_id bigint
-- $4 location_ids bigint[]
-- $5 item_ids bigint[]
-- $6 stamp integer
with
  wanted as (
    select
      *
    from
      json_to_recordset($1::json) as wanted (
        place integer,
        item_id bigint,
        menu_id bigint,
        present text[],
        category_id bigint,
        name text,
        description text,
        price numeric,
        photo_url text,
        allergens text[],
        dietary_tags text[],
        is_available boolean,
        unavailable_until timestamptz,
        sort_order integer,
        external_id text,
        hours jsonb,
        client_id text,
        stamp integer,
        if_match text[],
        request_id text
      )
  ),
  locked_menus as materialized (
    select
      menu_id
    from
      menu
    where
      menu_id = any ($2::bigint[])
      and (
        "menu"."account_id" = $3::bigint
        and (
          $4::bigint[] is null
          or "menu"."location_id" = any ($4::bigint[])
        )
      )
    order by
      menu_id
    for no key update
      skip locked
  ),
  locked as materialized (
    select
      item_id,
      account_id,
      menu_id,
      location_id
    from
      item
    where
      item_id = any ($5::bigint[])
      and menu_id = any (
        array(
          select
            menu_id
          from
            locked_menus
        )
      )
      and (
        "item"."account_id" = $3::bigint
        and (
          $4::bigint[] is null
          or "item"."location_id" = any ($4::bigint[])
        )
      )
    order by
      item_id
    for no key update
      skip locked
  ),
  terms as materialized (
    select
      location_id,
      currency,
      case
        when "currency" = any ('{BIF,CLP,DJF,GNF,ISK,JPY,KMF,KRW,PYG,RWF,UGX,VND,VUV,XAF,XOF,XPF}') then 0
        when "currency" = any ('{BHD,IQD,JOD,KWD,LYD,OMR,TND}') then 3
        else 2
      end as decimals
    from
      location
    where
      location_id = any (
        array(
          select
            location_id
          from
            locked
        )
      )
      and account_id = $3::bigint
    for key share
      skip locked
  ),
call as materialized (
  select
    wanted.*,
    locked.account_id,
    location_id
  from
    wanted
    join locked using (item_id, menu_id)
    join terms using (location_id)
),
changed as (
  update item
  set
    "name" = case
      when 'name' = any ("call"."present") then "call"."name"
      else "item"."name"
    end,
    "description" = case
      when 'description' = any ("call"."present") then "call"."description"
      else "item"."description"
    end,
    "price" = case
      when 'price' = any ("call"."present")
      and "call"."price" <> "item"."price" then round("call"."price", terms.decimals)
      else "item"."price"
    end,
    "photo_url" = case
      when 'photo_url' = any ("call"."present") then "call"."photo_url"
      else "item"."photo_url"
    end,
    "allergens" = case
      when 'allergens' = any ("call"."present") then "call"."allergens"
      else "item"."allergens"
    end,
    "dietary_tags" = case
      when 'dietary_tags' = any ("call"."present") then "call"."dietary_tags"
      else "item"."dietary_tags"
    end,
    "is_available" = case
      when 'is_available' = any ("call"."present") then "call"."is_available"
      or coalesce("call"."unavailable_until" <= now(), false)
      when "call"."unavailable_until" is not null then "call"."unavailable_until" <= now()
      else "item"."is_available"
      or coalesce("item"."unavailable_until" <= now(), false)
    end,
    "unavailable_until" = case
      when case
        when 'is_available' = any ("call"."present") then "call"."is_available"
        or coalesce("call"."unavailable_until" <= now(), false)
        when "call"."unavailable_until" is not null then "call"."unavailable_until" <= now()
        else "item"."is_available"
        or coalesce("item"."unavailable_until" <= now(), false)
      end then null
      when 'unavailable_until' = any ("call"."present") then "call"."unavailable_until"
      else case
        when not coalesce("item"."unavailable_until" <= now(), false) then "item"."unavailable_until"
      end
    end,
    "sort_order" = case
      when 'sort_order' = any ("call"."present") then "call"."sort_order"
      else "item"."sort_order"
    end,
    "hours" = case
      when 'hours' = any ("call"."present") then "call"."hours"
      else "item"."hours"
    end,
    "unavailable_since" = case
      when not case
        when 'is_available' = any ("call"."present") then "call"."is_available"
        or coalesce("call"."unavailable_until" <= now(), false)
        when "call"."unavailable_until" is not null then "call"."unavailable_until" <= now()
        else "item"."is_available"
        or coalesce("item"."unavailable_until" <= now(), false)
      end then case
        when (
          "item"."is_available"
          or coalesce("item"."unavailable_until" <= now(), false)
        ) then clock_timestamp()
        else "item"."unavailable_since"
      end
    end,
    "unavailable_by" = case
      when not case
        when 'is_available' = any ("call"."present") then "call"."is_available"
        or coalesce("call"."unavailable_until" <= now(), false)
        when "call"."unavailable_until" is not null then "call"."unavailable_until" <= now()
        else "item"."is_available"
        or coalesce("item"."unavailable_until" <= now(), false)
      end then case
        when (
          "item"."is_available"
          or coalesce("item"."unavailable_until" <= now(), false)
        ) then "call"."client_id"
        else "item"."unavailable_by"
      end
    end,
    "searchable" = case
      when 'name' = any ("call"."present")
      or 'description' = any ("call"."present") then search_text (
        case
          when 'name' = any ("call"."present") then "call"."name"
          else "item"."name"
        end
      ) || e'\n' || search_text (
        case
          when 'description' = any ("call"."present") then "call"."description"
          else "item"."description"
        end
      )
      else "item"."searchable"
    end,
    "searchable_of" = case
      when 'name' = any ("call"."present")
      or 'description' = any ("call"."present") then hashtextextended (
        case
          when 'name' = any ("call"."present") then "call"."name"
          else "item"."name"
        end || e'\n' || case
          when 'description' = any ("call"."present") then "call"."description"
          else "item"."description"
        end,
        0
      )
      else "item"."searchable_of"
    end,
    "version" = "item"."version" + 1,
    "stamp" = "call"."stamp",
    "updated_at" = clock_timestamp()
  from
  call
  join terms using (location_id)
  where
    item.item_id = call.item_id
    and item.account_id = call.account_id
    and (
      "call"."if_match" is null
      or '"' || "item"."version" || '-' || to_hex("item"."stamp") || case
        when coalesce("item"."unavailable_until" <= now(), false) then '-restored'
        else ''
      end || '"' = any ("call"."if_match")
    )
    and (
      "item"."name",
      "item"."description",
      "item"."price",
      "item"."photo_url",
      "item"."allergens",
      "item"."dietary_tags",
      "item"."is_available",
      "item"."unavailable_until",
      "item"."sort_order",
      "item"."hours"
    ) is distinct from (
      case
        when 'name' = any ("call"."present") then "call"."name"
        else "item"."name"
      end,
      case
        when 'description' = any ("call"."present") then "call"."description"
        else "item"."description"
      end,
      case
        when 'price' = any ("call"."present") then "call"."price"
        else "item"."price"
      end,
      case
        when 'photo_url' = any ("call"."present") then "call"."photo_url"
        else "item"."photo_url"
      end,
      case
        when 'allergens' = any ("call"."present") then "call"."allergens"
        else "item"."allergens"
      end,
      case
        when 'dietary_tags' = any ("call"."present") then "call"."dietary_tags"
        else "item"."dietary_tags"
      end,
      case
        when 'is_available' = any ("call"."present") then "call"."is_available"
        or coalesce("call"."unavailable_until" <= now(), false)
        when "call"."unavailable_until" is not null then "call"."unavailable_until" <= now()
        else "item"."is_available"
        or coalesce("item"."unavailable_until" <= now(), false)
      end,
      case
        when case
          when 'is_available' = any ("call"."present") then "call"."is_available"
          or coalesce("call"."unavailable_until" <= now(), false)
          when "call"."unavailable_until" is not null then "call"."unavailable_until" <= now()
          else "item"."is_available"
          or coalesce("item"."unavailable_until" <= now(), false)
        end then null
        when 'unavailable_until' = any ("call"."present") then "call"."unavailable_until"
        else case
          when not coalesce("item"."unavailable_until" <= now(), false) then "item"."unavailable_until"
        end
      end,
      case
        when 'sort_order' = any ("call"."present") then "call"."sort_order"
        else "item"."sort_order"
      end,
      case
        when 'hours' = any ("call"."present") then "call"."hours"
        else "item"."hours"
      end
    )
    and (
      not 'price' = any ("call"."present")
      or "call"."price" = "item"."price"
      or scale(trim_scale("call"."price")) <= "terms"."decimals"
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
            "old"."external_id",
            "old"."hours"
          ) is distinct from (
            "new"."category_id",
            "new"."name",
            "new"."description",
            "new"."price",
            "new"."photo_url",
            "new"."allergens",
            "new"."dietary_tags",
            "new"."sort_order",
            "new"."external_id",
            "new"."hours"
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
            "new"."modifier_groups" as "modifier_groups",
            (
              "new"."is_available"
              or coalesce("new"."unavailable_until" <= now(), false)
            ) as "is_available",
            "new"."sort_order" as "sort_order",
            to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
            "new"."external_id" as "external_id",
            "new"."hours" as "hours",
            to_char(
              case
                when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
              end at time zone 'UTC',
              'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
            ) as "unavailable_until",
            to_char(
              case
                when not (
                  "new"."is_available"
                  or coalesce("new"."unavailable_until" <= now(), false)
                ) then "new"."unavailable_since"
              end at time zone 'UTC',
              'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
            ) as "unavailable_since",
            case
              when not (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) then "new"."unavailable_by"
            end as "unavailable_by",
            to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
            "new"."version" as "version"
        ) as fields
    ) as "resource",
    nullif(
      '{' || concat_ws(
        ',',
        case
          when ("old"."item_id")::text is distinct from ("new"."item_id")::text then '"item_id":' || coalesce(to_json("old"."item_id")::text, 'null')
        end,
        case
          when ("old"."category_id")::text is distinct from ("new"."category_id")::text then '"category_id":' || coalesce(to_json("old"."category_id")::text, 'null')
        end,
        case
          when ("old"."menu_id")::text is distinct from ("new"."menu_id")::text then '"menu_id":' || coalesce(to_json("old"."menu_id")::text, 'null')
        end,
        case
          when ("old"."name")::text is distinct from ("new"."name")::text then '"name":' || coalesce(to_json("old"."name")::text, 'null')
        end,
        case
          when ("old"."description")::text is distinct from ("new"."description")::text then '"description":' || coalesce(to_json("old"."description")::text, 'null')
        end,
        case
          when ("old"."price")::text is distinct from ("new"."price")::text then '"price":' || coalesce(to_json("old"."price")::text, 'null')
        end,
        case
          when ("old"."photo_url")::text is distinct from ("new"."photo_url")::text then '"photo_url":' || coalesce(to_json("old"."photo_url")::text, 'null')
        end,
        case
          when ("old"."allergens")::text is distinct from ("new"."allergens")::text then '"allergens":' || coalesce(to_json("old"."allergens")::text, 'null')
        end,
        case
          when ("old"."dietary_tags")::text is distinct from ("new"."dietary_tags")::text then '"dietary_tags":' || coalesce(to_json("old"."dietary_tags")::text, 'null')
        end,
        case
          when ("old"."modifier_groups")::text is distinct from ("new"."modifier_groups")::text then '"modifier_groups":' || coalesce(to_json("old"."modifier_groups")::text, 'null')
        end,
        case
          when (
            case
              when new.is_available then old.is_available
              else (
                "old"."is_available"
                or coalesce("old"."unavailable_until" <= now(), false)
              )
            end
          )::text is distinct from ("new"."is_available")::text then '"is_available":' || coalesce(
            to_json(
              case
                when new.is_available then old.is_available
                else (
                  "old"."is_available"
                  or coalesce("old"."unavailable_until" <= now(), false)
                )
              end
            )::text,
            'null'
          )
        end,
        case
          when ("old"."sort_order")::text is distinct from ("new"."sort_order")::text then '"sort_order":' || coalesce(to_json("old"."sort_order")::text, 'null')
        end,
        case
          when ("old"."external_id")::text is distinct from ("new"."external_id")::text then '"external_id":' || coalesce(to_json("old"."external_id")::text, 'null')
        end,
        case
          when ("old"."hours")::text is distinct from ("new"."hours")::text then '"hours":' || coalesce(to_json("old"."hours")::text, 'null')
        end,
        case
          when (
            to_char(
              case
                when new.is_available then old.unavailable_until
                else case
                  when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                end
              end at time zone 'UTC',
              'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
            )
          )::text is distinct from (to_char("new"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text then '"unavailable_until":' || coalesce(
            to_json(
              to_char(
                case
                  when new.is_available then old.unavailable_until
                  else case
                    when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                  end
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              )
            )::text,
            'null'
          )
        end
      ) || '}',
      '{}'
    )::json as "previous",
    '"' || "new"."version" || '-' || to_hex("new"."stamp") || case
      when coalesce("new"."unavailable_until" <= now(), false) then '-restored'
      else ''
    end || '"' as "etag",
    call.place,
    call.request_id
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
            "change"."request_id" as "request_id"
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
  returning
    account_id,
    event_id
),
to_relay as (
  insert into
    outbox (account_id, event_id)
  select
    account_id,
    event_id
  from
    recorded
),
touched as (
  update menu
  set
    content_version = content_version + touch.changes,
    stamp = $6::integer
  from
    (
      select
        menu_id,
        account_id,
        count(*) as changes
      from
        changed
      group by
        menu_id,
        account_id
    ) as touch
  where
    menu.menu_id = touch.menu_id
    and menu.account_id = touch.account_id
)
select
  place,
  etag,
  resource
from
  changed
union all
select
  place,
  null,
  null
from
call
where
  place <> all (
    array(
      select
        place
      from
        changed
    )
  );

-- items.updateItemsInMenu
-- $1 calls json
-- $2 menu_ids bigint[]
-- $3 account_id bigint
-- $4 location_ids bigint[]
-- $5 item_ids bigint[]
-- $6 stamp integer
with
  wanted as (
    select
      *
    from
      json_to_recordset($1::json) as wanted (
        place integer,
        item_id bigint,
        menu_id bigint,
        present text[],
        category_id bigint,
        name text,
        description text,
        price numeric,
        photo_url text,
        allergens text[],
        dietary_tags text[],
        is_available boolean,
        unavailable_until timestamptz,
        sort_order integer,
        external_id text,
        hours jsonb,
        client_id text,
        stamp integer,
        if_match text[],
        request_id text
      )
  ),
  locked_menus as materialized (
    select
      menu_id
    from
      menu
    where
      menu_id = any ($2::bigint[])
      and (
        "menu"."account_id" = $3::bigint
        and (
          $4::bigint[] is null
          or "menu"."location_id" = any ($4::bigint[])
        )
      )
    order by
      menu_id
    for no key update
  ),
  locked as materialized (
    select
      item_id,
      account_id,
      menu_id,
      location_id
    from
      item
    where
      item_id = any ($5::bigint[])
      and menu_id = any (
        array(
          select
            menu_id
          from
            locked_menus
        )
      )
      and (
        "item"."account_id" = $3::bigint
        and (
          $4::bigint[] is null
          or "item"."location_id" = any ($4::bigint[])
        )
      )
    order by
      item_id
    for no key update
      skip locked
  ),
  terms as materialized (
    select
      location_id,
      currency,
      case
        when "currency" = any ('{BIF,CLP,DJF,GNF,ISK,JPY,KMF,KRW,PYG,RWF,UGX,VND,VUV,XAF,XOF,XPF}') then 0
        when "currency" = any ('{BHD,IQD,JOD,KWD,LYD,OMR,TND}') then 3
        else 2
      end as decimals
    from
      location
    where
      location_id = any (
        array(
          select
            location_id
          from
            locked
        )
      )
      and account_id = $3::bigint
    for key share
      skip locked
  ),
call as materialized (
  select
    wanted.*,
    locked.account_id,
    location_id
  from
    wanted
    join locked using (item_id, menu_id)
    join terms using (location_id)
),
changed as (
  update item
  set
    "name" = case
      when 'name' = any ("call"."present") then "call"."name"
      else "item"."name"
    end,
    "description" = case
      when 'description' = any ("call"."present") then "call"."description"
      else "item"."description"
    end,
    "price" = case
      when 'price' = any ("call"."present")
      and "call"."price" <> "item"."price" then round("call"."price", terms.decimals)
      else "item"."price"
    end,
    "photo_url" = case
      when 'photo_url' = any ("call"."present") then "call"."photo_url"
      else "item"."photo_url"
    end,
    "allergens" = case
      when 'allergens' = any ("call"."present") then "call"."allergens"
      else "item"."allergens"
    end,
    "dietary_tags" = case
      when 'dietary_tags' = any ("call"."present") then "call"."dietary_tags"
      else "item"."dietary_tags"
    end,
    "is_available" = case
      when 'is_available' = any ("call"."present") then "call"."is_available"
      or coalesce("call"."unavailable_until" <= now(), false)
      when "call"."unavailable_until" is not null then "call"."unavailable_until" <= now()
      else "item"."is_available"
      or coalesce("item"."unavailable_until" <= now(), false)
    end,
    "unavailable_until" = case
      when case
        when 'is_available' = any ("call"."present") then "call"."is_available"
        or coalesce("call"."unavailable_until" <= now(), false)
        when "call"."unavailable_until" is not null then "call"."unavailable_until" <= now()
        else "item"."is_available"
        or coalesce("item"."unavailable_until" <= now(), false)
      end then null
      when 'unavailable_until' = any ("call"."present") then "call"."unavailable_until"
      else case
        when not coalesce("item"."unavailable_until" <= now(), false) then "item"."unavailable_until"
      end
    end,
    "sort_order" = case
      when 'sort_order' = any ("call"."present") then "call"."sort_order"
      else "item"."sort_order"
    end,
    "hours" = case
      when 'hours' = any ("call"."present") then "call"."hours"
      else "item"."hours"
    end,
    "unavailable_since" = case
      when not case
        when 'is_available' = any ("call"."present") then "call"."is_available"
        or coalesce("call"."unavailable_until" <= now(), false)
        when "call"."unavailable_until" is not null then "call"."unavailable_until" <= now()
        else "item"."is_available"
        or coalesce("item"."unavailable_until" <= now(), false)
      end then case
        when (
          "item"."is_available"
          or coalesce("item"."unavailable_until" <= now(), false)
        ) then clock_timestamp()
        else "item"."unavailable_since"
      end
    end,
    "unavailable_by" = case
      when not case
        when 'is_available' = any ("call"."present") then "call"."is_available"
        or coalesce("call"."unavailable_until" <= now(), false)
        when "call"."unavailable_until" is not null then "call"."unavailable_until" <= now()
        else "item"."is_available"
        or coalesce("item"."unavailable_until" <= now(), false)
      end then case
        when (
          "item"."is_available"
          or coalesce("item"."unavailable_until" <= now(), false)
        ) then "call"."client_id"
        else "item"."unavailable_by"
      end
    end,
    "searchable" = case
      when 'name' = any ("call"."present")
      or 'description' = any ("call"."present") then search_text (
        case
          when 'name' = any ("call"."present") then "call"."name"
          else "item"."name"
        end
      ) || e'\n' || search_text (
        case
          when 'description' = any ("call"."present") then "call"."description"
          else "item"."description"
        end
      )
      else "item"."searchable"
    end,
    "searchable_of" = case
      when 'name' = any ("call"."present")
      or 'description' = any ("call"."present") then hashtextextended (
        case
          when 'name' = any ("call"."present") then "call"."name"
          else "item"."name"
        end || e'\n' || case
          when 'description' = any ("call"."present") then "call"."description"
          else "item"."description"
        end,
        0
      )
      else "item"."searchable_of"
    end,
    "version" = "item"."version" + 1,
    "stamp" = "call"."stamp",
    "updated_at" = clock_timestamp()
  from
  call
  join terms using (location_id)
  where
    item.item_id = call.item_id
    and item.account_id = call.account_id
    and (
      "call"."if_match" is null
      or '"' || "item"."version" || '-' || to_hex("item"."stamp") || case
        when coalesce("item"."unavailable_until" <= now(), false) then '-restored'
        else ''
      end || '"' = any ("call"."if_match")
    )
    and (
      "item"."name",
      "item"."description",
      "item"."price",
      "item"."photo_url",
      "item"."allergens",
      "item"."dietary_tags",
      "item"."is_available",
      "item"."unavailable_until",
      "item"."sort_order",
      "item"."hours"
    ) is distinct from (
      case
        when 'name' = any ("call"."present") then "call"."name"
        else "item"."name"
      end,
      case
        when 'description' = any ("call"."present") then "call"."description"
        else "item"."description"
      end,
      case
        when 'price' = any ("call"."present") then "call"."price"
        else "item"."price"
      end,
      case
        when 'photo_url' = any ("call"."present") then "call"."photo_url"
        else "item"."photo_url"
      end,
      case
        when 'allergens' = any ("call"."present") then "call"."allergens"
        else "item"."allergens"
      end,
      case
        when 'dietary_tags' = any ("call"."present") then "call"."dietary_tags"
        else "item"."dietary_tags"
      end,
      case
        when 'is_available' = any ("call"."present") then "call"."is_available"
        or coalesce("call"."unavailable_until" <= now(), false)
        when "call"."unavailable_until" is not null then "call"."unavailable_until" <= now()
        else "item"."is_available"
        or coalesce("item"."unavailable_until" <= now(), false)
      end,
      case
        when case
          when 'is_available' = any ("call"."present") then "call"."is_available"
          or coalesce("call"."unavailable_until" <= now(), false)
          when "call"."unavailable_until" is not null then "call"."unavailable_until" <= now()
          else "item"."is_available"
          or coalesce("item"."unavailable_until" <= now(), false)
        end then null
        when 'unavailable_until' = any ("call"."present") then "call"."unavailable_until"
        else case
          when not coalesce("item"."unavailable_until" <= now(), false) then "item"."unavailable_until"
        end
      end,
      case
        when 'sort_order' = any ("call"."present") then "call"."sort_order"
        else "item"."sort_order"
      end,
      case
        when 'hours' = any ("call"."present") then "call"."hours"
        else "item"."hours"
      end
    )
    and (
      not 'price' = any ("call"."present")
      or "call"."price" = "item"."price"
      or scale(trim_scale("call"."price")) <= "terms"."decimals"
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
            "old"."external_id",
            "old"."hours"
          ) is distinct from (
            "new"."category_id",
            "new"."name",
            "new"."description",
            "new"."price",
            "new"."photo_url",
            "new"."allergens",
            "new"."dietary_tags",
            "new"."sort_order",
            "new"."external_id",
            "new"."hours"
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
            "new"."modifier_groups" as "modifier_groups",
            (
              "new"."is_available"
              or coalesce("new"."unavailable_until" <= now(), false)
            ) as "is_available",
            "new"."sort_order" as "sort_order",
            to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
            "new"."external_id" as "external_id",
            "new"."hours" as "hours",
            to_char(
              case
                when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
              end at time zone 'UTC',
              'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
            ) as "unavailable_until",
            to_char(
              case
                when not (
                  "new"."is_available"
                  or coalesce("new"."unavailable_until" <= now(), false)
                ) then "new"."unavailable_since"
              end at time zone 'UTC',
              'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
            ) as "unavailable_since",
            case
              when not (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) then "new"."unavailable_by"
            end as "unavailable_by",
            to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
            "new"."version" as "version"
        ) as fields
    ) as "resource",
    nullif(
      '{' || concat_ws(
        ',',
        case
          when ("old"."item_id")::text is distinct from ("new"."item_id")::text then '"item_id":' || coalesce(to_json("old"."item_id")::text, 'null')
        end,
        case
          when ("old"."category_id")::text is distinct from ("new"."category_id")::text then '"category_id":' || coalesce(to_json("old"."category_id")::text, 'null')
        end,
        case
          when ("old"."menu_id")::text is distinct from ("new"."menu_id")::text then '"menu_id":' || coalesce(to_json("old"."menu_id")::text, 'null')
        end,
        case
          when ("old"."name")::text is distinct from ("new"."name")::text then '"name":' || coalesce(to_json("old"."name")::text, 'null')
        end,
        case
          when ("old"."description")::text is distinct from ("new"."description")::text then '"description":' || coalesce(to_json("old"."description")::text, 'null')
        end,
        case
          when ("old"."price")::text is distinct from ("new"."price")::text then '"price":' || coalesce(to_json("old"."price")::text, 'null')
        end,
        case
          when ("old"."photo_url")::text is distinct from ("new"."photo_url")::text then '"photo_url":' || coalesce(to_json("old"."photo_url")::text, 'null')
        end,
        case
          when ("old"."allergens")::text is distinct from ("new"."allergens")::text then '"allergens":' || coalesce(to_json("old"."allergens")::text, 'null')
        end,
        case
          when ("old"."dietary_tags")::text is distinct from ("new"."dietary_tags")::text then '"dietary_tags":' || coalesce(to_json("old"."dietary_tags")::text, 'null')
        end,
        case
          when ("old"."modifier_groups")::text is distinct from ("new"."modifier_groups")::text then '"modifier_groups":' || coalesce(to_json("old"."modifier_groups")::text, 'null')
        end,
        case
          when (
            case
              when new.is_available then old.is_available
              else (
                "old"."is_available"
                or coalesce("old"."unavailable_until" <= now(), false)
              )
            end
          )::text is distinct from ("new"."is_available")::text then '"is_available":' || coalesce(
            to_json(
              case
                when new.is_available then old.is_available
                else (
                  "old"."is_available"
                  or coalesce("old"."unavailable_until" <= now(), false)
                )
              end
            )::text,
            'null'
          )
        end,
        case
          when ("old"."sort_order")::text is distinct from ("new"."sort_order")::text then '"sort_order":' || coalesce(to_json("old"."sort_order")::text, 'null')
        end,
        case
          when ("old"."external_id")::text is distinct from ("new"."external_id")::text then '"external_id":' || coalesce(to_json("old"."external_id")::text, 'null')
        end,
        case
          when ("old"."hours")::text is distinct from ("new"."hours")::text then '"hours":' || coalesce(to_json("old"."hours")::text, 'null')
        end,
        case
          when (
            to_char(
              case
                when new.is_available then old.unavailable_until
                else case
                  when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                end
              end at time zone 'UTC',
              'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
            )
          )::text is distinct from (to_char("new"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text then '"unavailable_until":' || coalesce(
            to_json(
              to_char(
                case
                  when new.is_available then old.unavailable_until
                  else case
                    when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                  end
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              )
            )::text,
            'null'
          )
        end
      ) || '}',
      '{}'
    )::json as "previous",
    '"' || "new"."version" || '-' || to_hex("new"."stamp") || case
      when coalesce("new"."unavailable_until" <= now(), false) then '-restored'
      else ''
    end || '"' as "etag",
    call.place,
    call.request_id
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
            "change"."request_id" as "request_id"
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
  returning
    account_id,
    event_id
),
to_relay as (
  insert into
    outbox (account_id, event_id)
  select
    account_id,
    event_id
  from
    recorded
),
touched as (
  update menu
  set
    content_version = content_version + touch.changes,
    stamp = $6::integer
  from
    (
      select
        menu_id,
        account_id,
        count(*) as changes
      from
        changed
      group by
        menu_id,
        account_id
    ) as touch
  where
    menu.menu_id = touch.menu_id
    and menu.account_id = touch.account_id
)
select
  place,
  etag,
  resource
from
  changed
union all
select
  place,
  null,
  null
from
call
where
  place <> all (
    array(
      select
        place
      from
        changed
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
-- $8 hours jsonb
-- $9 request_id text
-- $10 stamp integer
with
  changed as (
    insert into
      "location" ("account_id", "name", "address", "phone", "timezone", "currency", "external_id", "hours")
    values
      ($1::bigint, $2::text, $3::jsonb, $4::text, $5::text, $6::text, $7::text, $8::jsonb)
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
              "new"."hours" as "hours",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      null::json as "previous",
      "location_id" as "id",
      '"' || "new"."version" || '-' || to_hex("new"."stamp") || '"' as "etag"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1,
      stamp = $10::integer
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
-- $6 stamp integer
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
        or '"' || "location"."version" || '-' || to_hex("location"."stamp") || '"' = any ($4::text[])
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
              "old"."hours" as "hours",
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1,
      stamp = $6::integer
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
  '"' || "location"."version" || '-' || to_hex("location"."stamp") || '"' as "etag",
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
          "location"."hours" as "hours",
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
-- $4 updated_since timestamptz
-- $5 limit bigint
-- Conditions that are there when given: updated_since
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
          "location"."hours" as "hours",
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
  and updated_at >= $4::timestamptz
order by
  "location_id"
limit
  $5::bigint;

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
-- $8 hours jsonb
-- $9 stamp integer
-- $10 location_id bigint
-- $11 account_id bigint
-- $12 location_ids bigint[]
-- $13 if_match text[]
-- $14 request_id text
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
      "hours" = case
        when 'hours' = any ($1::text[]) then $8::jsonb
        else "location"."hours"
      end,
      "version" = "location"."version" + 1,
      "stamp" = $9::integer,
      "updated_at" = clock_timestamp()
    where
      (
        ("location"."location_id" = $10::bigint)
        and (
          "location"."account_id" = $11::bigint
          and (
            $12::bigint[] is null
            or "location"."location_id" = any ($12::bigint[])
          )
        )
      )
      and (
        $13::text[] is null
        or '"' || "location"."version" || '-' || to_hex("location"."stamp") || '"' = any ($13::text[])
      )
      and (
        "location"."name",
        "location"."address",
        "location"."phone",
        "location"."timezone",
        "location"."currency",
        "location"."external_id",
        "location"."hours"
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
        end,
        case
          when 'hours' = any ($1::text[]) then $8::jsonb
          else "location"."hours"
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
              "new"."hours" as "hours",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      nullif(
        '{' || concat_ws(
          ',',
          case
            when ("old"."location_id")::text is distinct from ("new"."location_id")::text then '"location_id":' || coalesce(to_json("old"."location_id")::text, 'null')
          end,
          case
            when ("old"."name")::text is distinct from ("new"."name")::text then '"name":' || coalesce(to_json("old"."name")::text, 'null')
          end,
          case
            when ("old"."address")::text is distinct from ("new"."address")::text then '"address":' || coalesce(to_json("old"."address")::text, 'null')
          end,
          case
            when ("old"."phone")::text is distinct from ("new"."phone")::text then '"phone":' || coalesce(to_json("old"."phone")::text, 'null')
          end,
          case
            when ("old"."timezone")::text is distinct from ("new"."timezone")::text then '"timezone":' || coalesce(to_json("old"."timezone")::text, 'null')
          end,
          case
            when ("old"."currency")::text is distinct from ("new"."currency")::text then '"currency":' || coalesce(to_json("old"."currency")::text, 'null')
          end,
          case
            when ("old"."external_id")::text is distinct from ("new"."external_id")::text then '"external_id":' || coalesce(to_json("old"."external_id")::text, 'null')
          end,
          case
            when ("old"."hours")::text is distinct from ("new"."hours")::text then '"hours":' || coalesce(to_json("old"."hours")::text, 'null')
          end
        ) || '}',
        '{}'
      )::json as "previous",
      '"' || "new"."version" || '-' || to_hex("new"."stamp") || '"' as "etag"
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
              $14::text as "request_id"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1,
      stamp = $9::integer
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

-- locations.updateLocation.countFinerPrices
-- $1 account_id bigint
-- $2 location_id bigint
-- $3 location_ids bigint[]
-- $4 currency text
-- $5 decimals integer
select
  (
    select
      count(*)
    from
      "item" as priced
    where
      priced.account_id = $1::bigint
      and "menu_id" = any (
        array(
          select
            "menu_id"
          from
            location
            join "menu" using (account_id, location_id)
          where
            (
              ("location"."location_id" = $2::bigint)
              and (
                "location"."account_id" = $1::bigint
                and (
                  $3::bigint[] is null
                  or "location"."location_id" = any ($3::bigint[])
                )
              )
            )
            and currency <> $4::text
        )
      )
      and not scale(trim_scale("price")) <= $5::integer
  ) as items,
  (
    select
      count(*)
    from
      "modifier" as priced
    where
      priced.account_id = $1::bigint
      and "modifier_group_id" = any (
        array(
          select
            "modifier_group_id"
          from
            location
            join "modifier_group" using (account_id, location_id)
          where
            (
              ("location"."location_id" = $2::bigint)
              and (
                "location"."account_id" = $1::bigint
                and (
                  $3::bigint[] is null
                  or "location"."location_id" = any ($3::bigint[])
                )
              )
            )
            and currency <> $4::text
        )
      )
      and not scale(trim_scale("price")) <= $5::integer
  ) as modifiers;

-- locations.updateLocation.current
-- $1 present text[]
-- $2 name text
-- $3 address jsonb
-- $4 phone text
-- $5 timezone text
-- $6 currency text
-- $7 external_id text
-- $8 hours jsonb
-- $9 location_id bigint
-- $10 account_id bigint
-- $11 location_ids bigint[]
select
  '"' || "location"."version" || '-' || to_hex("location"."stamp") || '"' as "etag",
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
          "location"."hours" as "hours",
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
    "location"."external_id",
    "location"."hours"
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
    end,
    case
      when 'hours' = any ($1::text[]) then $8::jsonb
      else "location"."hours"
    end
  ) as "differs",
  null as "refused"
from
  "location"
where
  (
    ("location"."location_id" = $9::bigint)
    and (
      "location"."account_id" = $10::bigint
      and (
        $11::bigint[] is null
        or "location"."location_id" = any ($11::bigint[])
      )
    )
  );

-- locations.updateLocation.holdCurrency
-- $1 location_id bigint
-- $2 account_id bigint
-- $3 location_ids bigint[]
select
  "currency"
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
for update;

-- menus.createMenu
-- $1 location_id bigint
-- $2 account_id bigint
-- $3 location_ids bigint[]
-- $4 name text
-- $5 description text
-- $6 is_active boolean
-- $7 external_id text
-- $8 hours jsonb
-- $9 sort_order integer
-- $10 request_id text
with
  changed as (
    insert into
      "menu" (
        "account_id",
        "location_id",
        "name",
        "description",
        "is_active",
        "external_id",
        "hours",
        "sort_order"
      )
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
      $8::jsonb,
      coalesce(
        $9::integer,
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
              "new"."hours" as "hours",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      null::json as "previous",
      "menu"."menu_id" as "id",
      '"' || "new"."content_version" || '-' || to_hex("new"."stamp") || '-' || (
        select
          count(*)
        from
          item
        where
          item.menu_id = "new"."menu_id"
          and item.unavailable_until <= now()
      ) || coalesce(
        '-' || (
          select
            md5(
              string_agg(
                modifier.modifier_id::text,
                ' '
                order by
                  modifier.modifier_id
              )
            )
          from
            modifier
            join modifier_group using (modifier_group_id, account_id)
          where
            modifier.account_id = "new"."account_id"
            and modifier.location_id = "new"."location_id"
            and modifier.unavailable_until <= now()
            and "new"."menu_id" = any (modifier_group.menu_ids)
        ),
        ''
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
              $10::text as "request_id"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
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
            or '"' || "menu"."content_version" || '-' || to_hex("menu"."stamp") || '-' || (
              select
                count(*)
              from
                item
              where
                item.menu_id = "menu"."menu_id"
                and item.unavailable_until <= now()
            ) || coalesce(
              '-' || (
                select
                  md5(
                    string_agg(
                      modifier.modifier_id::text,
                      ' '
                      order by
                        modifier.modifier_id
                    )
                  )
                from
                  modifier
                  join modifier_group using (modifier_group_id, account_id)
                where
                  modifier.account_id = "menu"."account_id"
                  and modifier.location_id = "menu"."location_id"
                  and modifier.unavailable_until <= now()
                  and "menu"."menu_id" = any (modifier_group.menu_ids)
              ),
              ''
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
              "old"."modifier_groups" as "modifier_groups",
              (
                "old"."is_available"
                or coalesce("old"."unavailable_until" <= now(), false)
              ) as "is_available",
              "old"."sort_order" as "sort_order",
              to_char("old"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "old"."external_id" as "external_id",
              "old"."hours" as "hours",
              to_char(
                case
                  when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char(
                case
                  when not (
                    "old"."is_available"
                    or coalesce("old"."unavailable_until" <= now(), false)
                  ) then "old"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "old"."is_available"
                  or coalesce("old"."unavailable_until" <= now(), false)
                ) then "old"."unavailable_by"
              end as "unavailable_by",
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
            or '"' || "menu"."content_version" || '-' || to_hex("menu"."stamp") || '-' || (
              select
                count(*)
              from
                item
              where
                item.menu_id = "menu"."menu_id"
                and item.unavailable_until <= now()
            ) || coalesce(
              '-' || (
                select
                  md5(
                    string_agg(
                      modifier.modifier_id::text,
                      ' '
                      order by
                        modifier.modifier_id
                    )
                  )
                from
                  modifier
                  join modifier_group using (modifier_group_id, account_id)
                where
                  modifier.account_id = "menu"."account_id"
                  and modifier.location_id = "menu"."location_id"
                  and modifier.unavailable_until <= now()
                  and "menu"."menu_id" = any (modifier_group.menu_ids)
              ),
              ''
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
              "old"."hours" as "hours",
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
        or '"' || "menu"."content_version" || '-' || to_hex("menu"."stamp") || '-' || (
          select
            count(*)
          from
            item
          where
            item.menu_id = "menu"."menu_id"
            and item.unavailable_until <= now()
        ) || coalesce(
          '-' || (
            select
              md5(
                string_agg(
                  modifier.modifier_id::text,
                  ' '
                  order by
                    modifier.modifier_id
                )
              )
            from
              modifier
              join modifier_group using (modifier_group_id, account_id)
            where
              modifier.account_id = "menu"."account_id"
              and modifier.location_id = "menu"."location_id"
              and modifier.unavailable_until <= now()
              and "menu"."menu_id" = any (modifier_group.menu_ids)
          ),
          ''
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
              "old"."hours" as "hours",
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
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

-- menus.getAvailability.rules
-- $1 menu_id bigint
select
  "menu"."content_version" || '-' || to_hex("menu"."stamp") || '-' || (
    select
      "location"."version" || '-' || to_hex("location"."stamp")
    from
      location
    where
      location.location_id = menu.location_id
      and location.account_id = menu.account_id
  ) || coalesce(
    '-' || (
      select
        md5(
          string_agg(
            modifier.modifier_id || coalesce('-' || "stood"."version" || '-' || to_hex("stood"."stamp"), ''),
            ' '
            order by
              modifier.modifier_id
          )
        )
      from
        modifier
        cross join lateral (
          select
            menu_ids
          from
            modifier_group
          where
            modifier_group.modifier_group_id = modifier.modifier_group_id
            and modifier_group.account_id = modifier.account_id
          limit
            1
        ) as shown
        left join lateral (
          select
            is_available,
            version,
            stamp
          from
            item
          where
            item.item_id = modifier.item_id
            and item.account_id = modifier.account_id
          limit
            1
        ) as stood on true
      where
        modifier.account_id = menu.account_id
        and modifier.location_id = menu.location_id
        and modifier.item_id is not null
        and menu.menu_id = any (shown.menu_ids)
        and stood.is_available is not true
    ),
    ''
  ) as "etag",
  (
    select
      to_json(fields)
    from
      (
        select
          menu.menu_id as "menu_id",
          location.timezone as "timezone",
          menu.is_active as "is_active",
          location.hours as "location_hours",
          menu.hours as "menu_hours"
      ) as fields
  ) as "rules",
  (
    select
      string_agg(
        json_build_array("category_id", hours)::text,
        e'\n'
        order by
          "category_id"
      )
    from
      category
    where
      category.menu_id = menu.menu_id
      and hours is not null
  ) as "category_hours",
  (
    select
      string_agg(
        json_build_array(
          "item_id",
          category_id,
          hours,
          case
            when not "item"."is_available" then json_build_object(
              'until',
              floor(
                extract(
                  epoch
                  from
                    "item"."unavailable_until"
                ) * 1000
              ),
              'since',
              to_char("item"."unavailable_since" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
              'by',
              "item"."unavailable_by"
            )
          end,
          modifier_groups
        )::text,
        e'\n'
        order by
          "item_id"
      )
    from
      item
    where
      item.menu_id = menu.menu_id
  ) as "items",
  (
    select
      string_agg(
        json_build_array(
          "modifier_group_id",
          min_selections,
          max_per_modifier,
          (
            select
              coalesce(
                json_agg(
                  json_build_array(
                    modifier_id,
                    case
                      when not "modifier"."is_available" then json_build_object(
                        'until',
                        floor(
                          extract(
                            epoch
                            from
                              "modifier"."unavailable_until"
                          ) * 1000
                        ),
                        'since',
                        to_char("modifier"."unavailable_since" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                        'by',
                        "modifier"."unavailable_by"
                      )
                    end,
                    case
                      when modifier.item_id is not null then coalesce(
                        (
                          select
                            coalesce(
                              case
                                when not "stood"."is_available" then json_build_object(
                                  'until',
                                  floor(
                                    extract(
                                      epoch
                                      from
                                        "stood"."unavailable_until"
                                    ) * 1000
                                  ),
                                  'since',
                                  to_char("stood"."unavailable_since" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                                  'by',
                                  "stood"."unavailable_by"
                                )
                              end,
                              'null'
                            )
                          from
                            item as stood
                          where
                            stood.item_id = modifier.item_id
                            and stood.account_id = modifier.account_id
                        ),
                        json_build_object('until', null, 'since', null, 'by', null)
                      )
                    end,
                    modifier_groups
                  )
                ),
                '[]'
              )
            from
              modifier
            where
              modifier.modifier_group_id = modifier_group.modifier_group_id
              and modifier.account_id = modifier_group.account_id
          )
        )::text,
        e'\n'
        order by
          "modifier_group_id"
      )
    from
      (
        with recursive
          reached (modifier_group_id) as (
            select
              modifier_group_id
            from
              modifier_group_use as used
            where
              used.account_id = menu.account_id
              and used.menu_id = menu.menu_id
            union
            select
              used.modifier_group_id
            from
              reached
              join modifier_group_use as used on used.account_id = menu.account_id
              and used.user_group_id = reached.modifier_group_id
          )
        select
          modifier_group.*
        from
          reached
          cross join lateral (
            select
              *
            from
              modifier_group
            where
              modifier_group.modifier_group_id = reached.modifier_group_id
              and modifier_group.account_id = menu.account_id
            limit
              1
          ) as modifier_group
      ) as modifier_group
  ) as "modifier_groups"
from
  "menu"
  inner join "location" on "location"."location_id" = "menu"."location_id"
  and "location"."account_id" = "menu"."account_id"
where
  ("menu"."menu_id" = $1::bigint);

-- menus.getAvailability.tag
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
  "menu"."content_version" || '-' || to_hex("menu"."stamp") || '-' || (
    select
      "location"."version" || '-' || to_hex("location"."stamp")
    from
      location
    where
      location.location_id = menu.location_id
      and location.account_id = menu.account_id
  ) || coalesce(
    '-' || (
      select
        md5(
          string_agg(
            modifier.modifier_id || coalesce('-' || "stood"."version" || '-' || to_hex("stood"."stamp"), ''),
            ' '
            order by
              modifier.modifier_id
          )
        )
      from
        modifier
        cross join lateral (
          select
            menu_ids
          from
            modifier_group
          where
            modifier_group.modifier_group_id = modifier.modifier_group_id
            and modifier_group.account_id = modifier.account_id
          limit
            1
        ) as shown
        left join lateral (
          select
            is_available,
            version,
            stamp
          from
            item
          where
            item.item_id = modifier.item_id
            and item.account_id = modifier.account_id
          limit
            1
        ) as stood on true
      where
        modifier.account_id = menu.account_id
        and modifier.location_id = menu.location_id
        and modifier.item_id is not null
        and menu.menu_id = any (shown.menu_ids)
        and stood.is_available is not true
    ),
    ''
  ) as "etag",
  floor(
    extract(
      epoch
      from
        now()
    ) * 1000
  ) as "now"
from
  "menu"
where
  ("menu"."menu_id" = $3::bigint);

-- menus.getAvailability.tag.several
-- $1 ids bigint[]
-- $2 account_id bigint
-- $3 location_ids bigint[]
select
  found.*
from
  unnest(
    (
      select
        $1::bigint[]
    )::bigint[]
  ) as wanted (id)
  cross join lateral (
    select
      (
        "menu"."account_id" = $2::bigint
        and (
          $3::bigint[] is null
          or "menu"."location_id" = any ($3::bigint[])
        )
      ) as "within_reach",
      "menu"."content_version" || '-' || to_hex("menu"."stamp") || '-' || (
        select
          "location"."version" || '-' || to_hex("location"."stamp")
        from
          location
        where
          location.location_id = menu.location_id
          and location.account_id = menu.account_id
      ) || coalesce(
        '-' || (
          select
            md5(
              string_agg(
                modifier.modifier_id || coalesce('-' || "stood"."version" || '-' || to_hex("stood"."stamp"), ''),
                ' '
                order by
                  modifier.modifier_id
              )
            )
          from
            modifier
            cross join lateral (
              select
                menu_ids
              from
                modifier_group
              where
                modifier_group.modifier_group_id = modifier.modifier_group_id
                and modifier_group.account_id = modifier.account_id
              limit
                1
            ) as shown
            left join lateral (
              select
                is_available,
                version,
                stamp
              from
                item
              where
                item.item_id = modifier.item_id
                and item.account_id = modifier.account_id
              limit
                1
            ) as stood on true
          where
            modifier.account_id = menu.account_id
            and modifier.location_id = menu.location_id
            and modifier.item_id is not null
            and menu.menu_id = any (shown.menu_ids)
            and stood.is_available is not true
        ),
        ''
      ) as "etag",
      floor(
        extract(
          epoch
          from
            now()
        ) * 1000
      ) as "now",
      "menu"."menu_id"
    from
      "menu"
    where
      "menu"."menu_id" = wanted.id
    limit
      1
  ) as found;

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
              "old"."hours" as "hours",
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
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
              "old"."modifier_groups" as "modifier_groups",
              (
                "old"."is_available"
                or coalesce("old"."unavailable_until" <= now(), false)
              ) as "is_available",
              "old"."sort_order" as "sort_order",
              to_char("old"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "old"."external_id" as "external_id",
              "old"."hours" as "hours",
              to_char(
                case
                  when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char(
                case
                  when not (
                    "old"."is_available"
                    or coalesce("old"."unavailable_until" <= now(), false)
                  ) then "old"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "old"."is_available"
                  or coalesce("old"."unavailable_until" <= now(), false)
                ) then "old"."unavailable_by"
              end as "unavailable_by",
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  )
select
  "record"
from
  changed;

-- menus.importMenu.deleteModifiers
-- $1 ids bigint[]
-- $2 account_id bigint
-- $3 request_id text
-- $4 stamp integer
with
  changed as (
    delete from "modifier"
    where
      "modifier_id" = any ($1::bigint[])
      and account_id = $2::bigint
    returning
      "old"."account_id" as "account_id",
      "old"."location_id" as "location_id",
      null::bigint as "menu_id",
      'modifier:' || "old"."modifier_id" as "record",
      array['modifier.deleted'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "old"."modifier_id" as "modifier_id",
              "old"."modifier_group_id" as "modifier_group_id",
              "old"."location_id" as "location_id",
              "old"."name" as "name",
              "old"."description" as "description",
              "old"."price" as "price",
              (
                "old"."is_available"
                or coalesce("old"."unavailable_until" <= now(), false)
              ) as "is_available",
              to_char(
                case
                  when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              "old"."default_quantity" as "default_quantity",
              "old"."item_id" as "item_id",
              "old"."allergens" as "allergens",
              "old"."dietary_tags" as "dietary_tags",
              "old"."sort_order" as "sort_order",
              "old"."external_id" as "external_id",
              to_char(
                case
                  when not (
                    "old"."is_available"
                    or coalesce("old"."unavailable_until" <= now(), false)
                  ) then "old"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "old"."is_available"
                  or coalesce("old"."unavailable_until" <= now(), false)
                ) then "old"."unavailable_by"
              end as "unavailable_by",
              to_char("old"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("old"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "old"."version" as "version",
              "old"."modifier_groups" as "modifier_groups"
          ) as fields
      ) as "resource",
      null::json as "previous",
      "old"."modifier_group_id" as "modifier_group_id"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  locked_groups as (
    select
      modifier_group_id,
      account_id
    from
      modifier_group
    where
      modifier_group_id = any (
        array(
          select
            modifier_group_id
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
    order by
      modifier_group_id
    for no key update
  ),
  touched_groups as (
    update modifier_group
    set
      content_version = content_version + 1,
      stamp = $4::integer
    where
      modifier_group_id = any (
        array(
          select
            modifier_group_id
          from
            locked_groups
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            locked_groups
        )
      )
    returning
      account_id,
      menu_ids
  ),
  locked_menus as (
    select
      menu_id,
      account_id
    from
      menu
    where
      menu_id = any (
        array(
          select
            unnest(menu_ids)
          from
            touched_groups
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            touched_groups
        )
      )
    order by
      menu_id
    for no key update
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1,
      stamp = $4::integer
    where
      menu_id = any (
        array(
          select
            menu_id
          from
            locked_menus
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            locked_menus
        )
      )
  )
select
  "record"
from
  changed;

-- menus.importMenu.holdCurrency
-- $1 menu_id bigint
select
  currency,
  case
    when "currency" = any ('{BIF,CLP,DJF,GNF,ISK,JPY,KMF,KRW,PYG,RWF,UGX,VND,VUV,XAF,XOF,XPF}') then 0
    when "currency" = any ('{BHD,IQD,JOD,KWD,LYD,OMR,TND}') then 3
    else 2
  end as decimals
from
  location
where
  (location_id, account_id) = (
    select
      location_id,
      account_id
    from
      menu
    where
      ("menu"."menu_id" = $1::bigint)
  )
for key share;

-- menus.importMenu.insertCategories
-- $1 account_id bigint
-- $2 location_id bigint
-- $3 menu_id bigint
-- $4 rows json
-- $5 request_id text
with
  changed as (
    insert into
      "category" ("account_id", "location_id", "menu_id", "external_id", "name", "description", "sort_order", "hours")
    select
      $1::bigint,
      $2::bigint,
      $3::bigint,
      "external_id",
      "name",
      "description",
      "sort_order",
      "hours"
    from
      json_to_recordset($4::json) as wanted (
        "category_id" bigint,
        "external_id" text,
        "name" text,
        "description" text,
        "sort_order" integer,
        "hours" jsonb
      )
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
              "new"."hours" as "hours",
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  )
select
  "id",
  "external_id"
from
  changed;

-- menus.importMenu.insertGroups
-- $1 account_id bigint
-- $2 location_id bigint
-- $3 rows json
-- $4 request_id text
with
  changed as (
    insert into
      "modifier_group" (
        "account_id",
        "location_id",
        "name",
        "description",
        "min_selections",
        "max_selections",
        "max_per_modifier",
        "free_selections",
        "external_id"
      )
    select
      $1::bigint,
      $2::bigint,
      "name",
      "description",
      "min_selections",
      "max_selections",
      "max_per_modifier",
      "free_selections",
      "external_id"
    from
      json_to_recordset($3::json) as wanted (
        "modifier_group_id" bigint,
        "name" text,
        "description" text,
        "min_selections" integer,
        "max_selections" integer,
        "max_per_modifier" integer,
        "free_selections" integer,
        "external_id" text
      )
    returning
      "new"."account_id" as "account_id",
      "new"."location_id" as "location_id",
      null::bigint as "menu_id",
      'modifier_group:' || "new"."modifier_group_id" as "record",
      array['modifier_group.created'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "new"."modifier_group_id" as "modifier_group_id",
              "new"."location_id" as "location_id",
              "new"."name" as "name",
              "new"."description" as "description",
              "new"."min_selections" as "min_selections",
              "new"."max_selections" as "max_selections",
              "new"."max_per_modifier" as "max_per_modifier",
              "new"."free_selections" as "free_selections",
              "new"."external_id" as "external_id",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      null::json as "previous",
      "new"."menu_ids" as "menu_ids",
      "modifier_group"."modifier_group_id" as "id",
      "modifier_group"."external_id" as "external_id"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
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
-- $4 client_id text
-- $5 rows json
-- $6 request_id text
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
        "sort_order",
        "external_id",
        "hours",
        "modifier_groups",
        "searchable",
        "searchable_of",
        "unavailable_since",
        "unavailable_by"
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
      "external_id",
      "hours",
      "modifier_groups",
      search_text ("wanted"."name") || e'\n' || search_text ("wanted"."description"),
      hashtextextended ("wanted"."name" || e'\n' || "wanted"."description", 0),
      case
        when not is_available then clock_timestamp()
      end,
      case
        when not is_available then $4::text
      end
    from
      json_to_recordset($5::json) as wanted (
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
        "external_id" text,
        "hours" jsonb,
        "modifier_groups" json
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
              "new"."modifier_groups" as "modifier_groups",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              "new"."sort_order" as "sort_order",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "new"."external_id" as "external_id",
              "new"."hours" as "hours",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char(
                case
                  when not (
                    "new"."is_available"
                    or coalesce("new"."unavailable_until" <= now(), false)
                  ) then "new"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "new"."is_available"
                  or coalesce("new"."unavailable_until" <= now(), false)
                ) then "new"."unavailable_by"
              end as "unavailable_by",
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  )
select
  "id",
  "external_id"
from
  changed;

-- menus.importMenu.insertModifiers
-- $1 account_id bigint
-- $2 location_id bigint
-- $3 client_id text
-- $4 rows json
-- $5 request_id text
-- $6 stamp integer
with
  changed as (
    insert into
      "modifier" (
        "account_id",
        "location_id",
        "name",
        "description",
        "price",
        "is_available",
        "unavailable_until",
        "default_quantity",
        "item_id",
        "allergens",
        "dietary_tags",
        "sort_order",
        "external_id",
        "modifier_group_id",
        "modifier_groups",
        "unavailable_since",
        "unavailable_by"
      )
    select
      $1::bigint,
      $2::bigint,
      "name",
      "description",
      "price",
      "is_available",
      "unavailable_until",
      "default_quantity",
      "item_id",
      "allergens",
      "dietary_tags",
      "sort_order",
      "external_id",
      "modifier_group_id",
      "modifier_groups",
      case
        when not is_available then clock_timestamp()
      end,
      case
        when not is_available then $3::text
      end
    from
      json_to_recordset($4::json) as wanted (
        "modifier_id" bigint,
        "name" text,
        "description" text,
        "price" numeric,
        "is_available" boolean,
        "unavailable_until" timestamptz,
        "default_quantity" integer,
        "item_id" bigint,
        "allergens" text[],
        "dietary_tags" text[],
        "sort_order" integer,
        "external_id" text,
        "modifier_group_id" bigint,
        "modifier_groups" json
      )
    returning
      "new"."account_id" as "account_id",
      "new"."location_id" as "location_id",
      null::bigint as "menu_id",
      'modifier:' || "new"."modifier_id" as "record",
      array['modifier.created'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "new"."modifier_id" as "modifier_id",
              "new"."modifier_group_id" as "modifier_group_id",
              "new"."location_id" as "location_id",
              "new"."name" as "name",
              "new"."description" as "description",
              "new"."price" as "price",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              "new"."default_quantity" as "default_quantity",
              "new"."item_id" as "item_id",
              "new"."allergens" as "allergens",
              "new"."dietary_tags" as "dietary_tags",
              "new"."sort_order" as "sort_order",
              "new"."external_id" as "external_id",
              to_char(
                case
                  when not (
                    "new"."is_available"
                    or coalesce("new"."unavailable_until" <= now(), false)
                  ) then "new"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "new"."is_available"
                  or coalesce("new"."unavailable_until" <= now(), false)
                ) then "new"."unavailable_by"
              end as "unavailable_by",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version",
              "new"."modifier_groups" as "modifier_groups"
          ) as fields
      ) as "resource",
      null::json as "previous",
      "new"."modifier_group_id" as "modifier_group_id",
      "modifier"."modifier_id" as "id",
      "modifier"."external_id" as "external_id"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  locked_groups as (
    select
      modifier_group_id,
      account_id
    from
      modifier_group
    where
      modifier_group_id = any (
        array(
          select
            modifier_group_id
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
    order by
      modifier_group_id
    for no key update
  ),
  touched_groups as (
    update modifier_group
    set
      content_version = content_version + 1,
      stamp = $6::integer
    where
      modifier_group_id = any (
        array(
          select
            modifier_group_id
          from
            locked_groups
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            locked_groups
        )
      )
    returning
      account_id,
      menu_ids
  ),
  locked_menus as (
    select
      menu_id,
      account_id
    from
      menu
    where
      menu_id = any (
        array(
          select
            unnest(menu_ids)
          from
            touched_groups
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            touched_groups
        )
      )
    order by
      menu_id
    for no key update
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1,
      stamp = $6::integer
    where
      menu_id = any (
        array(
          select
            menu_id
          from
            locked_menus
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            locked_menus
        )
      )
  )
select
  "id",
  "external_id"
from
  changed;

-- menus.importMenu.raiseContentVersion
-- $1 changes bigint
-- $2 stamp integer
-- $3 menu_id bigint
-- $4 account_id bigint
update "menu"
set
  "content_version" = menu.content_version + $1::bigint,
  "stamp" = $2::integer
where
  "menu_id" = $3::bigint
  and "account_id" = $4::bigint;

-- menus.importMenu.setUses
-- $1 stamp integer
-- $2 rows json
-- $3 account_id bigint
-- $4 menu_id bigint
-- $5 request_id text
with
  changed as (
    update "item"
    set
      "modifier_groups" = "wanted"."modifier_groups",
      version = "item".version + 1,
      stamp = $1::integer,
      updated_at = clock_timestamp()
    from
      json_to_recordset($2::json) as wanted ("item_id" bigint, "modifier_groups" json)
    where
      "item"."item_id" = wanted."item_id"
      and "item".account_id = $3::bigint
      and "item".menu_id = $4::bigint
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
              "new"."modifier_groups" as "modifier_groups",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              "new"."sort_order" as "sort_order",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "new"."external_id" as "external_id",
              "new"."hours" as "hours",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char(
                case
                  when not (
                    "new"."is_available"
                    or coalesce("new"."unavailable_until" <= now(), false)
                  ) then "new"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "new"."is_available"
                  or coalesce("new"."unavailable_until" <= now(), false)
                ) then "new"."unavailable_by"
              end as "unavailable_by",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      nullif(
        '{' || concat_ws(
          ',',
          case
            when ("old"."item_id")::text is distinct from ("new"."item_id")::text then '"item_id":' || coalesce(to_json("old"."item_id")::text, 'null')
          end,
          case
            when ("old"."category_id")::text is distinct from ("new"."category_id")::text then '"category_id":' || coalesce(to_json("old"."category_id")::text, 'null')
          end,
          case
            when ("old"."menu_id")::text is distinct from ("new"."menu_id")::text then '"menu_id":' || coalesce(to_json("old"."menu_id")::text, 'null')
          end,
          case
            when ("old"."name")::text is distinct from ("new"."name")::text then '"name":' || coalesce(to_json("old"."name")::text, 'null')
          end,
          case
            when ("old"."description")::text is distinct from ("new"."description")::text then '"description":' || coalesce(to_json("old"."description")::text, 'null')
          end,
          case
            when ("old"."price")::text is distinct from ("new"."price")::text then '"price":' || coalesce(to_json("old"."price")::text, 'null')
          end,
          case
            when ("old"."photo_url")::text is distinct from ("new"."photo_url")::text then '"photo_url":' || coalesce(to_json("old"."photo_url")::text, 'null')
          end,
          case
            when ("old"."allergens")::text is distinct from ("new"."allergens")::text then '"allergens":' || coalesce(to_json("old"."allergens")::text, 'null')
          end,
          case
            when ("old"."dietary_tags")::text is distinct from ("new"."dietary_tags")::text then '"dietary_tags":' || coalesce(to_json("old"."dietary_tags")::text, 'null')
          end,
          case
            when ("old"."modifier_groups")::text is distinct from ("new"."modifier_groups")::text then '"modifier_groups":' || coalesce(to_json("old"."modifier_groups")::text, 'null')
          end,
          case
            when ("old"."is_available")::text is distinct from ("new"."is_available")::text then '"is_available":' || coalesce(to_json("old"."is_available")::text, 'null')
          end,
          case
            when ("old"."sort_order")::text is distinct from ("new"."sort_order")::text then '"sort_order":' || coalesce(to_json("old"."sort_order")::text, 'null')
          end,
          case
            when ("old"."external_id")::text is distinct from ("new"."external_id")::text then '"external_id":' || coalesce(to_json("old"."external_id")::text, 'null')
          end,
          case
            when ("old"."hours")::text is distinct from ("new"."hours")::text then '"hours":' || coalesce(to_json("old"."hours")::text, 'null')
          end,
          case
            when (to_char("old"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text is distinct from (to_char("new"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text then '"unavailable_until":' || coalesce(
              to_json(to_char("old"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text,
              'null'
            )
          end
        ) || '}',
        '{}'
      )::json as "previous",
      "item"."item_id" as "id"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  )
select
  "id"
from
  changed;

-- menus.importMenu.updateCategories
-- $1 stamp integer
-- $2 rows json
-- $3 account_id bigint
-- $4 menu_id bigint
-- $5 request_id text
with
  changed as (
    update "category"
    set
      "external_id" = "wanted"."external_id",
      "name" = "wanted"."name",
      "description" = "wanted"."description",
      "sort_order" = "wanted"."sort_order",
      "hours" = "wanted"."hours",
      version = "category".version + 1,
      stamp = $1::integer,
      updated_at = clock_timestamp()
    from
      json_to_recordset($2::json) as wanted (
        "category_id" bigint,
        "external_id" text,
        "name" text,
        "description" text,
        "sort_order" integer,
        "hours" jsonb
      )
    where
      "category"."category_id" = wanted."category_id"
      and "category".account_id = $3::bigint
      and "category".menu_id = $4::bigint
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
              "new"."hours" as "hours",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      nullif(
        '{' || concat_ws(
          ',',
          case
            when ("old"."category_id")::text is distinct from ("new"."category_id")::text then '"category_id":' || coalesce(to_json("old"."category_id")::text, 'null')
          end,
          case
            when ("old"."menu_id")::text is distinct from ("new"."menu_id")::text then '"menu_id":' || coalesce(to_json("old"."menu_id")::text, 'null')
          end,
          case
            when ("old"."name")::text is distinct from ("new"."name")::text then '"name":' || coalesce(to_json("old"."name")::text, 'null')
          end,
          case
            when ("old"."description")::text is distinct from ("new"."description")::text then '"description":' || coalesce(to_json("old"."description")::text, 'null')
          end,
          case
            when ("old"."sort_order")::text is distinct from ("new"."sort_order")::text then '"sort_order":' || coalesce(to_json("old"."sort_order")::text, 'null')
          end,
          case
            when ("old"."external_id")::text is distinct from ("new"."external_id")::text then '"external_id":' || coalesce(to_json("old"."external_id")::text, 'null')
          end,
          case
            when ("old"."hours")::text is distinct from ("new"."hours")::text then '"hours":' || coalesce(to_json("old"."hours")::text, 'null')
          end
        ) || '}',
        '{}'
      )::json as "previous",
      "category"."category_id" as "id"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  )
select
  "id"
from
  changed;

-- menus.importMenu.updateGroups
-- $1 stamp integer
-- $2 rows json
-- $3 account_id bigint
-- $4 request_id text
with
  changed as (
    update "modifier_group"
    set
      "name" = "wanted"."name",
      "description" = "wanted"."description",
      "min_selections" = "wanted"."min_selections",
      "max_selections" = "wanted"."max_selections",
      "max_per_modifier" = "wanted"."max_per_modifier",
      "free_selections" = "wanted"."free_selections",
      "external_id" = "wanted"."external_id",
      "content_version" = modifier_group.content_version + 1,
      version = "modifier_group".version + 1,
      stamp = $1::integer,
      updated_at = clock_timestamp()
    from
      json_to_recordset($2::json) as wanted (
        "modifier_group_id" bigint,
        "name" text,
        "description" text,
        "min_selections" integer,
        "max_selections" integer,
        "max_per_modifier" integer,
        "free_selections" integer,
        "external_id" text
      )
    where
      "modifier_group"."modifier_group_id" = wanted."modifier_group_id"
      and "modifier_group".account_id = $3::bigint
    returning
      "new"."account_id" as "account_id",
      "new"."location_id" as "location_id",
      null::bigint as "menu_id",
      'modifier_group:' || "new"."modifier_group_id" as "record",
      array['modifier_group.updated'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "new"."modifier_group_id" as "modifier_group_id",
              "new"."location_id" as "location_id",
              "new"."name" as "name",
              "new"."description" as "description",
              "new"."min_selections" as "min_selections",
              "new"."max_selections" as "max_selections",
              "new"."max_per_modifier" as "max_per_modifier",
              "new"."free_selections" as "free_selections",
              "new"."external_id" as "external_id",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      nullif(
        '{' || concat_ws(
          ',',
          case
            when ("old"."modifier_group_id")::text is distinct from ("new"."modifier_group_id")::text then '"modifier_group_id":' || coalesce(to_json("old"."modifier_group_id")::text, 'null')
          end,
          case
            when ("old"."location_id")::text is distinct from ("new"."location_id")::text then '"location_id":' || coalesce(to_json("old"."location_id")::text, 'null')
          end,
          case
            when ("old"."name")::text is distinct from ("new"."name")::text then '"name":' || coalesce(to_json("old"."name")::text, 'null')
          end,
          case
            when ("old"."description")::text is distinct from ("new"."description")::text then '"description":' || coalesce(to_json("old"."description")::text, 'null')
          end,
          case
            when ("old"."min_selections")::text is distinct from ("new"."min_selections")::text then '"min_selections":' || coalesce(to_json("old"."min_selections")::text, 'null')
          end,
          case
            when ("old"."max_selections")::text is distinct from ("new"."max_selections")::text then '"max_selections":' || coalesce(to_json("old"."max_selections")::text, 'null')
          end,
          case
            when ("old"."max_per_modifier")::text is distinct from ("new"."max_per_modifier")::text then '"max_per_modifier":' || coalesce(to_json("old"."max_per_modifier")::text, 'null')
          end,
          case
            when ("old"."free_selections")::text is distinct from ("new"."free_selections")::text then '"free_selections":' || coalesce(to_json("old"."free_selections")::text, 'null')
          end,
          case
            when ("old"."external_id")::text is distinct from ("new"."external_id")::text then '"external_id":' || coalesce(to_json("old"."external_id")::text, 'null')
          end
        ) || '}',
        '{}'
      )::json as "previous",
      "new"."menu_ids" as "menu_ids",
      "modifier_group"."modifier_group_id" as "id"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  locked_menus as (
    select
      menu_id,
      account_id
    from
      menu
    where
      menu_id = any (
        array(
          select
            unnest(menu_ids)
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
    order by
      menu_id
    for no key update
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1,
      stamp = $1::integer
    where
      menu_id = any (
        array(
          select
            menu_id
          from
            locked_menus
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            locked_menus
        )
      )
  )
select
  "id"
from
  changed;

-- menus.importMenu.updateItems
-- $1 client_id text
-- $2 stamp integer
-- $3 rows json
-- $4 account_id bigint
-- $5 menu_id bigint
-- $6 request_id text
with
  changed as (
    update "item"
    set
      "category_id" = "wanted"."category_id",
      "name" = "wanted"."name",
      "description" = "wanted"."description",
      "price" = case
        when "item"."price" = wanted.price then "item"."price"
        else wanted.price
      end,
      "photo_url" = "wanted"."photo_url",
      "allergens" = "wanted"."allergens",
      "dietary_tags" = "wanted"."dietary_tags",
      "is_available" = "wanted"."is_available",
      "unavailable_until" = "wanted"."unavailable_until",
      "sort_order" = "wanted"."sort_order",
      "external_id" = "wanted"."external_id",
      "hours" = "wanted"."hours",
      "unavailable_since" = case
        when not wanted.is_available then case
          when (
            "item"."is_available"
            or coalesce("item"."unavailable_until" <= now(), false)
          ) then clock_timestamp()
          else "item"."unavailable_since"
        end
      end,
      "unavailable_by" = case
        when not wanted.is_available then case
          when (
            "item"."is_available"
            or coalesce("item"."unavailable_until" <= now(), false)
          ) then $1::text
          else "item"."unavailable_by"
        end
      end,
      "searchable" = case
        when ("item"."name", "item"."description") = (wanted.name, wanted.description) then "item"."searchable"
        else search_text ("wanted"."name") || e'\n' || search_text ("wanted"."description")
      end,
      "searchable_of" = case
        when ("item"."name", "item"."description") = (wanted.name, wanted.description) then "item"."searchable_of"
        else hashtextextended ("wanted"."name" || e'\n' || "wanted"."description", 0)
      end,
      version = "item".version + 1,
      stamp = $2::integer,
      updated_at = clock_timestamp()
    from
      json_to_recordset($3::json) as wanted (
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
        "external_id" text,
        "hours" jsonb
      )
    where
      "item"."item_id" = wanted."item_id"
      and "item".account_id = $4::bigint
      and "item".menu_id = $5::bigint
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
              "old"."external_id",
              "old"."hours"
            ) is distinct from (
              "new"."category_id",
              "new"."name",
              "new"."description",
              "new"."price",
              "new"."photo_url",
              "new"."allergens",
              "new"."dietary_tags",
              "new"."sort_order",
              "new"."external_id",
              "new"."hours"
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
              "new"."modifier_groups" as "modifier_groups",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              "new"."sort_order" as "sort_order",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "new"."external_id" as "external_id",
              "new"."hours" as "hours",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char(
                case
                  when not (
                    "new"."is_available"
                    or coalesce("new"."unavailable_until" <= now(), false)
                  ) then "new"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "new"."is_available"
                  or coalesce("new"."unavailable_until" <= now(), false)
                ) then "new"."unavailable_by"
              end as "unavailable_by",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      nullif(
        '{' || concat_ws(
          ',',
          case
            when ("old"."item_id")::text is distinct from ("new"."item_id")::text then '"item_id":' || coalesce(to_json("old"."item_id")::text, 'null')
          end,
          case
            when ("old"."category_id")::text is distinct from ("new"."category_id")::text then '"category_id":' || coalesce(to_json("old"."category_id")::text, 'null')
          end,
          case
            when ("old"."menu_id")::text is distinct from ("new"."menu_id")::text then '"menu_id":' || coalesce(to_json("old"."menu_id")::text, 'null')
          end,
          case
            when ("old"."name")::text is distinct from ("new"."name")::text then '"name":' || coalesce(to_json("old"."name")::text, 'null')
          end,
          case
            when ("old"."description")::text is distinct from ("new"."description")::text then '"description":' || coalesce(to_json("old"."description")::text, 'null')
          end,
          case
            when ("old"."price")::text is distinct from ("new"."price")::text then '"price":' || coalesce(to_json("old"."price")::text, 'null')
          end,
          case
            when ("old"."photo_url")::text is distinct from ("new"."photo_url")::text then '"photo_url":' || coalesce(to_json("old"."photo_url")::text, 'null')
          end,
          case
            when ("old"."allergens")::text is distinct from ("new"."allergens")::text then '"allergens":' || coalesce(to_json("old"."allergens")::text, 'null')
          end,
          case
            when ("old"."dietary_tags")::text is distinct from ("new"."dietary_tags")::text then '"dietary_tags":' || coalesce(to_json("old"."dietary_tags")::text, 'null')
          end,
          case
            when ("old"."modifier_groups")::text is distinct from ("new"."modifier_groups")::text then '"modifier_groups":' || coalesce(to_json("old"."modifier_groups")::text, 'null')
          end,
          case
            when (
              case
                when new.is_available then old.is_available
                else (
                  "old"."is_available"
                  or coalesce("old"."unavailable_until" <= now(), false)
                )
              end
            )::text is distinct from ("new"."is_available")::text then '"is_available":' || coalesce(
              to_json(
                case
                  when new.is_available then old.is_available
                  else (
                    "old"."is_available"
                    or coalesce("old"."unavailable_until" <= now(), false)
                  )
                end
              )::text,
              'null'
            )
          end,
          case
            when ("old"."sort_order")::text is distinct from ("new"."sort_order")::text then '"sort_order":' || coalesce(to_json("old"."sort_order")::text, 'null')
          end,
          case
            when ("old"."external_id")::text is distinct from ("new"."external_id")::text then '"external_id":' || coalesce(to_json("old"."external_id")::text, 'null')
          end,
          case
            when ("old"."hours")::text is distinct from ("new"."hours")::text then '"hours":' || coalesce(to_json("old"."hours")::text, 'null')
          end,
          case
            when (
              to_char(
                case
                  when new.is_available then old.unavailable_until
                  else case
                    when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                  end
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              )
            )::text is distinct from (to_char("new"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text then '"unavailable_until":' || coalesce(
              to_json(
                to_char(
                  case
                    when new.is_available then old.unavailable_until
                    else case
                      when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                    end
                  end at time zone 'UTC',
                  'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                )
              )::text,
              'null'
            )
          end
        ) || '}',
        '{}'
      )::json as "previous",
      "item"."item_id" as "id"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  )
select
  "id"
from
  changed;

-- menus.importMenu.updateMenu
-- $1 stamp integer
-- $2 rows json
-- $3 account_id bigint
-- $4 menu_id bigint
-- $5 request_id text
with
  changed as (
    update "menu"
    set
      "name" = "wanted"."name",
      "description" = "wanted"."description",
      "is_active" = "wanted"."is_active",
      "hours" = "wanted"."hours",
      version = "menu".version + 1,
      stamp = $1::integer,
      updated_at = clock_timestamp()
    from
      json_to_recordset($2::json) as wanted ("menu_id" bigint, "name" text, "description" text, "is_active" boolean, "hours" jsonb)
    where
      "menu"."menu_id" = wanted."menu_id"
      and "menu".account_id = $3::bigint
      and "menu".menu_id = $4::bigint
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
            when ("old"."name", "old"."description", "old"."sort_order", "old"."external_id", "old"."hours") is distinct from ("new"."name", "new"."description", "new"."sort_order", "new"."external_id", "new"."hours") then 'menu.updated'
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
              "new"."hours" as "hours",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      nullif(
        '{' || concat_ws(
          ',',
          case
            when ("old"."menu_id")::text is distinct from ("new"."menu_id")::text then '"menu_id":' || coalesce(to_json("old"."menu_id")::text, 'null')
          end,
          case
            when ("old"."location_id")::text is distinct from ("new"."location_id")::text then '"location_id":' || coalesce(to_json("old"."location_id")::text, 'null')
          end,
          case
            when ("old"."name")::text is distinct from ("new"."name")::text then '"name":' || coalesce(to_json("old"."name")::text, 'null')
          end,
          case
            when ("old"."description")::text is distinct from ("new"."description")::text then '"description":' || coalesce(to_json("old"."description")::text, 'null')
          end,
          case
            when ("old"."is_active")::text is distinct from ("new"."is_active")::text then '"is_active":' || coalesce(to_json("old"."is_active")::text, 'null')
          end,
          case
            when ("old"."sort_order")::text is distinct from ("new"."sort_order")::text then '"sort_order":' || coalesce(to_json("old"."sort_order")::text, 'null')
          end,
          case
            when ("old"."external_id")::text is distinct from ("new"."external_id")::text then '"external_id":' || coalesce(to_json("old"."external_id")::text, 'null')
          end,
          case
            when ("old"."hours")::text is distinct from ("new"."hours")::text then '"hours":' || coalesce(to_json("old"."hours")::text, 'null')
          end
        ) || '}',
        '{}'
      )::json as "previous",
      "menu"."menu_id" as "id"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  )
select
  "id"
from
  changed;

-- menus.importMenu.updateModifiers
-- $1 client_id text
-- $2 stamp integer
-- $3 rows json
-- $4 account_id bigint
-- $5 request_id text
with
  changed as (
    update "modifier"
    set
      "name" = "wanted"."name",
      "description" = "wanted"."description",
      "price" = case
        when "modifier"."price" = wanted.price then "modifier"."price"
        else wanted.price
      end,
      "is_available" = "wanted"."is_available",
      "unavailable_until" = "wanted"."unavailable_until",
      "default_quantity" = "wanted"."default_quantity",
      "item_id" = "wanted"."item_id",
      "allergens" = "wanted"."allergens",
      "dietary_tags" = "wanted"."dietary_tags",
      "sort_order" = "wanted"."sort_order",
      "external_id" = "wanted"."external_id",
      "modifier_group_id" = "wanted"."modifier_group_id",
      "modifier_groups" = "wanted"."modifier_groups",
      "unavailable_since" = case
        when not wanted.is_available then case
          when (
            "modifier"."is_available"
            or coalesce("modifier"."unavailable_until" <= now(), false)
          ) then clock_timestamp()
          else "modifier"."unavailable_since"
        end
      end,
      "unavailable_by" = case
        when not wanted.is_available then case
          when (
            "modifier"."is_available"
            or coalesce("modifier"."unavailable_until" <= now(), false)
          ) then $1::text
          else "modifier"."unavailable_by"
        end
      end,
      version = "modifier".version + 1,
      stamp = $2::integer,
      updated_at = clock_timestamp()
    from
      json_to_recordset($3::json) as wanted (
        "modifier_id" bigint,
        "name" text,
        "description" text,
        "price" numeric,
        "is_available" boolean,
        "unavailable_until" timestamptz,
        "default_quantity" integer,
        "item_id" bigint,
        "allergens" text[],
        "dietary_tags" text[],
        "sort_order" integer,
        "external_id" text,
        "modifier_group_id" bigint,
        "modifier_groups" json
      )
    where
      "modifier"."modifier_id" = wanted."modifier_id"
      and "modifier".account_id = $4::bigint
    returning
      "new"."account_id" as "account_id",
      "new"."location_id" as "location_id",
      null::bigint as "menu_id",
      'modifier:' || "new"."modifier_id" as "record",
      array_remove(
        array[
          case
            when (
              old.is_available <> new.is_available
              or (
                "old"."is_available"
                or coalesce("old"."unavailable_until" <= now(), false)
              ) <> new.is_available
            ) then 'modifier.toggled'
          end,
          case
            when (
              "old"."name",
              "old"."description",
              "old"."price",
              "old"."default_quantity",
              "old"."item_id",
              "old"."allergens",
              "old"."dietary_tags",
              "old"."sort_order",
              "old"."external_id"
            ) is distinct from (
              "new"."name",
              "new"."description",
              "new"."price",
              "new"."default_quantity",
              "new"."item_id",
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
            and old.unavailable_until is distinct from new.unavailable_until then 'modifier.updated'
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
              "new"."modifier_id" as "modifier_id",
              "new"."modifier_group_id" as "modifier_group_id",
              "new"."location_id" as "location_id",
              "new"."name" as "name",
              "new"."description" as "description",
              "new"."price" as "price",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              "new"."default_quantity" as "default_quantity",
              "new"."item_id" as "item_id",
              "new"."allergens" as "allergens",
              "new"."dietary_tags" as "dietary_tags",
              "new"."sort_order" as "sort_order",
              "new"."external_id" as "external_id",
              to_char(
                case
                  when not (
                    "new"."is_available"
                    or coalesce("new"."unavailable_until" <= now(), false)
                  ) then "new"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "new"."is_available"
                  or coalesce("new"."unavailable_until" <= now(), false)
                ) then "new"."unavailable_by"
              end as "unavailable_by",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version",
              "new"."modifier_groups" as "modifier_groups"
          ) as fields
      ) as "resource",
      nullif(
        '{' || concat_ws(
          ',',
          case
            when ("old"."modifier_id")::text is distinct from ("new"."modifier_id")::text then '"modifier_id":' || coalesce(to_json("old"."modifier_id")::text, 'null')
          end,
          case
            when ("old"."modifier_group_id")::text is distinct from ("new"."modifier_group_id")::text then '"modifier_group_id":' || coalesce(to_json("old"."modifier_group_id")::text, 'null')
          end,
          case
            when ("old"."location_id")::text is distinct from ("new"."location_id")::text then '"location_id":' || coalesce(to_json("old"."location_id")::text, 'null')
          end,
          case
            when ("old"."name")::text is distinct from ("new"."name")::text then '"name":' || coalesce(to_json("old"."name")::text, 'null')
          end,
          case
            when ("old"."description")::text is distinct from ("new"."description")::text then '"description":' || coalesce(to_json("old"."description")::text, 'null')
          end,
          case
            when ("old"."price")::text is distinct from ("new"."price")::text then '"price":' || coalesce(to_json("old"."price")::text, 'null')
          end,
          case
            when (
              case
                when new.is_available then old.is_available
                else (
                  "old"."is_available"
                  or coalesce("old"."unavailable_until" <= now(), false)
                )
              end
            )::text is distinct from ("new"."is_available")::text then '"is_available":' || coalesce(
              to_json(
                case
                  when new.is_available then old.is_available
                  else (
                    "old"."is_available"
                    or coalesce("old"."unavailable_until" <= now(), false)
                  )
                end
              )::text,
              'null'
            )
          end,
          case
            when (
              to_char(
                case
                  when new.is_available then old.unavailable_until
                  else case
                    when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                  end
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              )
            )::text is distinct from (to_char("new"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text then '"unavailable_until":' || coalesce(
              to_json(
                to_char(
                  case
                    when new.is_available then old.unavailable_until
                    else case
                      when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                    end
                  end at time zone 'UTC',
                  'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                )
              )::text,
              'null'
            )
          end,
          case
            when ("old"."default_quantity")::text is distinct from ("new"."default_quantity")::text then '"default_quantity":' || coalesce(to_json("old"."default_quantity")::text, 'null')
          end,
          case
            when ("old"."item_id")::text is distinct from ("new"."item_id")::text then '"item_id":' || coalesce(to_json("old"."item_id")::text, 'null')
          end,
          case
            when ("old"."allergens")::text is distinct from ("new"."allergens")::text then '"allergens":' || coalesce(to_json("old"."allergens")::text, 'null')
          end,
          case
            when ("old"."dietary_tags")::text is distinct from ("new"."dietary_tags")::text then '"dietary_tags":' || coalesce(to_json("old"."dietary_tags")::text, 'null')
          end,
          case
            when ("old"."sort_order")::text is distinct from ("new"."sort_order")::text then '"sort_order":' || coalesce(to_json("old"."sort_order")::text, 'null')
          end,
          case
            when ("old"."external_id")::text is distinct from ("new"."external_id")::text then '"external_id":' || coalesce(to_json("old"."external_id")::text, 'null')
          end,
          case
            when ("old"."modifier_groups")::text is distinct from ("new"."modifier_groups")::text then '"modifier_groups":' || coalesce(to_json("old"."modifier_groups")::text, 'null')
          end
        ) || '}',
        '{}'
      )::json as "previous",
      "new"."modifier_group_id" as "modifier_group_id",
      "modifier"."modifier_id" as "id"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  locked_groups as (
    select
      modifier_group_id,
      account_id
    from
      modifier_group
    where
      modifier_group_id = any (
        array(
          select
            modifier_group_id
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
    order by
      modifier_group_id
    for no key update
  ),
  touched_groups as (
    update modifier_group
    set
      content_version = content_version + 1,
      stamp = $2::integer
    where
      modifier_group_id = any (
        array(
          select
            modifier_group_id
          from
            locked_groups
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            locked_groups
        )
      )
    returning
      account_id,
      menu_ids
  ),
  locked_menus as (
    select
      menu_id,
      account_id
    from
      menu
    where
      menu_id = any (
        array(
          select
            unnest(menu_ids)
          from
            touched_groups
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            touched_groups
        )
      )
    order by
      menu_id
    for no key update
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1,
      stamp = $2::integer
    where
      menu_id = any (
        array(
          select
            menu_id
          from
            locked_menus
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            locked_menus
        )
      )
  )
select
  "id"
from
  changed;

-- menus.listMenus
-- $1 account_id bigint
-- $2 location_ids bigint[]
-- $3 after bigint
-- $4 location_id bigint
-- $5 is_active boolean
-- $6 updated_since timestamptz
-- $7 limit bigint
-- Conditions that are there when given: location_id, is_active, updated_since
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
          "menu"."hours" as "hours",
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
  and updated_at >= $6::timestamptz
order by
  "menu_id"
limit
  $7::bigint;

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

-- menus.lockMenus
-- $1 menu_id bigint
-- $2 groups bigint[]
-- $3 account_id bigint
select
  "menu_id"
from
  "menu"
where
  menu_id = any (
    array(
      select
        $1::bigint
      union all
      select
        unnest(menu_ids)
      from
        modifier_group
      where
        modifier_group_id = any ($2::bigint[])
        and account_id = $3::bigint
    )
  )
  and "account_id" = $3::bigint
order by
  "menu_id"
for no key update;

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
  '"' || "menu"."content_version" || '-' || to_hex("menu"."stamp") || '-' || (
    select
      count(*)
    from
      item
    where
      item.menu_id = "menu"."menu_id"
      and item.unavailable_until <= now()
  ) || coalesce(
    '-' || (
      select
        md5(
          string_agg(
            modifier.modifier_id::text,
            ' '
            order by
              modifier.modifier_id
          )
        )
      from
        modifier
        join modifier_group using (modifier_group_id, account_id)
      where
        modifier.account_id = "menu"."account_id"
        and modifier.location_id = "menu"."location_id"
        and modifier.unavailable_until <= now()
        and "menu"."menu_id" = any (modifier_group.menu_ids)
    ),
    ''
  ) || '"' as "etag"
from
  "menu"
where
  ("menu"."menu_id" = $3::bigint);

-- menus.menuETag.several
-- $1 ids bigint[]
-- $2 account_id bigint
-- $3 location_ids bigint[]
select
  found.*
from
  unnest(
    (
      select
        $1::bigint[]
    )::bigint[]
  ) as wanted (id)
  cross join lateral (
    select
      (
        "menu"."account_id" = $2::bigint
        and (
          $3::bigint[] is null
          or "menu"."location_id" = any ($3::bigint[])
        )
      ) as "within_reach",
      '"' || "menu"."content_version" || '-' || to_hex("menu"."stamp") || '-' || (
        select
          count(*)
        from
          item
        where
          item.menu_id = "menu"."menu_id"
          and item.unavailable_until <= now()
      ) || coalesce(
        '-' || (
          select
            md5(
              string_agg(
                modifier.modifier_id::text,
                ' '
                order by
                  modifier.modifier_id
              )
            )
          from
            modifier
            join modifier_group using (modifier_group_id, account_id)
          where
            modifier.account_id = "menu"."account_id"
            and modifier.location_id = "menu"."location_id"
            and modifier.unavailable_until <= now()
            and "menu"."menu_id" = any (modifier_group.menu_ids)
        ),
        ''
      ) || '"' as "etag",
      "menu"."menu_id"
    from
      "menu"
    where
      "menu"."menu_id" = wanted.id
    limit
      1
  ) as found;

-- menus.menuSegments
-- $1 menu_id bigint
-- $2 known_tags text[]
with
  shown as materialized (
    select
      *
    from
      menu
    where
      menu_id = $1::bigint
  )
select
  kind,
  tag,
  text
from
  (
    select
      'menu' as kind,
      '"' || "menu"."content_version" || '-' || to_hex("menu"."stamp") || '-' || (
        select
          count(*)
        from
          item
        where
          item.menu_id = "menu"."menu_id"
          and item.unavailable_until <= now()
      ) || coalesce(
        '-' || (
          select
            md5(
              string_agg(
                modifier.modifier_id::text,
                ' '
                order by
                  modifier.modifier_id
              )
            )
          from
            modifier
            join modifier_group using (modifier_group_id, account_id)
          where
            modifier.account_id = "menu"."account_id"
            and modifier.location_id = "menu"."location_id"
            and modifier.unavailable_until <= now()
            and "menu"."menu_id" = any (modifier_group.menu_ids)
        ),
        ''
      ) || '"' as tag,
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
              "menu"."hours" as "hours",
              to_char("menu"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("menu"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "menu"."version" as "version"
          ) as fields
      )::text as text,
      0 as part,
      0 as sort_order,
      0::bigint as id,
      0::bigint as segment
    from
      shown as menu
    union all
    select
      'category',
      category.category_id || '-' || "category"."version" || '-' || to_hex("category"."stamp"),
      case
        when category.category_id || '-' || "category"."version" || '-' || to_hex("category"."stamp") in (
          select
            unnest($2::text[])
        ) then null
        else (
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
                  "category"."hours" as "hours",
                  to_char("category"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                  to_char("category"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                  "category"."version" as "version"
              ) as fields
          )
        )::text
      end,
      1,
      category.sort_order,
      category.category_id,
      0
    from
      shown as menu
      join category on category.menu_id = menu.menu_id
    union all
    select
      'items',
      segment.tag,
      case
        when segment.tag in (
          select
            unnest($2::text[])
        ) then null
        else (
          select
            string_agg(
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
                      "item"."modifier_groups" as "modifier_groups",
                      (
                        "item"."is_available"
                        or coalesce("item"."unavailable_until" <= now(), false)
                      ) as "is_available",
                      "item"."sort_order" as "sort_order",
                      to_char("item"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                      "item"."external_id" as "external_id",
                      "item"."hours" as "hours",
                      to_char(
                        case
                          when not coalesce("item"."unavailable_until" <= now(), false) then "item"."unavailable_until"
                        end at time zone 'UTC',
                        'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                      ) as "unavailable_until",
                      to_char(
                        case
                          when not (
                            "item"."is_available"
                            or coalesce("item"."unavailable_until" <= now(), false)
                          ) then "item"."unavailable_since"
                        end at time zone 'UTC',
                        'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                      ) as "unavailable_since",
                      case
                        when not (
                          "item"."is_available"
                          or coalesce("item"."unavailable_until" <= now(), false)
                        ) then "item"."unavailable_by"
                      end as "unavailable_by",
                      to_char("item"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                      "item"."version" as "version"
                  ) as fields
              )::text,
              ', '
              order by
                item.sort_order,
                item.item_id
            )
          from
            item
          where
            item.item_id = any (segment.item_ids)
        )
      end,
      1,
      category.sort_order,
      category.category_id,
      segment.number
    from
      shown as menu
      join category on category.menu_id = menu.menu_id
      cross join lateral (
        select
          number,
          'items ' || md5(
            string_agg(
              tag,
              ','
              order by
                position
            )
          ) as tag,
          array_agg(item_id) as item_ids
        from
          (
            select
              item_id,
              position,
              1 + (position - 1) / 64 as number,
              item_id || '"' || "item"."version" || '-' || to_hex("item"."stamp") || case
                when coalesce("item"."unavailable_until" <= now(), false) then '-restored'
                else ''
              end || '"' as tag
            from
              (
                select
                  item.*,
                  row_number() over (
                    order by
                      item.sort_order,
                      item.item_id
                  ) as position
                from
                  item
                where
                  item.category_id = category.category_id
              ) as item
          ) as placed
        group by
          number
      ) as segment
    union all
    select
      'group',
      'group ' || modifier_group.modifier_group_id || ' ' || '"' || "modifier_group"."content_version" || '-' || to_hex("modifier_group"."stamp") || '-' || (
        select
          count(*)
        from
          modifier
        where
          modifier.modifier_group_id = "modifier_group"."modifier_group_id"
          and modifier.account_id = "modifier_group"."account_id"
          and modifier.unavailable_until <= now()
      ) || '"',
      case
        when 'group ' || modifier_group.modifier_group_id || ' ' || '"' || "modifier_group"."content_version" || '-' || to_hex("modifier_group"."stamp") || '-' || (
          select
            count(*)
          from
            modifier
          where
            modifier.modifier_group_id = "modifier_group"."modifier_group_id"
            and modifier.account_id = "modifier_group"."account_id"
            and modifier.unavailable_until <= now()
        ) || '"' in (
          select
            unnest($2::text[])
        ) then null
        else (
          (
            select
              to_json(fields)
            from
              (
                select
                  "modifier_group"."modifier_group_id" as "modifier_group_id",
                  "modifier_group"."location_id" as "location_id",
                  "modifier_group"."name" as "name",
                  "modifier_group"."description" as "description",
                  "modifier_group"."min_selections" as "min_selections",
                  "modifier_group"."max_selections" as "max_selections",
                  "modifier_group"."max_per_modifier" as "max_per_modifier",
                  "modifier_group"."free_selections" as "free_selections",
                  "modifier_group"."external_id" as "external_id",
                  to_char("modifier_group"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                  to_char("modifier_group"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                  "modifier_group"."version" as "version",
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
                                  "modifier"."modifier_id" as "modifier_id",
                                  "modifier"."modifier_group_id" as "modifier_group_id",
                                  "modifier"."location_id" as "location_id",
                                  "modifier"."name" as "name",
                                  "modifier"."description" as "description",
                                  "modifier"."price" as "price",
                                  (
                                    "modifier"."is_available"
                                    or coalesce("modifier"."unavailable_until" <= now(), false)
                                  ) as "is_available",
                                  to_char(
                                    case
                                      when not coalesce("modifier"."unavailable_until" <= now(), false) then "modifier"."unavailable_until"
                                    end at time zone 'UTC',
                                    'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                                  ) as "unavailable_until",
                                  "modifier"."default_quantity" as "default_quantity",
                                  "modifier"."item_id" as "item_id",
                                  "modifier"."allergens" as "allergens",
                                  "modifier"."dietary_tags" as "dietary_tags",
                                  "modifier"."sort_order" as "sort_order",
                                  "modifier"."external_id" as "external_id",
                                  to_char(
                                    case
                                      when not (
                                        "modifier"."is_available"
                                        or coalesce("modifier"."unavailable_until" <= now(), false)
                                      ) then "modifier"."unavailable_since"
                                    end at time zone 'UTC',
                                    'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                                  ) as "unavailable_since",
                                  case
                                    when not (
                                      "modifier"."is_available"
                                      or coalesce("modifier"."unavailable_until" <= now(), false)
                                    ) then "modifier"."unavailable_by"
                                  end as "unavailable_by",
                                  to_char("modifier"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                                  to_char("modifier"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                                  "modifier"."version" as "version",
                                  "modifier"."modifier_groups" as "modifier_groups"
                              ) as fields
                          )
                          order by
                            modifier.sort_order,
                            modifier.modifier_id
                        ),
                        '[]'
                      )
                    from
                      modifier
                    where
                      modifier.modifier_group_id = modifier_group.modifier_group_id
                      and modifier.account_id = modifier_group.account_id
                  ) as "modifiers"
              ) as fields
          )
        )::text
      end,
      2,
      0,
      modifier_group.modifier_group_id,
      0
    from
      shown as menu
      cross join lateral (
        with recursive
          reached (modifier_group_id) as (
            select
              modifier_group_id
            from
              modifier_group_use as used
            where
              used.account_id = menu.account_id
              and used.menu_id = menu.menu_id
            union
            select
              used.modifier_group_id
            from
              reached
              join modifier_group_use as used on used.account_id = menu.account_id
              and used.user_group_id = reached.modifier_group_id
          )
        select
          modifier_group.*
        from
          reached
          cross join lateral (
            select
              *
            from
              modifier_group
            where
              modifier_group.modifier_group_id = reached.modifier_group_id
              and modifier_group.account_id = menu.account_id
            limit
              1
          ) as modifier_group
      ) as modifier_group
  ) as segments
order by
  part,
  sort_order,
  id,
  segment;

-- menus.places
-- $1 menu_id bigint
select
  '"' || "menu"."content_version" || '-' || to_hex("menu"."stamp") || '-' || (
    select
      count(*)
    from
      item
    where
      item.menu_id = "menu"."menu_id"
      and item.unavailable_until <= now()
  ) || coalesce(
    '-' || (
      select
        md5(
          string_agg(
            modifier.modifier_id::text,
            ' '
            order by
              modifier.modifier_id
          )
        )
      from
        modifier
        join modifier_group using (modifier_group_id, account_id)
      where
        modifier.account_id = "menu"."account_id"
        and modifier.location_id = "menu"."location_id"
        and modifier.unavailable_until <= now()
        and "menu"."menu_id" = any (modifier_group.menu_ids)
    ),
    ''
  ) || '"' as "etag",
  (
    select
      coalesce(
        json_agg(
          json_build_array(category_id, json_build_object('sort_order', sort_order))
          order by
            sort_order,
            category_id
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
          json_build_array(item_id, json_build_object('category_id', category_id, 'sort_order', sort_order))
          order by
            sort_order,
            item_id
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
  ("menu"."menu_id" = $1::bigint);

-- menus.priceSelection.prices
-- $1 menu_ids bigint[]
-- $2 account_id bigint
-- $3 location_ids bigint[]
-- $4 modifier_ids bigint[]
-- $5 item_ids bigint[]
select
  floor(
    extract(
      epoch
      from
        now()
    ) * 1000
  ) as now,
  (
    select
      coalesce(json_agg(menu.*), '[]')
    from
      unnest(
        (
          select
            $1::bigint[]
        )::bigint[]
      ) as wanted (id)
      cross join lateral (
        select
          menu.menu_id,
          (
            "menu"."account_id" = $2::bigint
            and (
              $3::bigint[] is null
              or "menu"."location_id" = any ($3::bigint[])
            )
          ) as within_reach,
          "menu"."content_version" || '-' || to_hex("menu"."stamp") || '-' || (
            select
              "location"."version" || '-' || to_hex("location"."stamp")
            from
              location
            where
              location.location_id = menu.location_id
              and location.account_id = menu.account_id
          ) as tag
        from
          menu
        where
          menu.menu_id = wanted.id
        limit
          1
      ) as menu
  ) as menus,
  (
    select
      coalesce(
        json_agg(
          json_build_array(
            modifier.modifier_id,
            case
              when modifier.item_id is not null then coalesce(
                (
                  select
                    coalesce(
                      case
                        when not "stood"."is_available" then json_build_object(
                          'until',
                          floor(
                            extract(
                              epoch
                              from
                                "stood"."unavailable_until"
                            ) * 1000
                          ),
                          'since',
                          to_char("stood"."unavailable_since" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                          'by',
                          "stood"."unavailable_by"
                        )
                      end,
                      'null'
                    )
                  from
                    item as stood
                  where
                    stood.item_id = modifier.item_id
                    and stood.account_id = modifier.account_id
                ),
                json_build_object('until', null, 'since', null, 'by', null)
              )
            end
          )
        ),
        '[]'
      )
    from
      modifier
    where
      modifier.account_id = $2::bigint
      and modifier.item_id is not null
      and modifier.modifier_id = any (
        (
          select
            $4::bigint[]
        )::bigint[]
      )
  ) as item_absences,
  (
    select
      to_json(fields)
    from
      (
        select
          (
            select
              coalesce(json_agg(found.*), '[]')
            from
              unnest(
                (
                  select
                    $5::bigint[]
                )::bigint[]
              ) as wanted (id)
              cross join lateral (
                select
                  item.item_id,
                  item.menu_id,
                  ("item"."price" * 1000)::bigint as price,
                  item.modifier_groups,
                  location.currency,
                  (
                    select
                      to_json(fields)
                    from
                      (
                        select
                          menu.menu_id as "menu_id",
                          location.timezone as "timezone",
                          menu.is_active as "is_active",
                          location.hours as "location_hours",
                          menu.hours as "menu_hours",
                          case
                            when category.hours is null then '[]'
                            else json_build_array(json_build_array(category.category_id, category.hours))
                          end as "category_hours",
                          json_build_array(
                            json_build_array(
                              item.item_id,
                              item.category_id,
                              item.hours,
                              case
                                when not "item"."is_available" then json_build_object(
                                  'until',
                                  floor(
                                    extract(
                                      epoch
                                      from
                                        "item"."unavailable_until"
                                    ) * 1000
                                  ),
                                  'since',
                                  to_char("item"."unavailable_since" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                                  'by',
                                  "item"."unavailable_by"
                                )
                              end,
                              '[]'::json
                            )
                          ) as "items",
                          '[]'::json as "modifier_groups"
                      ) as fields
                  ) as rules
                from
                  item
                  join category on (category.category_id, category.account_id) = (item.category_id, item.account_id)
                  join menu on (menu.menu_id, menu.account_id) = (item.menu_id, item.account_id)
                  join location on (location.location_id, location.account_id) = (item.location_id, item.account_id)
                where
                  item.item_id = wanted.id
                limit
                  1
              ) as found
          ) as "items",
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
                          modifier.modifier_id as "modifier_id",
                          modifier.modifier_group_id as "modifier_group_id",
                          modifier.name as "name",
                          ("modifier"."price" * 1000)::bigint as "price",
                          modifier.modifier_groups as "modifier_groups",
                          case
                            when not "modifier"."is_available" then json_build_object(
                              'until',
                              floor(
                                extract(
                                  epoch
                                  from
                                    "modifier"."unavailable_until"
                                ) * 1000
                              ),
                              'since',
                              to_char("modifier"."unavailable_since" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                              'by',
                              "modifier"."unavailable_by"
                            )
                          end as "absence",
                          modifier.item_id as "item_id"
                      ) as fields
                  )
                ),
                '[]'
              )
            from
              modifier
            where
              modifier.account_id = $2::bigint
              and modifier.modifier_id = any (
                (
                  select
                    $4::bigint[]
                )::bigint[]
              )
          ) as "modifiers",
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
                          own.modifier_group_id as "modifier_group_id",
                          own.min_selections as "min_selections",
                          own.max_selections as "max_selections",
                          own.max_per_modifier as "max_per_modifier",
                          own.free_selections as "free_selections"
                      ) as fields
                  )
                ),
                '[]'
              )
            from
              modifier_group as own
            where
              own.account_id = $2::bigint
              and own.modifier_group_id = any (
                array(
                  select
                    modifier_group_id
                  from
                    modifier_group_use
                  where
                    account_id = $2::bigint
                    and item_id = any (
                      (
                        select
                          $5::bigint[]
                      )::bigint[]
                    )
                  union all
                  select
                    modifier_group_id
                  from
                    modifier_group_use
                  where
                    account_id = $2::bigint
                    and modifier_id = any (
                      (
                        select
                          $4::bigint[]
                      )::bigint[]
                    )
                )
              )
          ) as "groups"
      ) as fields
  ) as found;

-- menus.priceSelection.tags
-- $1 menu_ids bigint[]
-- $2 account_id bigint
-- $3 location_ids bigint[]
-- $4 standing_ids bigint[]
select
  floor(
    extract(
      epoch
      from
        now()
    ) * 1000
  ) as now,
  (
    select
      coalesce(json_agg(menu.*), '[]')
    from
      unnest(
        (
          select
            $1::bigint[]
        )::bigint[]
      ) as wanted (id)
      cross join lateral (
        select
          menu.menu_id,
          (
            "menu"."account_id" = $2::bigint
            and (
              $3::bigint[] is null
              or "menu"."location_id" = any ($3::bigint[])
            )
          ) as within_reach,
          "menu"."content_version" || '-' || to_hex("menu"."stamp") || '-' || (
            select
              "location"."version" || '-' || to_hex("location"."stamp")
            from
              location
            where
              location.location_id = menu.location_id
              and location.account_id = menu.account_id
          ) as tag
        from
          menu
        where
          menu.menu_id = wanted.id
        limit
          1
      ) as menu
  ) as menus,
  (
    select
      coalesce(
        json_agg(
          json_build_array(
            modifier.modifier_id,
            case
              when modifier.item_id is not null then coalesce(
                (
                  select
                    coalesce(
                      case
                        when not "stood"."is_available" then json_build_object(
                          'until',
                          floor(
                            extract(
                              epoch
                              from
                                "stood"."unavailable_until"
                            ) * 1000
                          ),
                          'since',
                          to_char("stood"."unavailable_since" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                          'by',
                          "stood"."unavailable_by"
                        )
                      end,
                      'null'
                    )
                  from
                    item as stood
                  where
                    stood.item_id = modifier.item_id
                    and stood.account_id = modifier.account_id
                ),
                json_build_object('until', null, 'since', null, 'by', null)
              )
            end
          )
        ),
        '[]'
      )
    from
      modifier
    where
      modifier.account_id = $2::bigint
      and modifier.item_id is not null
      and modifier.modifier_id = any (
        (
          select
            $4::bigint[]
        )::bigint[]
      )
  ) as item_absences;

-- menus.readStored
-- $1 account_id bigint
-- $2 location_ids bigint[]
-- $3 groups text
-- $4 menu_id bigint
select
  (
    "menu"."account_id" = $1::bigint
    and (
      $2::bigint[] is null
      or "menu"."location_id" = any ($2::bigint[])
    )
  ) as "within_reach",
  "location_id",
  (
    select
      currency
    from
      location
    where
      (location_id, account_id) = ("menu"."location_id", "menu"."account_id")
  ) as "currency",
  '"' || "menu"."content_version" || '-' || to_hex("menu"."stamp") || '-' || (
    select
      count(*)
    from
      item
    where
      item.menu_id = "menu"."menu_id"
      and item.unavailable_until <= now()
  ) || coalesce(
    '-' || (
      select
        md5(
          string_agg(
            modifier.modifier_id::text,
            ' '
            order by
              modifier.modifier_id
          )
        )
      from
        modifier
        join modifier_group using (modifier_group_id, account_id)
      where
        modifier.account_id = "menu"."account_id"
        and modifier.location_id = "menu"."location_id"
        and modifier.unavailable_until <= now()
        and "menu"."menu_id" = any (modifier_group.menu_ids)
    ),
    ''
  ) || '"' as "etag",
  (
    select
      to_json(fields)
    from
      (
        select
          "menu"."name" as "name",
          "menu"."description" as "description",
          "menu"."is_active" as "is_active",
          "menu"."hours" as "hours"
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
                  "category"."external_id" as "external_id",
                  "category"."hours" as "hours"
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
                  "item"."modifier_groups" as "modifier_groups",
                  (
                    "item"."is_available"
                    or coalesce("item"."unavailable_until" <= now(), false)
                  ) as "is_available",
                  "item"."sort_order" as "sort_order",
                  "item"."external_id" as "external_id",
                  "item"."hours" as "hours",
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
  ) as "items",
  case $3::text
    when 'of the menu' then (
      select
        coalesce(
          json_agg(
            (
              select
                to_json(fields)
              from
                (
                  select
                    "modifier_group"."modifier_group_id" as "modifier_group_id",
                    "modifier_group"."location_id" as "location_id",
                    "modifier_group"."name" as "name",
                    "modifier_group"."description" as "description",
                    "modifier_group"."min_selections" as "min_selections",
                    "modifier_group"."max_selections" as "max_selections",
                    "modifier_group"."max_per_modifier" as "max_per_modifier",
                    "modifier_group"."free_selections" as "free_selections",
                    "modifier_group"."external_id" as "external_id",
                    to_char("modifier_group"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                    to_char("modifier_group"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                    "modifier_group"."version" as "version",
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
                                    "modifier"."modifier_id" as "modifier_id",
                                    "modifier"."modifier_group_id" as "modifier_group_id",
                                    "modifier"."location_id" as "location_id",
                                    "modifier"."name" as "name",
                                    "modifier"."description" as "description",
                                    "modifier"."price" as "price",
                                    (
                                      "modifier"."is_available"
                                      or coalesce("modifier"."unavailable_until" <= now(), false)
                                    ) as "is_available",
                                    to_char(
                                      case
                                        when not coalesce("modifier"."unavailable_until" <= now(), false) then "modifier"."unavailable_until"
                                      end at time zone 'UTC',
                                      'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                                    ) as "unavailable_until",
                                    "modifier"."default_quantity" as "default_quantity",
                                    "modifier"."item_id" as "item_id",
                                    "modifier"."allergens" as "allergens",
                                    "modifier"."dietary_tags" as "dietary_tags",
                                    "modifier"."sort_order" as "sort_order",
                                    "modifier"."external_id" as "external_id",
                                    to_char(
                                      case
                                        when not (
                                          "modifier"."is_available"
                                          or coalesce("modifier"."unavailable_until" <= now(), false)
                                        ) then "modifier"."unavailable_since"
                                      end at time zone 'UTC',
                                      'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                                    ) as "unavailable_since",
                                    case
                                      when not (
                                        "modifier"."is_available"
                                        or coalesce("modifier"."unavailable_until" <= now(), false)
                                      ) then "modifier"."unavailable_by"
                                    end as "unavailable_by",
                                    to_char("modifier"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                                    to_char("modifier"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                                    "modifier"."version" as "version",
                                    "modifier"."modifier_groups" as "modifier_groups"
                                ) as fields
                            )
                            order by
                              modifier.sort_order,
                              modifier.modifier_id
                          ),
                          '[]'
                        )
                      from
                        modifier
                      where
                        modifier.modifier_group_id = modifier_group.modifier_group_id
                        and modifier.account_id = modifier_group.account_id
                    ) as "modifiers"
                ) as fields
            )
            order by
              modifier_group.modifier_group_id
          ),
          '[]'
        )
      from
        (
          with recursive
            reached (modifier_group_id) as (
              select
                modifier_group_id
              from
                modifier_group_use as used
              where
                used.account_id = menu.account_id
                and used.menu_id = menu.menu_id
              union
              select
                used.modifier_group_id
              from
                reached
                join modifier_group_use as used on used.account_id = menu.account_id
                and used.user_group_id = reached.modifier_group_id
            )
          select
            modifier_group.*
          from
            reached
            cross join lateral (
              select
                *
              from
                modifier_group
              where
                modifier_group.modifier_group_id = reached.modifier_group_id
                and modifier_group.account_id = menu.account_id
              limit
                1
            ) as modifier_group
        ) as modifier_group
    )
    when 'of the location' then (
      select
        coalesce(
          json_agg(
            (
              select
                to_json(fields)
              from
                (
                  select
                    "modifier_group"."modifier_group_id" as "modifier_group_id",
                    "modifier_group"."location_id" as "location_id",
                    "modifier_group"."name" as "name",
                    "modifier_group"."description" as "description",
                    "modifier_group"."min_selections" as "min_selections",
                    "modifier_group"."max_selections" as "max_selections",
                    "modifier_group"."max_per_modifier" as "max_per_modifier",
                    "modifier_group"."free_selections" as "free_selections",
                    "modifier_group"."external_id" as "external_id",
                    to_char("modifier_group"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                    to_char("modifier_group"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                    "modifier_group"."version" as "version",
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
                                    "modifier"."modifier_id" as "modifier_id",
                                    "modifier"."modifier_group_id" as "modifier_group_id",
                                    "modifier"."location_id" as "location_id",
                                    "modifier"."name" as "name",
                                    "modifier"."description" as "description",
                                    "modifier"."price" as "price",
                                    (
                                      "modifier"."is_available"
                                      or coalesce("modifier"."unavailable_until" <= now(), false)
                                    ) as "is_available",
                                    to_char(
                                      case
                                        when not coalesce("modifier"."unavailable_until" <= now(), false) then "modifier"."unavailable_until"
                                      end at time zone 'UTC',
                                      'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                                    ) as "unavailable_until",
                                    "modifier"."default_quantity" as "default_quantity",
                                    "modifier"."item_id" as "item_id",
                                    "modifier"."allergens" as "allergens",
                                    "modifier"."dietary_tags" as "dietary_tags",
                                    "modifier"."sort_order" as "sort_order",
                                    "modifier"."external_id" as "external_id",
                                    to_char(
                                      case
                                        when not (
                                          "modifier"."is_available"
                                          or coalesce("modifier"."unavailable_until" <= now(), false)
                                        ) then "modifier"."unavailable_since"
                                      end at time zone 'UTC',
                                      'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                                    ) as "unavailable_since",
                                    case
                                      when not (
                                        "modifier"."is_available"
                                        or coalesce("modifier"."unavailable_until" <= now(), false)
                                      ) then "modifier"."unavailable_by"
                                    end as "unavailable_by",
                                    to_char("modifier"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                                    to_char("modifier"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                                    "modifier"."version" as "version",
                                    "modifier"."modifier_groups" as "modifier_groups"
                                ) as fields
                            )
                            order by
                              modifier.sort_order,
                              modifier.modifier_id
                          ),
                          '[]'
                        )
                      from
                        modifier
                      where
                        modifier.modifier_group_id = modifier_group.modifier_group_id
                        and modifier.account_id = modifier_group.account_id
                    ) as "modifiers"
                ) as fields
            )
            order by
              modifier_group.modifier_group_id
          ),
          '[]'
        )
      from
        modifier_group
      where
        modifier_group.account_id = menu.account_id
        and modifier_group.location_id = menu.location_id
    )
    else '[]'
  end as "groups",
  case $3::text
    when 'of the location' then (
      select
        coalesce(json_agg(numbers), '[]')
      from
        (
          select distinct
            used.modifier_group_id,
            used.min_selections,
            used.max_selections
          from
            modifier_group as own
            join modifier_group_use as used using (account_id, modifier_group_id)
          where
            own.account_id = menu.account_id
            and own.location_id = menu.location_id
            and used.menu_id <> menu.menu_id
            and coalesce(used.min_selections, used.max_selections) is not null
        ) as numbers
    )
    else '[]'
  end as "other_numbers"
from
  "menu"
where
  ("menu"."menu_id" = $4::bigint);

-- menus.reorderMenu
-- $1 stamp integer
-- $2 category_ids bigint[]
-- $3 category_orders integer[]
-- $4 account_id bigint
-- $5 item_ids bigint[]
-- $6 item_categories bigint[]
-- $7 item_orders integer[]
-- $8 request_id text
with
  "change_1" as (
    update "category"
    set
      "sort_order" = place.sort_order,
      "version" = "category"."version" + 1,
      "stamp" = $1::integer,
      "updated_at" = clock_timestamp()
    from
      unnest($2::bigint[], $3::integer[]) as place (category_id, sort_order)
    where
      category.category_id = place.category_id
      and category.account_id = $4::bigint
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
              "new"."hours" as "hours",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      nullif(
        '{' || concat_ws(
          ',',
          case
            when ("old"."category_id")::text is distinct from ("new"."category_id")::text then '"category_id":' || coalesce(to_json("old"."category_id")::text, 'null')
          end,
          case
            when ("old"."menu_id")::text is distinct from ("new"."menu_id")::text then '"menu_id":' || coalesce(to_json("old"."menu_id")::text, 'null')
          end,
          case
            when ("old"."name")::text is distinct from ("new"."name")::text then '"name":' || coalesce(to_json("old"."name")::text, 'null')
          end,
          case
            when ("old"."description")::text is distinct from ("new"."description")::text then '"description":' || coalesce(to_json("old"."description")::text, 'null')
          end,
          case
            when ("old"."sort_order")::text is distinct from ("new"."sort_order")::text then '"sort_order":' || coalesce(to_json("old"."sort_order")::text, 'null')
          end,
          case
            when ("old"."external_id")::text is distinct from ("new"."external_id")::text then '"external_id":' || coalesce(to_json("old"."external_id")::text, 'null')
          end,
          case
            when ("old"."hours")::text is distinct from ("new"."hours")::text then '"hours":' || coalesce(to_json("old"."hours")::text, 'null')
          end
        ) || '}',
        '{}'
      )::json as "previous"
  ),
  "change_2" as (
    update "item"
    set
      "category_id" = place.category_id,
      "sort_order" = place.sort_order,
      "version" = "item"."version" + 1,
      "stamp" = $1::integer,
      "updated_at" = clock_timestamp()
    from
      unnest($5::bigint[], $6::bigint[], $7::integer[]) as place (item_id, category_id, sort_order)
    where
      item.item_id = place.item_id
      and item.account_id = $4::bigint
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
              "new"."modifier_groups" as "modifier_groups",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              "new"."sort_order" as "sort_order",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "new"."external_id" as "external_id",
              "new"."hours" as "hours",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char(
                case
                  when not (
                    "new"."is_available"
                    or coalesce("new"."unavailable_until" <= now(), false)
                  ) then "new"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "new"."is_available"
                  or coalesce("new"."unavailable_until" <= now(), false)
                ) then "new"."unavailable_by"
              end as "unavailable_by",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      nullif(
        '{' || concat_ws(
          ',',
          case
            when ("old"."item_id")::text is distinct from ("new"."item_id")::text then '"item_id":' || coalesce(to_json("old"."item_id")::text, 'null')
          end,
          case
            when ("old"."category_id")::text is distinct from ("new"."category_id")::text then '"category_id":' || coalesce(to_json("old"."category_id")::text, 'null')
          end,
          case
            when ("old"."menu_id")::text is distinct from ("new"."menu_id")::text then '"menu_id":' || coalesce(to_json("old"."menu_id")::text, 'null')
          end,
          case
            when ("old"."name")::text is distinct from ("new"."name")::text then '"name":' || coalesce(to_json("old"."name")::text, 'null')
          end,
          case
            when ("old"."description")::text is distinct from ("new"."description")::text then '"description":' || coalesce(to_json("old"."description")::text, 'null')
          end,
          case
            when ("old"."price")::text is distinct from ("new"."price")::text then '"price":' || coalesce(to_json("old"."price")::text, 'null')
          end,
          case
            when ("old"."photo_url")::text is distinct from ("new"."photo_url")::text then '"photo_url":' || coalesce(to_json("old"."photo_url")::text, 'null')
          end,
          case
            when ("old"."allergens")::text is distinct from ("new"."allergens")::text then '"allergens":' || coalesce(to_json("old"."allergens")::text, 'null')
          end,
          case
            when ("old"."dietary_tags")::text is distinct from ("new"."dietary_tags")::text then '"dietary_tags":' || coalesce(to_json("old"."dietary_tags")::text, 'null')
          end,
          case
            when ("old"."modifier_groups")::text is distinct from ("new"."modifier_groups")::text then '"modifier_groups":' || coalesce(to_json("old"."modifier_groups")::text, 'null')
          end,
          case
            when ("old"."is_available")::text is distinct from ("new"."is_available")::text then '"is_available":' || coalesce(to_json("old"."is_available")::text, 'null')
          end,
          case
            when ("old"."sort_order")::text is distinct from ("new"."sort_order")::text then '"sort_order":' || coalesce(to_json("old"."sort_order")::text, 'null')
          end,
          case
            when ("old"."external_id")::text is distinct from ("new"."external_id")::text then '"external_id":' || coalesce(to_json("old"."external_id")::text, 'null')
          end,
          case
            when ("old"."hours")::text is distinct from ("new"."hours")::text then '"hours":' || coalesce(to_json("old"."hours")::text, 'null')
          end,
          case
            when (to_char("old"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text is distinct from (to_char("new"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text then '"unavailable_until":' || coalesce(
              to_json(to_char("old"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text,
              'null'
            )
          end
        ) || '}',
        '{}'
      )::json as "previous"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1,
      stamp = $1::integer
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
-- $1 stamp integer
-- $2 menu_id bigint
-- $3 account_id bigint
-- $4 location_ids bigint[]
-- $5 if_match text[]
-- $6 request_id text
with
  changed as (
    update "menu"
    set
      "is_active" = not menu.is_active,
      "version" = "menu"."version" + 1,
      "stamp" = $1::integer,
      "updated_at" = clock_timestamp(),
      "content_version" = menu.content_version + 1
    where
      (
        ("menu"."menu_id" = $2::bigint)
        and (
          "menu"."account_id" = $3::bigint
          and (
            $4::bigint[] is null
            or "menu"."location_id" = any ($4::bigint[])
          )
        )
      )
      and (
        $5::text[] is null
        or '"' || "menu"."content_version" || '-' || to_hex("menu"."stamp") || '-' || (
          select
            count(*)
          from
            item
          where
            item.menu_id = "menu"."menu_id"
            and item.unavailable_until <= now()
        ) || coalesce(
          '-' || (
            select
              md5(
                string_agg(
                  modifier.modifier_id::text,
                  ' '
                  order by
                    modifier.modifier_id
                )
              )
            from
              modifier
              join modifier_group using (modifier_group_id, account_id)
            where
              modifier.account_id = "menu"."account_id"
              and modifier.location_id = "menu"."location_id"
              and modifier.unavailable_until <= now()
              and "menu"."menu_id" = any (modifier_group.menu_ids)
          ),
          ''
        ) || '"' = any ($5::text[])
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
              "new"."hours" as "hours",
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
      '"' || "new"."content_version" || '-' || to_hex("new"."stamp") || '-' || (
        select
          count(*)
        from
          item
        where
          item.menu_id = "new"."menu_id"
          and item.unavailable_until <= now()
      ) || coalesce(
        '-' || (
          select
            md5(
              string_agg(
                modifier.modifier_id::text,
                ' '
                order by
                  modifier.modifier_id
              )
            )
          from
            modifier
            join modifier_group using (modifier_group_id, account_id)
          where
            modifier.account_id = "new"."account_id"
            and modifier.location_id = "new"."location_id"
            and modifier.unavailable_until <= now()
            and "new"."menu_id" = any (modifier_group.menu_ids)
        ),
        ''
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
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
-- $7 hours jsonb
-- $8 stamp integer
-- $9 menu_id bigint
-- $10 account_id bigint
-- $11 location_ids bigint[]
-- $12 if_match text[]
-- $13 request_id text
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
      "hours" = case
        when 'hours' = any ($1::text[]) then $7::jsonb
        else "menu"."hours"
      end,
      "version" = "menu"."version" + 1,
      "stamp" = $8::integer,
      "updated_at" = clock_timestamp(),
      "content_version" = "menu"."content_version" + 1
    where
      (
        ("menu"."menu_id" = $9::bigint)
        and (
          "menu"."account_id" = $10::bigint
          and (
            $11::bigint[] is null
            or "menu"."location_id" = any ($11::bigint[])
          )
        )
      )
      and (
        $12::text[] is null
        or '"' || "menu"."content_version" || '-' || to_hex("menu"."stamp") || '-' || (
          select
            count(*)
          from
            item
          where
            item.menu_id = "menu"."menu_id"
            and item.unavailable_until <= now()
        ) || coalesce(
          '-' || (
            select
              md5(
                string_agg(
                  modifier.modifier_id::text,
                  ' '
                  order by
                    modifier.modifier_id
                )
              )
            from
              modifier
              join modifier_group using (modifier_group_id, account_id)
            where
              modifier.account_id = "menu"."account_id"
              and modifier.location_id = "menu"."location_id"
              and modifier.unavailable_until <= now()
              and "menu"."menu_id" = any (modifier_group.menu_ids)
          ),
          ''
        ) || '"' = any ($12::text[])
      )
      and (
        "menu"."name",
        "menu"."description",
        "menu"."is_active",
        "menu"."sort_order",
        "menu"."external_id",
        "menu"."hours"
      ) is distinct from (
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
        end,
        case
          when 'hours' = any ($1::text[]) then $7::jsonb
          else "menu"."hours"
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
            when ("old"."name", "old"."description", "old"."sort_order", "old"."external_id", "old"."hours") is distinct from ("new"."name", "new"."description", "new"."sort_order", "new"."external_id", "new"."hours") then 'menu.updated'
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
              "new"."hours" as "hours",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      nullif(
        '{' || concat_ws(
          ',',
          case
            when ("old"."menu_id")::text is distinct from ("new"."menu_id")::text then '"menu_id":' || coalesce(to_json("old"."menu_id")::text, 'null')
          end,
          case
            when ("old"."location_id")::text is distinct from ("new"."location_id")::text then '"location_id":' || coalesce(to_json("old"."location_id")::text, 'null')
          end,
          case
            when ("old"."name")::text is distinct from ("new"."name")::text then '"name":' || coalesce(to_json("old"."name")::text, 'null')
          end,
          case
            when ("old"."description")::text is distinct from ("new"."description")::text then '"description":' || coalesce(to_json("old"."description")::text, 'null')
          end,
          case
            when ("old"."is_active")::text is distinct from ("new"."is_active")::text then '"is_active":' || coalesce(to_json("old"."is_active")::text, 'null')
          end,
          case
            when ("old"."sort_order")::text is distinct from ("new"."sort_order")::text then '"sort_order":' || coalesce(to_json("old"."sort_order")::text, 'null')
          end,
          case
            when ("old"."external_id")::text is distinct from ("new"."external_id")::text then '"external_id":' || coalesce(to_json("old"."external_id")::text, 'null')
          end,
          case
            when ("old"."hours")::text is distinct from ("new"."hours")::text then '"hours":' || coalesce(to_json("old"."hours")::text, 'null')
          end
        ) || '}',
        '{}'
      )::json as "previous",
      '"' || "new"."content_version" || '-' || to_hex("new"."stamp") || '-' || (
        select
          count(*)
        from
          item
        where
          item.menu_id = "new"."menu_id"
          and item.unavailable_until <= now()
      ) || coalesce(
        '-' || (
          select
            md5(
              string_agg(
                modifier.modifier_id::text,
                ' '
                order by
                  modifier.modifier_id
              )
            )
          from
            modifier
            join modifier_group using (modifier_group_id, account_id)
          where
            modifier.account_id = "new"."account_id"
            and modifier.location_id = "new"."location_id"
            and modifier.unavailable_until <= now()
            and "new"."menu_id" = any (modifier_group.menu_ids)
        ),
        ''
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
              $13::text as "request_id"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
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
-- $7 hours jsonb
-- $8 menu_id bigint
-- $9 account_id bigint
-- $10 location_ids bigint[]
select
  '"' || "menu"."content_version" || '-' || to_hex("menu"."stamp") || '-' || (
    select
      count(*)
    from
      item
    where
      item.menu_id = "menu"."menu_id"
      and item.unavailable_until <= now()
  ) || coalesce(
    '-' || (
      select
        md5(
          string_agg(
            modifier.modifier_id::text,
            ' '
            order by
              modifier.modifier_id
          )
        )
      from
        modifier
        join modifier_group using (modifier_group_id, account_id)
      where
        modifier.account_id = "menu"."account_id"
        and modifier.location_id = "menu"."location_id"
        and modifier.unavailable_until <= now()
        and "menu"."menu_id" = any (modifier_group.menu_ids)
    ),
    ''
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
          "menu"."hours" as "hours",
          to_char("menu"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
          to_char("menu"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
          "menu"."version" as "version"
      ) as fields
  ) as "resource",
  (
    "menu"."name",
    "menu"."description",
    "menu"."is_active",
    "menu"."sort_order",
    "menu"."external_id",
    "menu"."hours"
  ) is distinct from (
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
    end,
    case
      when 'hours' = any ($1::text[]) then $7::jsonb
      else "menu"."hours"
    end
  ) as "differs",
  null as "refused"
from
  "menu"
where
  (
    ("menu"."menu_id" = $8::bigint)
    and (
      "menu"."account_id" = $9::bigint
      and (
        $10::bigint[] is null
        or "menu"."location_id" = any ($10::bigint[])
      )
    )
  );

-- modifierGroups.createModifier
-- $1 modifier_group_id bigint
-- $2 location_id bigint
-- $3 account_id bigint
-- $4 location_ids bigint[]
-- $5 name text
-- $6 description text
-- $7 price numeric
-- $8 is_available boolean
-- $9 unavailable_until timestamptz
-- $10 default_quantity integer
-- $11 item_id bigint
-- $12 allergens text[]
-- $13 dietary_tags text[]
-- $14 external_id text
-- $15 unavailable_since timestamptz
-- $16 unavailable_by text
-- $17 sort_order integer
-- $18 request_id text
-- $19 stamp integer
with
  changed as (
    insert into
      "modifier" (
        "account_id",
        "location_id",
        "modifier_group_id",
        "name",
        "description",
        "price",
        "is_available",
        "unavailable_until",
        "default_quantity",
        "item_id",
        "allergens",
        "dietary_tags",
        "external_id",
        "unavailable_since",
        "unavailable_by",
        "sort_order"
      )
    with
      home as (
        select
          "account_id",
          "location_id",
          "modifier_group_id"
        from
          "modifier_group"
        where
          (
            (
              "modifier_group"."modifier_group_id" = $1::bigint
              and "modifier_group"."location_id" = $2::bigint
            )
            and (
              "modifier_group"."account_id" = $3::bigint
              and (
                $4::bigint[] is null
                or "modifier_group"."location_id" = any ($4::bigint[])
              )
            )
          )
        for key share
      )
    select
      "account_id",
      "location_id",
      "modifier_group_id",
      $5::text,
      $6::text,
      $7::numeric,
      $8::boolean,
      $9::timestamptz,
      $10::integer,
      $11::bigint,
      $12::text[],
      $13::text[],
      $14::text,
      $15::timestamptz,
      $16::text,
      coalesce(
        $17::integer,
        (
          select
            least(coalesce(max(sort_order), -1) + 1::bigint, 2147483647)::integer
          from
            "modifier"
          where
            "modifier"."modifier_group_id" = "home"."modifier_group_id"
            and account_id = home.account_id
        )
      )
    from
      home
    returning
      "new"."account_id" as "account_id",
      "new"."location_id" as "location_id",
      null::bigint as "menu_id",
      'modifier:' || "new"."modifier_id" as "record",
      array['modifier.created'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "new"."modifier_id" as "modifier_id",
              "new"."modifier_group_id" as "modifier_group_id",
              "new"."location_id" as "location_id",
              "new"."name" as "name",
              "new"."description" as "description",
              "new"."price" as "price",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              "new"."default_quantity" as "default_quantity",
              "new"."item_id" as "item_id",
              "new"."allergens" as "allergens",
              "new"."dietary_tags" as "dietary_tags",
              "new"."sort_order" as "sort_order",
              "new"."external_id" as "external_id",
              to_char(
                case
                  when not (
                    "new"."is_available"
                    or coalesce("new"."unavailable_until" <= now(), false)
                  ) then "new"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "new"."is_available"
                  or coalesce("new"."unavailable_until" <= now(), false)
                ) then "new"."unavailable_by"
              end as "unavailable_by",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version",
              "new"."modifier_groups" as "modifier_groups"
          ) as fields
      ) as "resource",
      null::json as "previous",
      "new"."modifier_group_id" as "modifier_group_id",
      "modifier"."modifier_id" as "id",
      '"' || "new"."version" || '-' || to_hex("new"."stamp") || case
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  locked_groups as (
    select
      modifier_group_id,
      account_id
    from
      modifier_group
    where
      modifier_group_id = any (
        array(
          select
            modifier_group_id
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
    order by
      modifier_group_id
    for no key update
  ),
  touched_groups as (
    update modifier_group
    set
      content_version = content_version + 1,
      stamp = $19::integer
    where
      modifier_group_id = any (
        array(
          select
            modifier_group_id
          from
            locked_groups
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            locked_groups
        )
      )
    returning
      account_id,
      menu_ids
  ),
  locked_menus as (
    select
      menu_id,
      account_id
    from
      menu
    where
      menu_id = any (
        array(
          select
            unnest(menu_ids)
          from
            touched_groups
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            touched_groups
        )
      )
    order by
      menu_id
    for no key update
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1,
      stamp = $19::integer
    where
      menu_id = any (
        array(
          select
            menu_id
          from
            locked_menus
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            locked_menus
        )
      )
  )
select
  "id",
  "etag",
  "resource"
from
  changed;

-- modifierGroups.createModifierGroup
-- $1 account_id bigint
-- $2 location_id bigint
-- $3 name text
-- $4 description text
-- $5 min_selections integer
-- $6 max_selections integer
-- $7 max_per_modifier integer
-- $8 free_selections integer
-- $9 external_id text
-- $10 request_id text
with
  changed as (
    insert into
      modifier_group (
        account_id,
        location_id,
        "name",
        "description",
        "min_selections",
        "max_selections",
        "max_per_modifier",
        "free_selections",
        "external_id"
      )
    select
      $1::bigint,
      $2::bigint,
      $3::text,
      $4::text,
      $5::integer,
      $6::integer,
      $7::integer,
      $8::integer,
      $9::text
    where
      (
        select
          count(*)
        from
          modifier_group
        where
          account_id = $1::bigint
          and location_id = $2::bigint
      ) < 500
    returning
      "new"."account_id" as "account_id",
      "new"."location_id" as "location_id",
      null::bigint as "menu_id",
      'modifier_group:' || "new"."modifier_group_id" as "record",
      array['modifier_group.created'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "new"."modifier_group_id" as "modifier_group_id",
              "new"."location_id" as "location_id",
              "new"."name" as "name",
              "new"."description" as "description",
              "new"."min_selections" as "min_selections",
              "new"."max_selections" as "max_selections",
              "new"."max_per_modifier" as "max_per_modifier",
              "new"."free_selections" as "free_selections",
              "new"."external_id" as "external_id",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      null::json as "previous",
      "new"."menu_ids" as "menu_ids",
      "modifier_group"."modifier_group_id" as "id"
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
              $10::text as "request_id"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  )
select
  "id"
from
  changed;

-- modifierGroups.createModifierGroup.modifiers
-- $1 account_id bigint
-- $2 location_id bigint
-- $3 modifier_group_id bigint
-- $4 rows json
-- $5 request_id text
with
  changed as (
    insert into
      modifier (
        account_id,
        location_id,
        modifier_group_id,
        "name",
        "description",
        "price",
        "is_available",
        "unavailable_until",
        "default_quantity",
        "item_id",
        "allergens",
        "dietary_tags",
        "sort_order",
        "external_id",
        "unavailable_since",
        "unavailable_by"
      )
    select
      $1::bigint,
      $2::bigint,
      $3::bigint,
      "name",
      "description",
      "price",
      "is_available",
      "unavailable_until",
      "default_quantity",
      "item_id",
      "allergens",
      "dietary_tags",
      "sort_order",
      "external_id",
      "unavailable_since",
      "unavailable_by"
    from
      json_to_recordset($4::json) as wanted (
        "name" text,
        "description" text,
        "price" numeric,
        "is_available" boolean,
        "unavailable_until" timestamptz,
        "default_quantity" integer,
        "item_id" bigint,
        "allergens" text[],
        "dietary_tags" text[],
        "sort_order" integer,
        "external_id" text,
        "unavailable_since" timestamptz,
        "unavailable_by" text
      )
    returning
      "new"."account_id" as "account_id",
      "new"."location_id" as "location_id",
      null::bigint as "menu_id",
      'modifier:' || "new"."modifier_id" as "record",
      array['modifier.created'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "new"."modifier_id" as "modifier_id",
              "new"."modifier_group_id" as "modifier_group_id",
              "new"."location_id" as "location_id",
              "new"."name" as "name",
              "new"."description" as "description",
              "new"."price" as "price",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              "new"."default_quantity" as "default_quantity",
              "new"."item_id" as "item_id",
              "new"."allergens" as "allergens",
              "new"."dietary_tags" as "dietary_tags",
              "new"."sort_order" as "sort_order",
              "new"."external_id" as "external_id",
              to_char(
                case
                  when not (
                    "new"."is_available"
                    or coalesce("new"."unavailable_until" <= now(), false)
                  ) then "new"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "new"."is_available"
                  or coalesce("new"."unavailable_until" <= now(), false)
                ) then "new"."unavailable_by"
              end as "unavailable_by",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version",
              "new"."modifier_groups" as "modifier_groups"
          ) as fields
      ) as "resource",
      null::json as "previous",
      "new"."modifier_group_id" as "modifier_group_id"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  )
select
  "record"
from
  changed;

-- modifierGroups.deleteModifier
-- $1 modifier_id bigint
-- $2 modifier_group_id bigint
-- $3 location_id bigint
-- $4 account_id bigint
-- $5 location_ids bigint[]
-- $6 if_match text[]
-- $7 request_id text
-- $8 stamp integer
with
  changed as (
    delete from "modifier"
    where
      (
        (
          "modifier"."modifier_id" = $1::bigint
          and "modifier"."modifier_group_id" = $2::bigint
          and "modifier"."location_id" = $3::bigint
        )
        and (
          "modifier"."account_id" = $4::bigint
          and (
            $5::bigint[] is null
            or "modifier"."location_id" = any ($5::bigint[])
          )
        )
      )
      and (
        $6::text[] is null
        or '"' || "modifier"."version" || '-' || to_hex("modifier"."stamp") || case
          when coalesce("modifier"."unavailable_until" <= now(), false) then '-restored'
          else ''
        end || '"' = any ($6::text[])
      )
    returning
      "old"."account_id" as "account_id",
      "old"."location_id" as "location_id",
      null::bigint as "menu_id",
      'modifier:' || "old"."modifier_id" as "record",
      array['modifier.deleted'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "old"."modifier_id" as "modifier_id",
              "old"."modifier_group_id" as "modifier_group_id",
              "old"."location_id" as "location_id",
              "old"."name" as "name",
              "old"."description" as "description",
              "old"."price" as "price",
              (
                "old"."is_available"
                or coalesce("old"."unavailable_until" <= now(), false)
              ) as "is_available",
              to_char(
                case
                  when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              "old"."default_quantity" as "default_quantity",
              "old"."item_id" as "item_id",
              "old"."allergens" as "allergens",
              "old"."dietary_tags" as "dietary_tags",
              "old"."sort_order" as "sort_order",
              "old"."external_id" as "external_id",
              to_char(
                case
                  when not (
                    "old"."is_available"
                    or coalesce("old"."unavailable_until" <= now(), false)
                  ) then "old"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "old"."is_available"
                  or coalesce("old"."unavailable_until" <= now(), false)
                ) then "old"."unavailable_by"
              end as "unavailable_by",
              to_char("old"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("old"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "old"."version" as "version",
              "old"."modifier_groups" as "modifier_groups"
          ) as fields
      ) as "resource",
      null::json as "previous",
      "old"."modifier_group_id" as "modifier_group_id"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  locked_groups as (
    select
      modifier_group_id,
      account_id
    from
      modifier_group
    where
      modifier_group_id = any (
        array(
          select
            modifier_group_id
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
    order by
      modifier_group_id
    for no key update
  ),
  touched_groups as (
    update modifier_group
    set
      content_version = content_version + 1,
      stamp = $8::integer
    where
      modifier_group_id = any (
        array(
          select
            modifier_group_id
          from
            locked_groups
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            locked_groups
        )
      )
    returning
      account_id,
      menu_ids
  ),
  locked_menus as (
    select
      menu_id,
      account_id
    from
      menu
    where
      menu_id = any (
        array(
          select
            unnest(menu_ids)
          from
            touched_groups
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            touched_groups
        )
      )
    order by
      menu_id
    for no key update
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1,
      stamp = $8::integer
    where
      menu_id = any (
        array(
          select
            menu_id
          from
            locked_menus
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            locked_menus
        )
      )
  )
select
  "record"
from
  changed;

-- modifierGroups.deleteModifierGroup
-- $1 modifier_group_id bigint
-- $2 account_id bigint
-- $3 request_id text
with
  changed as (
    delete from modifier_group
    where
      modifier_group_id = $1::bigint
      and account_id = $2::bigint
    returning
      "old"."account_id" as "account_id",
      "old"."location_id" as "location_id",
      null::bigint as "menu_id",
      'modifier_group:' || "old"."modifier_group_id" as "record",
      array['modifier_group.deleted'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "old"."modifier_group_id" as "modifier_group_id",
              "old"."location_id" as "location_id",
              "old"."name" as "name",
              "old"."description" as "description",
              "old"."min_selections" as "min_selections",
              "old"."max_selections" as "max_selections",
              "old"."max_per_modifier" as "max_per_modifier",
              "old"."free_selections" as "free_selections",
              "old"."external_id" as "external_id",
              to_char("old"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("old"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "old"."version" as "version"
          ) as fields
      ) as "resource",
      null::json as "previous",
      "old"."menu_ids" as "menu_ids"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  )
select
  "record"
from
  changed;

-- modifierGroups.deleteModifierGroup.items
-- $1 modifier_group_id bigint
-- $2 stamp integer
-- $3 account_id bigint
-- $4 request_id text
with
  changed as (
    update item
    set
      modifier_groups = (
        select
          coalesce(
            json_agg(
              use
              order by
                place
            ),
            '[]'
          )
        from
          json_array_elements("item"."modifier_groups") with ordinality as listed (use, place)
        where
          (use ->> 'modifier_group_id')::bigint <> $1::bigint
      ),
      version = "item"."version" + 1,
      stamp = $2::integer,
      updated_at = clock_timestamp()
    where
      (item_id, account_id) in (
        select
          used."item_id",
          used.account_id
        from
          modifier_group_use as used
        where
          used.account_id = $3::bigint
          and used.modifier_group_id = $1::bigint
          and used."item_id" is not null
      )
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
              "new"."modifier_groups" as "modifier_groups",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              "new"."sort_order" as "sort_order",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "new"."external_id" as "external_id",
              "new"."hours" as "hours",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char(
                case
                  when not (
                    "new"."is_available"
                    or coalesce("new"."unavailable_until" <= now(), false)
                  ) then "new"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "new"."is_available"
                  or coalesce("new"."unavailable_until" <= now(), false)
                ) then "new"."unavailable_by"
              end as "unavailable_by",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      nullif(
        '{' || concat_ws(
          ',',
          case
            when ("old"."item_id")::text is distinct from ("new"."item_id")::text then '"item_id":' || coalesce(to_json("old"."item_id")::text, 'null')
          end,
          case
            when ("old"."category_id")::text is distinct from ("new"."category_id")::text then '"category_id":' || coalesce(to_json("old"."category_id")::text, 'null')
          end,
          case
            when ("old"."menu_id")::text is distinct from ("new"."menu_id")::text then '"menu_id":' || coalesce(to_json("old"."menu_id")::text, 'null')
          end,
          case
            when ("old"."name")::text is distinct from ("new"."name")::text then '"name":' || coalesce(to_json("old"."name")::text, 'null')
          end,
          case
            when ("old"."description")::text is distinct from ("new"."description")::text then '"description":' || coalesce(to_json("old"."description")::text, 'null')
          end,
          case
            when ("old"."price")::text is distinct from ("new"."price")::text then '"price":' || coalesce(to_json("old"."price")::text, 'null')
          end,
          case
            when ("old"."photo_url")::text is distinct from ("new"."photo_url")::text then '"photo_url":' || coalesce(to_json("old"."photo_url")::text, 'null')
          end,
          case
            when ("old"."allergens")::text is distinct from ("new"."allergens")::text then '"allergens":' || coalesce(to_json("old"."allergens")::text, 'null')
          end,
          case
            when ("old"."dietary_tags")::text is distinct from ("new"."dietary_tags")::text then '"dietary_tags":' || coalesce(to_json("old"."dietary_tags")::text, 'null')
          end,
          case
            when ("old"."modifier_groups")::text is distinct from ("new"."modifier_groups")::text then '"modifier_groups":' || coalesce(to_json("old"."modifier_groups")::text, 'null')
          end,
          case
            when ("old"."is_available")::text is distinct from ("new"."is_available")::text then '"is_available":' || coalesce(to_json("old"."is_available")::text, 'null')
          end,
          case
            when ("old"."sort_order")::text is distinct from ("new"."sort_order")::text then '"sort_order":' || coalesce(to_json("old"."sort_order")::text, 'null')
          end,
          case
            when ("old"."external_id")::text is distinct from ("new"."external_id")::text then '"external_id":' || coalesce(to_json("old"."external_id")::text, 'null')
          end,
          case
            when ("old"."hours")::text is distinct from ("new"."hours")::text then '"hours":' || coalesce(to_json("old"."hours")::text, 'null')
          end,
          case
            when (to_char("old"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text is distinct from (to_char("new"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text then '"unavailable_until":' || coalesce(
              to_json(to_char("old"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text,
              'null'
            )
          end
        ) || '}',
        '{}'
      )::json as "previous"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  locked_menus as (
    select
      menu_id,
      account_id
    from
      menu
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
    order by
      menu_id
    for no key update
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1,
      stamp = $2::integer
    where
      menu_id = any (
        array(
          select
            menu_id
          from
            locked_menus
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            locked_menus
        )
      )
  )
select
  "record"
from
  changed;

-- modifierGroups.deleteModifierGroup.lockItems
-- $1 account_id bigint
-- $2 modifier_group_id bigint
select
  item_id
from
  item
where
  (item_id, account_id) in (
    select
      used."item_id",
      used.account_id
    from
      modifier_group_use as used
    where
      used.account_id = $1::bigint
      and used.modifier_group_id = $2::bigint
      and used."item_id" is not null
  )
order by
  item_id
for no key update;

-- modifierGroups.deleteModifierGroup.lockMenus
-- $1 account_id bigint
-- $2 modifier_group_id bigint
select
  menu_id
from
  menu
where
  account_id = $1::bigint
  and menu_id = any (
    array(
      select
        unnest(menu_ids)
      from
        modifier_group
      where
        modifier_group_id = $2::bigint
        and account_id = $1::bigint
    )
  )
order by
  menu_id
for no key update;

-- modifierGroups.deleteModifierGroup.lockModifiers
-- $1 account_id bigint
-- $2 modifier_group_id bigint
select
  modifier_id
from
  modifier
where
  (modifier_id, account_id) in (
    select
      used."modifier_id",
      used.account_id
    from
      modifier_group_use as used
    where
      used.account_id = $1::bigint
      and used.modifier_group_id = $2::bigint
      and used."modifier_id" is not null
    union all
    select
      modifier_id,
      account_id
    from
      modifier
    where
      account_id = $1::bigint
      and modifier_group_id = $2::bigint
  )
order by
  modifier_id
for update;

-- modifierGroups.deleteModifierGroup.modifiers
-- $1 modifier_group_id bigint
-- $2 account_id bigint
-- $3 request_id text
with
  changed as (
    delete from modifier
    where
      modifier_group_id = $1::bigint
      and account_id = $2::bigint
    returning
      "old"."account_id" as "account_id",
      "old"."location_id" as "location_id",
      null::bigint as "menu_id",
      'modifier:' || "old"."modifier_id" as "record",
      array['modifier.deleted'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "old"."modifier_id" as "modifier_id",
              "old"."modifier_group_id" as "modifier_group_id",
              "old"."location_id" as "location_id",
              "old"."name" as "name",
              "old"."description" as "description",
              "old"."price" as "price",
              (
                "old"."is_available"
                or coalesce("old"."unavailable_until" <= now(), false)
              ) as "is_available",
              to_char(
                case
                  when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              "old"."default_quantity" as "default_quantity",
              "old"."item_id" as "item_id",
              "old"."allergens" as "allergens",
              "old"."dietary_tags" as "dietary_tags",
              "old"."sort_order" as "sort_order",
              "old"."external_id" as "external_id",
              to_char(
                case
                  when not (
                    "old"."is_available"
                    or coalesce("old"."unavailable_until" <= now(), false)
                  ) then "old"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "old"."is_available"
                  or coalesce("old"."unavailable_until" <= now(), false)
                ) then "old"."unavailable_by"
              end as "unavailable_by",
              to_char("old"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("old"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "old"."version" as "version",
              "old"."modifier_groups" as "modifier_groups"
          ) as fields
      ) as "resource",
      null::json as "previous",
      "old"."modifier_group_id" as "modifier_group_id"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  )
select
  "record"
from
  changed;

-- modifierGroups.deleteModifierGroup.users
-- $1 modifier_group_id bigint
-- $2 stamp integer
-- $3 account_id bigint
-- $4 request_id text
with
  changed as (
    update modifier
    set
      modifier_groups = (
        select
          coalesce(
            json_agg(
              use
              order by
                place
            ),
            '[]'
          )
        from
          json_array_elements("modifier"."modifier_groups") with ordinality as listed (use, place)
        where
          (use ->> 'modifier_group_id')::bigint <> $1::bigint
      ),
      version = "modifier"."version" + 1,
      stamp = $2::integer,
      updated_at = clock_timestamp()
    where
      (modifier_id, account_id) in (
        select
          used."modifier_id",
          used.account_id
        from
          modifier_group_use as used
        where
          used.account_id = $3::bigint
          and used.modifier_group_id = $1::bigint
          and used."modifier_id" is not null
      )
    returning
      "new"."account_id" as "account_id",
      "new"."location_id" as "location_id",
      null::bigint as "menu_id",
      'modifier:' || "new"."modifier_id" as "record",
      array['modifier.updated'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "new"."modifier_id" as "modifier_id",
              "new"."modifier_group_id" as "modifier_group_id",
              "new"."location_id" as "location_id",
              "new"."name" as "name",
              "new"."description" as "description",
              "new"."price" as "price",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              "new"."default_quantity" as "default_quantity",
              "new"."item_id" as "item_id",
              "new"."allergens" as "allergens",
              "new"."dietary_tags" as "dietary_tags",
              "new"."sort_order" as "sort_order",
              "new"."external_id" as "external_id",
              to_char(
                case
                  when not (
                    "new"."is_available"
                    or coalesce("new"."unavailable_until" <= now(), false)
                  ) then "new"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "new"."is_available"
                  or coalesce("new"."unavailable_until" <= now(), false)
                ) then "new"."unavailable_by"
              end as "unavailable_by",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version",
              "new"."modifier_groups" as "modifier_groups"
          ) as fields
      ) as "resource",
      nullif(
        '{' || concat_ws(
          ',',
          case
            when ("old"."modifier_id")::text is distinct from ("new"."modifier_id")::text then '"modifier_id":' || coalesce(to_json("old"."modifier_id")::text, 'null')
          end,
          case
            when ("old"."modifier_group_id")::text is distinct from ("new"."modifier_group_id")::text then '"modifier_group_id":' || coalesce(to_json("old"."modifier_group_id")::text, 'null')
          end,
          case
            when ("old"."location_id")::text is distinct from ("new"."location_id")::text then '"location_id":' || coalesce(to_json("old"."location_id")::text, 'null')
          end,
          case
            when ("old"."name")::text is distinct from ("new"."name")::text then '"name":' || coalesce(to_json("old"."name")::text, 'null')
          end,
          case
            when ("old"."description")::text is distinct from ("new"."description")::text then '"description":' || coalesce(to_json("old"."description")::text, 'null')
          end,
          case
            when ("old"."price")::text is distinct from ("new"."price")::text then '"price":' || coalesce(to_json("old"."price")::text, 'null')
          end,
          case
            when ("old"."is_available")::text is distinct from ("new"."is_available")::text then '"is_available":' || coalesce(to_json("old"."is_available")::text, 'null')
          end,
          case
            when (to_char("old"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text is distinct from (to_char("new"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text then '"unavailable_until":' || coalesce(
              to_json(to_char("old"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text,
              'null'
            )
          end,
          case
            when ("old"."default_quantity")::text is distinct from ("new"."default_quantity")::text then '"default_quantity":' || coalesce(to_json("old"."default_quantity")::text, 'null')
          end,
          case
            when ("old"."item_id")::text is distinct from ("new"."item_id")::text then '"item_id":' || coalesce(to_json("old"."item_id")::text, 'null')
          end,
          case
            when ("old"."allergens")::text is distinct from ("new"."allergens")::text then '"allergens":' || coalesce(to_json("old"."allergens")::text, 'null')
          end,
          case
            when ("old"."dietary_tags")::text is distinct from ("new"."dietary_tags")::text then '"dietary_tags":' || coalesce(to_json("old"."dietary_tags")::text, 'null')
          end,
          case
            when ("old"."sort_order")::text is distinct from ("new"."sort_order")::text then '"sort_order":' || coalesce(to_json("old"."sort_order")::text, 'null')
          end,
          case
            when ("old"."external_id")::text is distinct from ("new"."external_id")::text then '"external_id":' || coalesce(to_json("old"."external_id")::text, 'null')
          end,
          case
            when ("old"."modifier_groups")::text is distinct from ("new"."modifier_groups")::text then '"modifier_groups":' || coalesce(to_json("old"."modifier_groups")::text, 'null')
          end
        ) || '}',
        '{}'
      )::json as "previous",
      "new"."modifier_group_id" as "modifier_group_id"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  locked_groups as (
    select
      modifier_group_id,
      account_id
    from
      modifier_group
    where
      modifier_group_id = any (
        array(
          select
            modifier_group_id
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
    order by
      modifier_group_id
    for no key update
  ),
  touched_groups as (
    update modifier_group
    set
      content_version = content_version + 1,
      stamp = $2::integer
    where
      modifier_group_id = any (
        array(
          select
            modifier_group_id
          from
            locked_groups
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            locked_groups
        )
      )
    returning
      account_id,
      menu_ids
  ),
  locked_menus as (
    select
      menu_id,
      account_id
    from
      menu
    where
      menu_id = any (
        array(
          select
            unnest(menu_ids)
          from
            touched_groups
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            touched_groups
        )
      )
    order by
      menu_id
    for no key update
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1,
      stamp = $2::integer
    where
      menu_id = any (
        array(
          select
            menu_id
          from
            locked_menus
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            locked_menus
        )
      )
  )
select
  "record"
from
  changed;

-- modifierGroups.deleteModifierGroup.uses
-- $1 account_id bigint
-- $2 modifier_group_id bigint
delete from modifier_group_use
where
  account_id = $1::bigint
  and modifier_group_id = $2::bigint;

-- modifierGroups.endUses.items
-- $1 account_id bigint
-- $2 items bigint[]
delete from modifier_group_use as used
where
  used.account_id = $1::bigint
  and used."item_id" = any ($2::bigint[])
  and not exists (
    select
    from
      "item" as own,
      rows
    from
      (
        json_to_recordset(own.modifier_groups) as (modifier_group_id bigint, min_selections integer, max_selections integer)
      ) with ordinality as held (modifier_group_id, min_selections, max_selections, place)
    where
      own.account_id = used.account_id
      and own."item_id" = used."item_id"
      and held.modifier_group_id = used.modifier_group_id
  );

-- modifierGroups.endUses.modifiers
-- $1 account_id bigint
-- $2 modifiers bigint[]
delete from modifier_group_use as used
where
  used.account_id = $1::bigint
  and used."modifier_id" = any ($2::bigint[])
  and not exists (
    select
    from
      "modifier" as own,
      rows
    from
      (
        json_to_recordset(own.modifier_groups) as (modifier_group_id bigint, min_selections integer, max_selections integer)
      ) with ordinality as held (modifier_group_id, min_selections, max_selections, place)
    where
      own.account_id = used.account_id
      and own."modifier_id" = used."modifier_id"
      and held.modifier_group_id = used.modifier_group_id
  );

-- modifierGroups.getModifier
-- $1 account_id bigint
-- $2 location_ids bigint[]
-- $3 modifier_id bigint
-- $4 modifier_group_id bigint
-- $5 location_id bigint
select
  (
    "modifier"."account_id" = $1::bigint
    and (
      $2::bigint[] is null
      or "modifier"."location_id" = any ($2::bigint[])
    )
  ) as "within_reach",
  '"' || "modifier"."version" || '-' || to_hex("modifier"."stamp") || case
    when coalesce("modifier"."unavailable_until" <= now(), false) then '-restored'
    else ''
  end || '"' as "etag",
  (
    select
      to_json(fields)
    from
      (
        select
          "modifier"."modifier_id" as "modifier_id",
          "modifier"."modifier_group_id" as "modifier_group_id",
          "modifier"."location_id" as "location_id",
          "modifier"."name" as "name",
          "modifier"."description" as "description",
          "modifier"."price" as "price",
          (
            "modifier"."is_available"
            or coalesce("modifier"."unavailable_until" <= now(), false)
          ) as "is_available",
          to_char(
            case
              when not coalesce("modifier"."unavailable_until" <= now(), false) then "modifier"."unavailable_until"
            end at time zone 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
          ) as "unavailable_until",
          "modifier"."default_quantity" as "default_quantity",
          "modifier"."item_id" as "item_id",
          "modifier"."allergens" as "allergens",
          "modifier"."dietary_tags" as "dietary_tags",
          "modifier"."sort_order" as "sort_order",
          "modifier"."external_id" as "external_id",
          to_char(
            case
              when not (
                "modifier"."is_available"
                or coalesce("modifier"."unavailable_until" <= now(), false)
              ) then "modifier"."unavailable_since"
            end at time zone 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
          ) as "unavailable_since",
          case
            when not (
              "modifier"."is_available"
              or coalesce("modifier"."unavailable_until" <= now(), false)
            ) then "modifier"."unavailable_by"
          end as "unavailable_by",
          to_char("modifier"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
          to_char("modifier"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
          "modifier"."version" as "version",
          "modifier"."modifier_groups" as "modifier_groups"
      ) as fields
  ) as "resource"
from
  "modifier"
where
  (
    "modifier"."modifier_id" = $3::bigint
    and "modifier"."modifier_group_id" = $4::bigint
    and "modifier"."location_id" = $5::bigint
  );

-- modifierGroups.getModifierGroup
-- $1 account_id bigint
-- $2 location_ids bigint[]
-- $3 modifier_group_id bigint
-- $4 location_id bigint
select
  (
    "modifier_group"."account_id" = $1::bigint
    and (
      $2::bigint[] is null
      or "modifier_group"."location_id" = any ($2::bigint[])
    )
  ) as "within_reach",
  '"' || "modifier_group"."content_version" || '-' || to_hex("modifier_group"."stamp") || '-' || (
    select
      count(*)
    from
      modifier
    where
      modifier.modifier_group_id = "modifier_group"."modifier_group_id"
      and modifier.account_id = "modifier_group"."account_id"
      and modifier.unavailable_until <= now()
  ) || '"' as "etag",
  (
    select
      to_json(fields)
    from
      (
        select
          "modifier_group"."modifier_group_id" as "modifier_group_id",
          "modifier_group"."location_id" as "location_id",
          "modifier_group"."name" as "name",
          "modifier_group"."description" as "description",
          "modifier_group"."min_selections" as "min_selections",
          "modifier_group"."max_selections" as "max_selections",
          "modifier_group"."max_per_modifier" as "max_per_modifier",
          "modifier_group"."free_selections" as "free_selections",
          "modifier_group"."external_id" as "external_id",
          to_char("modifier_group"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
          to_char("modifier_group"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
          "modifier_group"."version" as "version",
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
                          "modifier"."modifier_id" as "modifier_id",
                          "modifier"."modifier_group_id" as "modifier_group_id",
                          "modifier"."location_id" as "location_id",
                          "modifier"."name" as "name",
                          "modifier"."description" as "description",
                          "modifier"."price" as "price",
                          (
                            "modifier"."is_available"
                            or coalesce("modifier"."unavailable_until" <= now(), false)
                          ) as "is_available",
                          to_char(
                            case
                              when not coalesce("modifier"."unavailable_until" <= now(), false) then "modifier"."unavailable_until"
                            end at time zone 'UTC',
                            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                          ) as "unavailable_until",
                          "modifier"."default_quantity" as "default_quantity",
                          "modifier"."item_id" as "item_id",
                          "modifier"."allergens" as "allergens",
                          "modifier"."dietary_tags" as "dietary_tags",
                          "modifier"."sort_order" as "sort_order",
                          "modifier"."external_id" as "external_id",
                          to_char(
                            case
                              when not (
                                "modifier"."is_available"
                                or coalesce("modifier"."unavailable_until" <= now(), false)
                              ) then "modifier"."unavailable_since"
                            end at time zone 'UTC',
                            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                          ) as "unavailable_since",
                          case
                            when not (
                              "modifier"."is_available"
                              or coalesce("modifier"."unavailable_until" <= now(), false)
                            ) then "modifier"."unavailable_by"
                          end as "unavailable_by",
                          to_char("modifier"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                          to_char("modifier"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                          "modifier"."version" as "version",
                          "modifier"."modifier_groups" as "modifier_groups"
                      ) as fields
                  )
                  order by
                    modifier.sort_order,
                    modifier.modifier_id
                ),
                '[]'
              )
            from
              modifier
            where
              modifier.modifier_group_id = modifier_group.modifier_group_id
              and modifier.account_id = modifier_group.account_id
          ) as "modifiers"
      ) as fields
  ) as "resource"
from
  "modifier_group"
where
  (
    "modifier_group"."modifier_group_id" = $3::bigint
    and "modifier_group"."location_id" = $4::bigint
  );

-- modifierGroups.keepUses.items
-- $1 account_id bigint
-- $2 items bigint[]
insert into
  modifier_group_use as used (account_id, modifier_group_id, "item_id", "menu_id", min_selections, max_selections)
select
  own.account_id,
  held.modifier_group_id,
  own."item_id",
  own."menu_id",
  held.min_selections,
  held.max_selections
from
  "item" as own,
  rows
from
  (
    json_to_recordset(own.modifier_groups) as (modifier_group_id bigint, min_selections integer, max_selections integer)
  ) with ordinality as held (modifier_group_id, min_selections, max_selections, place)
where
  own.account_id = $1::bigint
  and own."item_id" = any ($2::bigint[])
order by
  own."item_id",
  held.place
on conflict (account_id, "item_id", modifier_group_id) do update
set
  min_selections = excluded.min_selections,
  max_selections = excluded.max_selections;

-- modifierGroups.keepUses.modifiers
-- $1 account_id bigint
-- $2 modifiers bigint[]
insert into
  modifier_group_use as used (account_id, modifier_group_id, "modifier_id", "user_group_id", min_selections, max_selections)
select
  own.account_id,
  held.modifier_group_id,
  own."modifier_id",
  own."modifier_group_id",
  held.min_selections,
  held.max_selections
from
  "modifier" as own,
  rows
from
  (
    json_to_recordset(own.modifier_groups) as (modifier_group_id bigint, min_selections integer, max_selections integer)
  ) with ordinality as held (modifier_group_id, min_selections, max_selections, place)
where
  own.account_id = $1::bigint
  and own."modifier_id" = any ($2::bigint[])
order by
  own."modifier_id",
  held.place
on conflict (account_id, "modifier_id", modifier_group_id) do update
set
  min_selections = excluded.min_selections,
  max_selections = excluded.max_selections;

-- modifierGroups.listModifierGroupUses
-- $1 account_id bigint
-- $2 modifier_group_id bigint
-- $3 after bigint
-- $4 limit bigint
select
  "modifier_group_use_id" as "id",
  (
    select
      to_json(fields)
    from
      (
        select
          "modifier_group_use"."item_id" as "item_id",
          "modifier_group_use"."menu_id" as "menu_id",
          "modifier_group_use"."modifier_id" as "modifier_id",
          "modifier_group_use"."user_group_id" as "modifier_group_id",
          "modifier_group_use"."min_selections" as "min_selections",
          "modifier_group_use"."max_selections" as "max_selections"
      ) as fields
  ) as "resource"
from
  "modifier_group_use"
where
  "account_id" = $1::bigint
  and "modifier_group_id" = $2::bigint
  and "modifier_group_use_id" > $3::bigint
order by
  "modifier_group_use_id"
limit
  $4::bigint;

-- modifierGroups.listModifierGroups
-- $1 location_id bigint
-- $2 account_id bigint
-- $3 location_ids bigint[]
-- $4 after bigint
-- $5 external_id text
-- $6 updated_since timestamptz
-- $7 limit bigint
-- Conditions that are there when given: external_id, updated_since
select
  "modifier_group_id" as "id",
  (
    select
      to_json(fields)
    from
      (
        select
          "modifier_group"."modifier_group_id" as "modifier_group_id",
          "modifier_group"."location_id" as "location_id",
          "modifier_group"."name" as "name",
          "modifier_group"."description" as "description",
          "modifier_group"."min_selections" as "min_selections",
          "modifier_group"."max_selections" as "max_selections",
          "modifier_group"."max_per_modifier" as "max_per_modifier",
          "modifier_group"."free_selections" as "free_selections",
          "modifier_group"."external_id" as "external_id",
          to_char("modifier_group"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
          to_char("modifier_group"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
          "modifier_group"."version" as "version",
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
                          "modifier"."modifier_id" as "modifier_id",
                          "modifier"."modifier_group_id" as "modifier_group_id",
                          "modifier"."location_id" as "location_id",
                          "modifier"."name" as "name",
                          "modifier"."description" as "description",
                          "modifier"."price" as "price",
                          (
                            "modifier"."is_available"
                            or coalesce("modifier"."unavailable_until" <= now(), false)
                          ) as "is_available",
                          to_char(
                            case
                              when not coalesce("modifier"."unavailable_until" <= now(), false) then "modifier"."unavailable_until"
                            end at time zone 'UTC',
                            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                          ) as "unavailable_until",
                          "modifier"."default_quantity" as "default_quantity",
                          "modifier"."item_id" as "item_id",
                          "modifier"."allergens" as "allergens",
                          "modifier"."dietary_tags" as "dietary_tags",
                          "modifier"."sort_order" as "sort_order",
                          "modifier"."external_id" as "external_id",
                          to_char(
                            case
                              when not (
                                "modifier"."is_available"
                                or coalesce("modifier"."unavailable_until" <= now(), false)
                              ) then "modifier"."unavailable_since"
                            end at time zone 'UTC',
                            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                          ) as "unavailable_since",
                          case
                            when not (
                              "modifier"."is_available"
                              or coalesce("modifier"."unavailable_until" <= now(), false)
                            ) then "modifier"."unavailable_by"
                          end as "unavailable_by",
                          to_char("modifier"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                          to_char("modifier"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                          "modifier"."version" as "version",
                          "modifier"."modifier_groups" as "modifier_groups"
                      ) as fields
                  )
                  order by
                    modifier.sort_order,
                    modifier.modifier_id
                ),
                '[]'
              )
            from
              modifier
            where
              modifier.modifier_group_id = modifier_group.modifier_group_id
              and modifier.account_id = modifier_group.account_id
          ) as "modifiers"
      ) as fields
  ) as "resource"
from
  "modifier_group"
where
  "location_id" = $1::bigint
  and (
    "modifier_group"."account_id" = $2::bigint
    and (
      $3::bigint[] is null
      or "modifier_group"."location_id" = any ($3::bigint[])
    )
  )
  and "modifier_group_id" > $4::bigint
  and "external_id" = $5::text
  and (
    updated_at >= $6::timestamptz
    or exists (
      select
      from
        modifier
      where
        modifier.modifier_group_id = modifier_group.modifier_group_id
        and modifier.account_id = modifier_group.account_id
        and updated_at >= $6::timestamptz
    )
  )
order by
  "modifier_group_id"
limit
  $7::bigint;

-- modifierGroups.lockGroups
-- $1 account_id bigint
-- $2 location_id bigint
select
  "modifier_group_id"
from
  "modifier_group"
where
  "account_id" = $1::bigint
  and "location_id" = $2::bigint
order by
  "modifier_group_id"
for no key update;

-- modifierGroups.lockItem
-- $1 item_id bigint
-- $2 menu_id bigint
-- $3 account_id bigint
-- $4 location_ids bigint[]
select
  '"' || "item"."version" || '-' || to_hex("item"."stamp") || case
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
          "item"."modifier_groups" as "modifier_groups",
          (
            "item"."is_available"
            or coalesce("item"."unavailable_until" <= now(), false)
          ) as "is_available",
          "item"."sort_order" as "sort_order",
          to_char("item"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
          "item"."external_id" as "external_id",
          "item"."hours" as "hours",
          to_char(
            case
              when not coalesce("item"."unavailable_until" <= now(), false) then "item"."unavailable_until"
            end at time zone 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
          ) as "unavailable_until",
          to_char(
            case
              when not (
                "item"."is_available"
                or coalesce("item"."unavailable_until" <= now(), false)
              ) then "item"."unavailable_since"
            end at time zone 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
          ) as "unavailable_since",
          case
            when not (
              "item"."is_available"
              or coalesce("item"."unavailable_until" <= now(), false)
            ) then "item"."unavailable_by"
          end as "unavailable_by",
          to_char("item"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
          "item"."version" as "version"
      ) as fields
  ) as "resource",
  "modifier_groups"
from
  "item"
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
for no key update;

-- modifierGroups.lockModifier
-- $1 modifier_id bigint
-- $2 modifier_group_id bigint
-- $3 location_id bigint
-- $4 account_id bigint
-- $5 location_ids bigint[]
select
  '"' || "modifier"."version" || '-' || to_hex("modifier"."stamp") || case
    when coalesce("modifier"."unavailable_until" <= now(), false) then '-restored'
    else ''
  end || '"' as "etag",
  "modifier_groups",
  (
    select
      to_json(fields)
    from
      (
        select
          "modifier"."modifier_id" as "modifier_id",
          "modifier"."modifier_group_id" as "modifier_group_id",
          "modifier"."location_id" as "location_id",
          "modifier"."name" as "name",
          "modifier"."description" as "description",
          "modifier"."price" as "price",
          (
            "modifier"."is_available"
            or coalesce("modifier"."unavailable_until" <= now(), false)
          ) as "is_available",
          to_char(
            case
              when not coalesce("modifier"."unavailable_until" <= now(), false) then "modifier"."unavailable_until"
            end at time zone 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
          ) as "unavailable_until",
          "modifier"."default_quantity" as "default_quantity",
          "modifier"."item_id" as "item_id",
          "modifier"."allergens" as "allergens",
          "modifier"."dietary_tags" as "dietary_tags",
          "modifier"."sort_order" as "sort_order",
          "modifier"."external_id" as "external_id",
          to_char(
            case
              when not (
                "modifier"."is_available"
                or coalesce("modifier"."unavailable_until" <= now(), false)
              ) then "modifier"."unavailable_since"
            end at time zone 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
          ) as "unavailable_since",
          case
            when not (
              "modifier"."is_available"
              or coalesce("modifier"."unavailable_until" <= now(), false)
            ) then "modifier"."unavailable_by"
          end as "unavailable_by",
          to_char("modifier"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
          to_char("modifier"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
          "modifier"."version" as "version",
          "modifier"."modifier_groups" as "modifier_groups"
      ) as fields
  ) as "resource"
from
  "modifier"
where
  (
    (
      "modifier"."modifier_id" = $1::bigint
      and "modifier"."modifier_group_id" = $2::bigint
      and "modifier"."location_id" = $3::bigint
    )
    and (
      "modifier"."account_id" = $4::bigint
      and (
        $5::bigint[] is null
        or "modifier"."location_id" = any ($5::bigint[])
      )
    )
  )
for update;

-- modifierGroups.lockModifiers
-- $1 account_id bigint
-- $2 location_id bigint
-- $3 groups bigint[]
select
  "modifier_id"
from
  "modifier"
where
  "account_id" = $1::bigint
  and "location_id" = $2::bigint
  and modifier_group_id = any ($3::bigint[])
order by
  "modifier_id"
for update;

-- modifierGroups.missingItems
-- $1 items bigint[]
-- $2 account_id bigint
-- $3 location_id bigint
select
  wanted.item_id
from
  unnest($1::bigint[]) as wanted (item_id)
where
  not exists (
    select
    from
      item
    where
      item.item_id = wanted.item_id
      and item.account_id = $2::bigint
      and item.location_id = $3::bigint
  );

-- modifierGroups.nestings
-- $1 account_id bigint
-- $2 location_id bigint
-- $3 modifier_id bigint
select distinct
  used.user_group_id as "outer",
  used.modifier_group_id as "inner"
from
  modifier_group as own
  join modifier_group_use as used on used.account_id = own.account_id
  and used.user_group_id = own.modifier_group_id
where
  own.account_id = $1::bigint
  and own.location_id = $2::bigint
  and used.modifier_id <> $3::bigint;

-- modifierGroups.noteShowingMenus
-- $1 account_id bigint
-- $2 location_id bigint
with recursive
  shown (menu_id, modifier_group_id) as (
    select
      used.menu_id,
      used.modifier_group_id
    from
      modifier_group as own
      join modifier_group_use as used using (account_id, modifier_group_id)
    where
      own.account_id = $1::bigint
      and own.location_id = $2::bigint
      and used.menu_id is not null
    union
    select
      shown.menu_id,
      used.modifier_group_id
    from
      shown
      join modifier_group_use as used on used.account_id = $1::bigint
      and used.user_group_id = shown.modifier_group_id
  ),
  wanted as (
    select
      own.modifier_group_id,
      own.account_id,
      coalesce(
        array_agg(
          shown.menu_id
          order by
            shown.menu_id
        ) filter (
          where
            shown.menu_id is not null
        ),
        '{}'
      ) as menu_ids
    from
      modifier_group as own
      left join shown using (modifier_group_id)
    where
      own.account_id = $1::bigint
      and own.location_id = $2::bigint
    group by
      own.modifier_group_id,
      own.account_id
  )
update modifier_group
set
  menu_ids = wanted.menu_ids
from
  wanted
where
  modifier_group.modifier_group_id = wanted.modifier_group_id
  and modifier_group.account_id = wanted.account_id
  and modifier_group.menu_ids <> wanted.menu_ids;

-- modifierGroups.placeOfItem
-- $1 item_id bigint
-- $2 menu_id bigint
-- $3 account_id bigint
-- $4 location_ids bigint[]
select
  "account_id",
  "location_id"
from
  "item"
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
  );

-- modifierGroups.requireGroup
-- $1 account_id bigint
-- $2 location_ids bigint[]
-- $3 modifier_group_id bigint
-- $4 location_id bigint
select
  (
    "modifier_group"."account_id" = $1::bigint
    and (
      $2::bigint[] is null
      or "modifier_group"."location_id" = any ($2::bigint[])
    )
  ) as "within_reach"
from
  "modifier_group"
where
  (
    "modifier_group"."modifier_group_id" = $3::bigint
    and "modifier_group"."location_id" = $4::bigint
  );

-- modifierGroups.requireModifier
-- $1 account_id bigint
-- $2 location_ids bigint[]
-- $3 modifier_id bigint
-- $4 modifier_group_id bigint
-- $5 location_id bigint
select
  (
    "modifier"."account_id" = $1::bigint
    and (
      $2::bigint[] is null
      or "modifier"."location_id" = any ($2::bigint[])
    )
  ) as "within_reach"
from
  "modifier"
where
  (
    "modifier"."modifier_id" = $3::bigint
    and "modifier"."modifier_group_id" = $4::bigint
    and "modifier"."location_id" = $5::bigint
  );

-- modifierGroups.restore.hours
-- $1 location_id bigint
-- $2 account_id bigint
-- $3 location_ids bigint[]
select
  timezone,
  json_build_array(hours) as levels,
  floor(
    extract(
      epoch
      from
        now()
    ) * 1000
  ) as now
from
  location
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
  );

-- modifierGroups.restoreDueModifiers
-- $1 stamp integer
-- $2 request_id text
with
  changed as (
    update "modifier"
    set
      is_available = true,
      unavailable_until = null,
      unavailable_since = null,
      unavailable_by = null,
      version = "modifier".version + 1,
      stamp = $1::integer,
      updated_at = clock_timestamp()
    where
      (
        select
          pg_try_advisory_xact_lock(hashtextextended ('restore modifiers', 0))
      )
      and ("modifier_id", account_id) in (
        select
          due."modifier_id",
          due.account_id
        from
          "modifier" as due
        where
          due.unavailable_until <= now()
          and not exists (
            select
            from
              account_move
            where
              account_move.account_id = "due"."account_id"
          )
        order by
          due."modifier_id"
        limit
          500
        for update
          skip locked
      )
    returning
      "new"."account_id" as "account_id",
      "new"."location_id" as "location_id",
      null::bigint as "menu_id",
      'modifier:' || "new"."modifier_id" as "record",
      array['modifier.toggled'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "new"."modifier_id" as "modifier_id",
              "new"."modifier_group_id" as "modifier_group_id",
              "new"."location_id" as "location_id",
              "new"."name" as "name",
              "new"."description" as "description",
              "new"."price" as "price",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              "new"."default_quantity" as "default_quantity",
              "new"."item_id" as "item_id",
              "new"."allergens" as "allergens",
              "new"."dietary_tags" as "dietary_tags",
              "new"."sort_order" as "sort_order",
              "new"."external_id" as "external_id",
              to_char(
                case
                  when not (
                    "new"."is_available"
                    or coalesce("new"."unavailable_until" <= now(), false)
                  ) then "new"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "new"."is_available"
                  or coalesce("new"."unavailable_until" <= now(), false)
                ) then "new"."unavailable_by"
              end as "unavailable_by",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version",
              "new"."modifier_groups" as "modifier_groups"
          ) as fields
      ) as "resource",
      nullif(
        '{' || concat_ws(
          ',',
          case
            when (
              case
                when new.is_available then old.is_available
                else (
                  "old"."is_available"
                  or coalesce("old"."unavailable_until" <= now(), false)
                )
              end
            )::text is distinct from ("new"."is_available")::text then '"is_available":' || coalesce(
              to_json(
                case
                  when new.is_available then old.is_available
                  else (
                    "old"."is_available"
                    or coalesce("old"."unavailable_until" <= now(), false)
                  )
                end
              )::text,
              'null'
            )
          end,
          case
            when (
              to_char(
                case
                  when new.is_available then old.unavailable_until
                  else case
                    when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                  end
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              )
            )::text is distinct from (to_char("new"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text then '"unavailable_until":' || coalesce(
              to_json(
                to_char(
                  case
                    when new.is_available then old.unavailable_until
                    else case
                      when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                    end
                  end at time zone 'UTC',
                  'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                )
              )::text,
              'null'
            )
          end
        ) || '}',
        '{}'
      )::json as "previous",
      "new"."modifier_group_id" as "modifier_group_id"
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
              $2::text as "request_id"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  locked_groups as (
    select
      modifier_group_id,
      account_id
    from
      modifier_group
    where
      modifier_group_id = any (
        array(
          select
            modifier_group_id
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
    order by
      modifier_group_id
    for no key update
  ),
  touched_groups as (
    update modifier_group
    set
      content_version = content_version + 1,
      stamp = $1::integer
    where
      modifier_group_id = any (
        array(
          select
            modifier_group_id
          from
            locked_groups
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            locked_groups
        )
      )
    returning
      account_id,
      menu_ids
  ),
  locked_menus as (
    select
      menu_id,
      account_id
    from
      menu
    where
      menu_id = any (
        array(
          select
            unnest(menu_ids)
          from
            touched_groups
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            touched_groups
        )
      )
    order by
      menu_id
    for no key update
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1,
      stamp = $1::integer
    where
      menu_id = any (
        array(
          select
            menu_id
          from
            locked_menus
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            locked_menus
        )
      )
  )
select
  "record"
from
  changed;

-- modifierGroups.rules
-- $1 account_id bigint
-- $2 location_id bigint
-- $3 groups bigint[]
select
  modifier_group_id,
  min_selections,
  max_selections,
  max_per_modifier,
  (
    select
      coalesce(json_agg(json_build_object('modifier_id', modifier_id, 'default_quantity', default_quantity)), '[]')
    from
      modifier
    where
      modifier.account_id = own.account_id
      and modifier.modifier_group_id = own.modifier_group_id
  ) as defaults,
  (
    select
      coalesce(
        json_agg(json_build_object('min_selections', min_selections, 'max_selections', max_selections)),
        '[]'
      )
    from
      (
        select distinct
          min_selections,
          max_selections
        from
          modifier_group_use as used
        where
          used.account_id = own.account_id
          and used.modifier_group_id = own.modifier_group_id
          and coalesce(min_selections, max_selections) is not null
      ) as numbers
  ) as own_numbers
from
  modifier_group as own
where
  account_id = $1::bigint
  and location_id = $2::bigint
  and modifier_group_id = any ($3::bigint[]);

-- modifierGroups.setItemModifierGroups
-- $1 uses json
-- $2 stamp integer
-- $3 item_id bigint
-- $4 menu_id bigint
-- $5 account_id bigint
-- $6 location_ids bigint[]
-- $7 request_id text
with
  changed as (
    update "item"
    set
      "modifier_groups" = $1::json,
      "version" = "item"."version" + 1,
      "stamp" = $2::integer,
      "updated_at" = clock_timestamp()
    where
      (
        (
          "item"."item_id" = $3::bigint
          and "item"."menu_id" = $4::bigint
        )
        and (
          "item"."account_id" = $5::bigint
          and (
            $6::bigint[] is null
            or "item"."location_id" = any ($6::bigint[])
          )
        )
      )
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
              "new"."modifier_groups" as "modifier_groups",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              "new"."sort_order" as "sort_order",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              "new"."external_id" as "external_id",
              "new"."hours" as "hours",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              to_char(
                case
                  when not (
                    "new"."is_available"
                    or coalesce("new"."unavailable_until" <= now(), false)
                  ) then "new"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "new"."is_available"
                  or coalesce("new"."unavailable_until" <= now(), false)
                ) then "new"."unavailable_by"
              end as "unavailable_by",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      nullif(
        '{' || concat_ws(
          ',',
          case
            when ("old"."item_id")::text is distinct from ("new"."item_id")::text then '"item_id":' || coalesce(to_json("old"."item_id")::text, 'null')
          end,
          case
            when ("old"."category_id")::text is distinct from ("new"."category_id")::text then '"category_id":' || coalesce(to_json("old"."category_id")::text, 'null')
          end,
          case
            when ("old"."menu_id")::text is distinct from ("new"."menu_id")::text then '"menu_id":' || coalesce(to_json("old"."menu_id")::text, 'null')
          end,
          case
            when ("old"."name")::text is distinct from ("new"."name")::text then '"name":' || coalesce(to_json("old"."name")::text, 'null')
          end,
          case
            when ("old"."description")::text is distinct from ("new"."description")::text then '"description":' || coalesce(to_json("old"."description")::text, 'null')
          end,
          case
            when ("old"."price")::text is distinct from ("new"."price")::text then '"price":' || coalesce(to_json("old"."price")::text, 'null')
          end,
          case
            when ("old"."photo_url")::text is distinct from ("new"."photo_url")::text then '"photo_url":' || coalesce(to_json("old"."photo_url")::text, 'null')
          end,
          case
            when ("old"."allergens")::text is distinct from ("new"."allergens")::text then '"allergens":' || coalesce(to_json("old"."allergens")::text, 'null')
          end,
          case
            when ("old"."dietary_tags")::text is distinct from ("new"."dietary_tags")::text then '"dietary_tags":' || coalesce(to_json("old"."dietary_tags")::text, 'null')
          end,
          case
            when ("old"."modifier_groups")::text is distinct from ("new"."modifier_groups")::text then '"modifier_groups":' || coalesce(to_json("old"."modifier_groups")::text, 'null')
          end,
          case
            when ("old"."is_available")::text is distinct from ("new"."is_available")::text then '"is_available":' || coalesce(to_json("old"."is_available")::text, 'null')
          end,
          case
            when ("old"."sort_order")::text is distinct from ("new"."sort_order")::text then '"sort_order":' || coalesce(to_json("old"."sort_order")::text, 'null')
          end,
          case
            when ("old"."external_id")::text is distinct from ("new"."external_id")::text then '"external_id":' || coalesce(to_json("old"."external_id")::text, 'null')
          end,
          case
            when ("old"."hours")::text is distinct from ("new"."hours")::text then '"hours":' || coalesce(to_json("old"."hours")::text, 'null')
          end,
          case
            when (to_char("old"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text is distinct from (to_char("new"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text then '"unavailable_until":' || coalesce(
              to_json(to_char("old"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text,
              'null'
            )
          end
        ) || '}',
        '{}'
      )::json as "previous",
      '"' || "new"."version" || '-' || to_hex("new"."stamp") || case
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1,
      stamp = $2::integer
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

-- modifierGroups.setModifierAvailability
-- $1 ids bigint[]
-- $2 external_ids text[]
-- $3 availables boolean[]
-- $4 untils timestamptz[]
-- $5 plans boolean[]
-- $6 restores boolean[]
-- $7 location_id bigint
-- $8 account_id bigint
-- $9 location_ids bigint[]
-- $10 returned_ids bigint[]
-- $11 returned_untils timestamptz[]
-- $12 client_id text
-- $13 stamp integer
-- $14 request_id text
with
  wanted as (
    select
      id,
      external_id,
      is_available,
      unavailable_until,
      has_plan,
      restores,
      place::int - 1 as place
    from
      unnest($1::bigint[], $2::text[], $3::boolean[], $4::timestamptz[], $5::boolean[], $6::boolean[]) with ordinality as wanted (id, external_id, is_available, unavailable_until, has_plan, restores, place)
  ),
  named as materialized (
    select
      id
    from
      wanted
    where
      id is not null
    union all
    select
      "modifier"."modifier_id"
    from
      wanted
      join "modifier" using (external_id)
    where
      wanted.external_id is not null
      and "modifier"."location_id" = $7::bigint
      and "modifier"."account_id" = $8::bigint
    limit
      1001
  ),
  locked as (
    select
      *
    from
      "modifier"
    where
      "modifier"."location_id" = $7::bigint
      and (
        "modifier"."account_id" = $8::bigint
        and (
          $9::bigint[] is null
          or "modifier"."location_id" = any ($9::bigint[])
        )
      )
      and "modifier"."modifier_id" = any (
        array(
          select
            id
          from
            named
        )
      )
      and not (
        (
          select
            count(*)
          from
            named
        ) > 1000
      )
    order by
      "modifier"."modifier_id"
    for no key update
  ),
  matched as (
    select
      locked.*,
      wanted.place,
      wanted.is_available as wants_available,
      wanted.unavailable_until as wanted_until,
      wanted.has_plan,
      wanted.restores
    from
      wanted
      join locked on "locked"."modifier_id" = wanted.id
    union all
    select
      locked.*,
      wanted.place,
      wanted.is_available as wants_available,
      wanted.unavailable_until as wanted_until,
      wanted.has_plan,
      wanted.restores
    from
      wanted
      join locked on locked.external_id = wanted.external_id
    where
      wanted.external_id is not null
  ),
  found as (
    select
      place,
      min(place) over (
        partition by
          "matched"."modifier_id"
      ) as first_place,
      "matched"."modifier_id" as id,
      account_id,
      external_id,
      becomes_available,
      returns_at,
      differs,
      case
        when not differs then (
          select
            to_json(fields)
          from
            (
              select
                "matched"."modifier_id" as "modifier_id",
                "matched"."modifier_group_id" as "modifier_group_id",
                "matched"."location_id" as "location_id",
                "matched"."name" as "name",
                "matched"."description" as "description",
                "matched"."price" as "price",
                (
                  "matched"."is_available"
                  or coalesce("matched"."unavailable_until" <= now(), false)
                ) as "is_available",
                to_char(
                  case
                    when not coalesce("matched"."unavailable_until" <= now(), false) then "matched"."unavailable_until"
                  end at time zone 'UTC',
                  'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                ) as "unavailable_until",
                "matched"."default_quantity" as "default_quantity",
                "matched"."item_id" as "item_id",
                "matched"."allergens" as "allergens",
                "matched"."dietary_tags" as "dietary_tags",
                "matched"."sort_order" as "sort_order",
                "matched"."external_id" as "external_id",
                to_char(
                  case
                    when not (
                      "matched"."is_available"
                      or coalesce("matched"."unavailable_until" <= now(), false)
                    ) then "matched"."unavailable_since"
                  end at time zone 'UTC',
                  'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                ) as "unavailable_since",
                case
                  when not (
                    "matched"."is_available"
                    or coalesce("matched"."unavailable_until" <= now(), false)
                  ) then "matched"."unavailable_by"
                end as "unavailable_by",
                to_char("matched"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
                to_char("matched"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
                "matched"."version" as "version",
                "matched"."modifier_groups" as "modifier_groups"
            ) as fields
        )
      end as shown
    from
      matched
      left join unnest($10::bigint[], $11::timestamptz[]) as returned (id, until) on returned.id = "matched"."modifier_id"
      cross join lateral (
        select
          case
            when wants_available then null
            when restores then returned.until
            when has_plan then wanted_until
            else case
              when not coalesce("matched"."unavailable_until" <= now(), false) then "matched"."unavailable_until"
            end
          end as wanted_return
      ) as plan
      cross join lateral (
        select
          wants_available
          or coalesce(wanted_return <= now(), false) as becomes_available,
          case
            when wanted_return > now() then wanted_return
          end as returns_at
      ) as ending
      cross join lateral (
        select
          (becomes_available, returns_at) is distinct from (
            (
              "matched"."is_available"
              or coalesce("matched"."unavailable_until" <= now(), false)
            ),
            case
              when not coalesce("matched"."unavailable_until" <= now(), false) then "matched"."unavailable_until"
            end
          ) as differs
      ) as comparison
    where
      not restores
      or returned.id is not null
  ),
  changed as (
    update "modifier"
    set
      "is_available" = "found"."becomes_available",
      "unavailable_until" = "found"."returns_at",
      "unavailable_since" = case
        when not "found"."becomes_available" then case
          when (
            "modifier"."is_available"
            or coalesce("modifier"."unavailable_until" <= now(), false)
          ) then clock_timestamp()
          else "modifier"."unavailable_since"
        end
      end,
      "unavailable_by" = case
        when not "found"."becomes_available" then case
          when (
            "modifier"."is_available"
            or coalesce("modifier"."unavailable_until" <= now(), false)
          ) then $12::text
          else "modifier"."unavailable_by"
        end
      end,
      "version" = "modifier"."version" + 1,
      "stamp" = $13::integer,
      "updated_at" = clock_timestamp()
    from
      found
    where
      "modifier"."modifier_id" = found.id
      and "modifier"."account_id" = found.account_id
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
      null::bigint as "menu_id",
      'modifier:' || "new"."modifier_id" as "record",
      array[
        case
          when (
            old.is_available <> new.is_available
            or (
              "old"."is_available"
              or coalesce("old"."unavailable_until" <= now(), false)
            ) <> new.is_available
          ) then 'modifier.toggled'
          else 'modifier.updated'
        end
      ] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "new"."modifier_id" as "modifier_id",
              "new"."modifier_group_id" as "modifier_group_id",
              "new"."location_id" as "location_id",
              "new"."name" as "name",
              "new"."description" as "description",
              "new"."price" as "price",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              "new"."default_quantity" as "default_quantity",
              "new"."item_id" as "item_id",
              "new"."allergens" as "allergens",
              "new"."dietary_tags" as "dietary_tags",
              "new"."sort_order" as "sort_order",
              "new"."external_id" as "external_id",
              to_char(
                case
                  when not (
                    "new"."is_available"
                    or coalesce("new"."unavailable_until" <= now(), false)
                  ) then "new"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "new"."is_available"
                  or coalesce("new"."unavailable_until" <= now(), false)
                ) then "new"."unavailable_by"
              end as "unavailable_by",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version",
              "new"."modifier_groups" as "modifier_groups"
          ) as fields
      ) as "resource",
      nullif(
        '{' || concat_ws(
          ',',
          case
            when (
              case
                when new.is_available then old.is_available
                else (
                  "old"."is_available"
                  or coalesce("old"."unavailable_until" <= now(), false)
                )
              end
            )::text is distinct from ("new"."is_available")::text then '"is_available":' || coalesce(
              to_json(
                case
                  when new.is_available then old.is_available
                  else (
                    "old"."is_available"
                    or coalesce("old"."unavailable_until" <= now(), false)
                  )
                end
              )::text,
              'null'
            )
          end,
          case
            when (
              to_char(
                case
                  when new.is_available then old.unavailable_until
                  else case
                    when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                  end
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              )
            )::text is distinct from (to_char("new"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text then '"unavailable_until":' || coalesce(
              to_json(
                to_char(
                  case
                    when new.is_available then old.unavailable_until
                    else case
                      when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                    end
                  end at time zone 'UTC',
                  'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                )
              )::text,
              'null'
            )
          end
        ) || '}',
        '{}'
      )::json as "previous",
      "new"."modifier_group_id" as "modifier_group_id",
      "new"."modifier_id" as "id"
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
              $14::text as "request_id"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  locked_groups as (
    select
      modifier_group_id,
      account_id
    from
      modifier_group
    where
      modifier_group_id = any (
        array(
          select
            modifier_group_id
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
    order by
      modifier_group_id
    for no key update
  ),
  touched_groups as (
    update modifier_group
    set
      content_version = content_version + 1,
      stamp = $13::integer
    where
      modifier_group_id = any (
        array(
          select
            modifier_group_id
          from
            locked_groups
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            locked_groups
        )
      )
    returning
      account_id,
      menu_ids
  ),
  locked_menus as (
    select
      menu_id,
      account_id
    from
      menu
    where
      menu_id = any (
        array(
          select
            unnest(menu_ids)
          from
            touched_groups
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            touched_groups
        )
      )
    order by
      menu_id
    for no key update
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1,
      stamp = $13::integer
    where
      menu_id = any (
        array(
          select
            menu_id
          from
            locked_menus
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            locked_menus
        )
      )
  )
select
  wanted.place,
  case
    when changed.id is not null then 'changed'
    when found.id is not null then 'unchanged'
    else 'not_found'
  end as outcome,
  (
    select
      to_json(fields)
    from
      (
        select
          coalesce(found.id, wanted.id) as "modifier_id",
          case
            when found.id is null then wanted.external_id
            else found.external_id
          end as "external_id",
          case
            when changed.id is not null then 'changed'
            when found.id is not null then 'unchanged'
            else 'not_found'
          end as "result",
          coalesce(changed.resource, found.shown) as "modifier"
      ) as fields
  ) as result,
  found.first_place,
  (
    (
      select
        count(*)
      from
        named
    ) > 1000
  ) as are_too_many
from
  wanted
  left join found using (place)
  left join changed on changed.id = found.id
order by
  wanted.place,
  found.id;

-- modifierGroups.setModifierModifierGroups
-- $1 uses json
-- $2 stamp integer
-- $3 modifier_id bigint
-- $4 modifier_group_id bigint
-- $5 location_id bigint
-- $6 account_id bigint
-- $7 location_ids bigint[]
-- $8 request_id text
with
  changed as (
    update "modifier"
    set
      "modifier_groups" = $1::json,
      "version" = "modifier"."version" + 1,
      "stamp" = $2::integer,
      "updated_at" = clock_timestamp()
    where
      (
        (
          "modifier"."modifier_id" = $3::bigint
          and "modifier"."modifier_group_id" = $4::bigint
          and "modifier"."location_id" = $5::bigint
        )
        and (
          "modifier"."account_id" = $6::bigint
          and (
            $7::bigint[] is null
            or "modifier"."location_id" = any ($7::bigint[])
          )
        )
      )
    returning
      "new"."account_id" as "account_id",
      "new"."location_id" as "location_id",
      null::bigint as "menu_id",
      'modifier:' || "new"."modifier_id" as "record",
      array['modifier.updated'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "new"."modifier_id" as "modifier_id",
              "new"."modifier_group_id" as "modifier_group_id",
              "new"."location_id" as "location_id",
              "new"."name" as "name",
              "new"."description" as "description",
              "new"."price" as "price",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              "new"."default_quantity" as "default_quantity",
              "new"."item_id" as "item_id",
              "new"."allergens" as "allergens",
              "new"."dietary_tags" as "dietary_tags",
              "new"."sort_order" as "sort_order",
              "new"."external_id" as "external_id",
              to_char(
                case
                  when not (
                    "new"."is_available"
                    or coalesce("new"."unavailable_until" <= now(), false)
                  ) then "new"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "new"."is_available"
                  or coalesce("new"."unavailable_until" <= now(), false)
                ) then "new"."unavailable_by"
              end as "unavailable_by",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version",
              "new"."modifier_groups" as "modifier_groups"
          ) as fields
      ) as "resource",
      nullif(
        '{' || concat_ws(
          ',',
          case
            when ("old"."modifier_id")::text is distinct from ("new"."modifier_id")::text then '"modifier_id":' || coalesce(to_json("old"."modifier_id")::text, 'null')
          end,
          case
            when ("old"."modifier_group_id")::text is distinct from ("new"."modifier_group_id")::text then '"modifier_group_id":' || coalesce(to_json("old"."modifier_group_id")::text, 'null')
          end,
          case
            when ("old"."location_id")::text is distinct from ("new"."location_id")::text then '"location_id":' || coalesce(to_json("old"."location_id")::text, 'null')
          end,
          case
            when ("old"."name")::text is distinct from ("new"."name")::text then '"name":' || coalesce(to_json("old"."name")::text, 'null')
          end,
          case
            when ("old"."description")::text is distinct from ("new"."description")::text then '"description":' || coalesce(to_json("old"."description")::text, 'null')
          end,
          case
            when ("old"."price")::text is distinct from ("new"."price")::text then '"price":' || coalesce(to_json("old"."price")::text, 'null')
          end,
          case
            when ("old"."is_available")::text is distinct from ("new"."is_available")::text then '"is_available":' || coalesce(to_json("old"."is_available")::text, 'null')
          end,
          case
            when (to_char("old"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text is distinct from (to_char("new"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text then '"unavailable_until":' || coalesce(
              to_json(to_char("old"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text,
              'null'
            )
          end,
          case
            when ("old"."default_quantity")::text is distinct from ("new"."default_quantity")::text then '"default_quantity":' || coalesce(to_json("old"."default_quantity")::text, 'null')
          end,
          case
            when ("old"."item_id")::text is distinct from ("new"."item_id")::text then '"item_id":' || coalesce(to_json("old"."item_id")::text, 'null')
          end,
          case
            when ("old"."allergens")::text is distinct from ("new"."allergens")::text then '"allergens":' || coalesce(to_json("old"."allergens")::text, 'null')
          end,
          case
            when ("old"."dietary_tags")::text is distinct from ("new"."dietary_tags")::text then '"dietary_tags":' || coalesce(to_json("old"."dietary_tags")::text, 'null')
          end,
          case
            when ("old"."sort_order")::text is distinct from ("new"."sort_order")::text then '"sort_order":' || coalesce(to_json("old"."sort_order")::text, 'null')
          end,
          case
            when ("old"."external_id")::text is distinct from ("new"."external_id")::text then '"external_id":' || coalesce(to_json("old"."external_id")::text, 'null')
          end,
          case
            when ("old"."modifier_groups")::text is distinct from ("new"."modifier_groups")::text then '"modifier_groups":' || coalesce(to_json("old"."modifier_groups")::text, 'null')
          end
        ) || '}',
        '{}'
      )::json as "previous",
      "new"."modifier_group_id" as "modifier_group_id",
      '"' || "new"."version" || '-' || to_hex("new"."stamp") || case
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  locked_groups as (
    select
      modifier_group_id,
      account_id
    from
      modifier_group
    where
      modifier_group_id = any (
        array(
          select
            modifier_group_id
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
    order by
      modifier_group_id
    for no key update
  ),
  touched_groups as (
    update modifier_group
    set
      content_version = content_version + 1,
      stamp = $2::integer
    where
      modifier_group_id = any (
        array(
          select
            modifier_group_id
          from
            locked_groups
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            locked_groups
        )
      )
    returning
      account_id,
      menu_ids
  ),
  locked_menus as (
    select
      menu_id,
      account_id
    from
      menu
    where
      menu_id = any (
        array(
          select
            unnest(menu_ids)
          from
            touched_groups
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            touched_groups
        )
      )
    order by
      menu_id
    for no key update
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1,
      stamp = $2::integer
    where
      menu_id = any (
        array(
          select
            menu_id
          from
            locked_menus
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            locked_menus
        )
      )
  )
select
  "etag",
  "resource"
from
  changed;

-- modifierGroups.takeTurn
-- $1 location_id bigint
-- $2 account_id bigint
select
  "currency"
from
  "location"
where
  "location_id" = $1::bigint
  and "account_id" = $2::bigint
for no key update;

-- modifierGroups.toggleModifier
-- $1 client_id text
-- $2 stamp integer
-- $3 modifier_id bigint
-- $4 modifier_group_id bigint
-- $5 location_id bigint
-- $6 account_id bigint
-- $7 location_ids bigint[]
-- $8 if_match text[]
-- $9 request_id text
with
  changed as (
    update "modifier"
    set
      "is_available" = not (
        "modifier"."is_available"
        or coalesce("modifier"."unavailable_until" <= now(), false)
      ),
      "unavailable_until" = null,
      "unavailable_since" = case
        when not not (
          "modifier"."is_available"
          or coalesce("modifier"."unavailable_until" <= now(), false)
        ) then case
          when (
            "modifier"."is_available"
            or coalesce("modifier"."unavailable_until" <= now(), false)
          ) then clock_timestamp()
          else "modifier"."unavailable_since"
        end
      end,
      "unavailable_by" = case
        when not not (
          "modifier"."is_available"
          or coalesce("modifier"."unavailable_until" <= now(), false)
        ) then case
          when (
            "modifier"."is_available"
            or coalesce("modifier"."unavailable_until" <= now(), false)
          ) then $1::text
          else "modifier"."unavailable_by"
        end
      end,
      "version" = "modifier"."version" + 1,
      "stamp" = $2::integer,
      "updated_at" = clock_timestamp()
    where
      (
        (
          "modifier"."modifier_id" = $3::bigint
          and "modifier"."modifier_group_id" = $4::bigint
          and "modifier"."location_id" = $5::bigint
        )
        and (
          "modifier"."account_id" = $6::bigint
          and (
            $7::bigint[] is null
            or "modifier"."location_id" = any ($7::bigint[])
          )
        )
      )
      and (
        $8::text[] is null
        or '"' || "modifier"."version" || '-' || to_hex("modifier"."stamp") || case
          when coalesce("modifier"."unavailable_until" <= now(), false) then '-restored'
          else ''
        end || '"' = any ($8::text[])
      )
    returning
      "new"."account_id" as "account_id",
      "new"."location_id" as "location_id",
      null::bigint as "menu_id",
      'modifier:' || "new"."modifier_id" as "record",
      array['modifier.toggled'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "new"."modifier_id" as "modifier_id",
              "new"."modifier_group_id" as "modifier_group_id",
              "new"."location_id" as "location_id",
              "new"."name" as "name",
              "new"."description" as "description",
              "new"."price" as "price",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              "new"."default_quantity" as "default_quantity",
              "new"."item_id" as "item_id",
              "new"."allergens" as "allergens",
              "new"."dietary_tags" as "dietary_tags",
              "new"."sort_order" as "sort_order",
              "new"."external_id" as "external_id",
              to_char(
                case
                  when not (
                    "new"."is_available"
                    or coalesce("new"."unavailable_until" <= now(), false)
                  ) then "new"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "new"."is_available"
                  or coalesce("new"."unavailable_until" <= now(), false)
                ) then "new"."unavailable_by"
              end as "unavailable_by",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version",
              "new"."modifier_groups" as "modifier_groups"
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
                to_char("old"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "unavailable_until"
            ) as fields
        )
      end as "previous",
      "new"."modifier_group_id" as "modifier_group_id",
      '"' || "new"."version" || '-' || to_hex("new"."stamp") || case
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  locked_groups as (
    select
      modifier_group_id,
      account_id
    from
      modifier_group
    where
      modifier_group_id = any (
        array(
          select
            modifier_group_id
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
    order by
      modifier_group_id
    for no key update
  ),
  touched_groups as (
    update modifier_group
    set
      content_version = content_version + 1,
      stamp = $2::integer
    where
      modifier_group_id = any (
        array(
          select
            modifier_group_id
          from
            locked_groups
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            locked_groups
        )
      )
    returning
      account_id,
      menu_ids
  ),
  locked_menus as (
    select
      menu_id,
      account_id
    from
      menu
    where
      menu_id = any (
        array(
          select
            unnest(menu_ids)
          from
            touched_groups
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            touched_groups
        )
      )
    order by
      menu_id
    for no key update
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1,
      stamp = $2::integer
    where
      menu_id = any (
        array(
          select
            menu_id
          from
            locked_menus
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            locked_menus
        )
      )
  )
select
  "etag",
  "resource"
from
  changed;

-- modifierGroups.toggleModifiers
-- $1 ids bigint[]
-- $2 group_ids bigint[]
-- $3 place_ids bigint[]
-- $4 stamps integer[]
-- $5 request_ids text[]
-- $6 client_ids text[]
-- $7 account_id bigint
-- $8 location_ids bigint[]
-- $9 stamp integer
with
  wanted as (
    select
      modifier_id,
      modifier_group_id,
      location_id,
      stamp,
      request_id,
      client_id,
      place::int - 1 as place,
      row_number() over (
        partition by
          modifier_id,
          modifier_group_id,
          location_id
        order by
          place
      )::int as turn
    from
      unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::integer[], $5::text[], $6::text[]) with ordinality as
    call (modifier_id, modifier_group_id, location_id, stamp, request_id, client_id, place)
  ),
  free_modifiers as materialized (
    select
      modifier_id,
      modifier_group_id,
      location_id,
      account_id
    from
      modifier
    where
      modifier_id = any ($1::bigint[])
      and (
        "modifier"."account_id" = $7::bigint
        and (
          $8::bigint[] is null
          or "modifier"."location_id" = any ($8::bigint[])
        )
      )
    order by
      modifier_id
    for no key update
      skip locked
  ),
  free_groups as materialized (
    select
      modifier_group_id,
      account_id,
      menu_ids
    from
      modifier_group
    where
      modifier_group_id = any (
        array(
          select
            modifier_group_id
          from
            free_modifiers
        )
      )
      and (
        "modifier_group"."account_id" = $7::bigint
        and (
          $8::bigint[] is null
          or "modifier_group"."location_id" = any ($8::bigint[])
        )
      )
    order by
      modifier_group_id
    for no key update
      skip locked
  ),
  free_menus as materialized (
    select
      menu_id
    from
      menu
    where
      menu_id = any (
        array(
          select
            unnest(menu_ids)
          from
            free_groups
        )
      )
      and (
        "menu"."account_id" = $7::bigint
        and (
          $8::bigint[] is null
          or "menu"."location_id" = any ($8::bigint[])
        )
      )
    order by
      menu_id
    for no key update
      skip locked
  ),
  turns as (
    select
      wanted.*,
      free_modifiers.account_id,
      free_groups.menu_ids
    from
      wanted
      join free_modifiers using (modifier_id, modifier_group_id, location_id)
      join free_groups using (modifier_group_id)
      -- A menu that is deleted may still be named.
    where
      not exists (
        select
        from
          menu
        where
          menu.menu_id = any (free_groups.menu_ids)
          and menu.account_id = free_groups.account_id
          and menu.menu_id <> all (
            array(
              select
                menu_id
              from
                free_menus
            )
          )
      )
  ),
  last_turns as (
    select distinct
      on ("modifier_id") *
    from
      turns
    order by
      "modifier_id",
      turn desc
  ),
  toggled as (
    update "modifier"
    set
      is_available = (
        "modifier"."is_available"
        or coalesce("modifier"."unavailable_until" <= now(), false)
      ) <> ("last_turns"."turn" % 2 = 1),
      unavailable_until = null,
      unavailable_since = case
        when not (
          (
            "modifier"."is_available"
            or coalesce("modifier"."unavailable_until" <= now(), false)
          ) <> ("last_turns"."turn" % 2 = 1)
        ) then clock_timestamp()
      end,
      unavailable_by = case
        when not (
          (
            "modifier"."is_available"
            or coalesce("modifier"."unavailable_until" <= now(), false)
          ) <> ("last_turns"."turn" % 2 = 1)
        ) then last_turns.client_id
      end,
      version = "modifier"."version" + last_turns.turn,
      stamp = last_turns.stamp,
      updated_at = clock_timestamp()
    from
      last_turns
    where
      "modifier"."modifier_id" = "last_turns"."modifier_id"
      and "modifier"."account_id" = last_turns.account_id
    returning
      new.*,
      old.version as version_before,
      (
        "old"."is_available"
        or coalesce("old"."unavailable_until" <= now(), false)
      ) as was_available,
      case
        when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
      end as was_until
  ),
  touched_groups as (
    update modifier_group
    set
      content_version = content_version + touch.turns,
      stamp = $9::integer
    from
      (
        select
          modifier_group_id,
          account_id,
          count(*) as turns
        from
          turns
        group by
          modifier_group_id,
          account_id
      ) as touch
    where
      modifier_group.modifier_group_id = touch.modifier_group_id
      and modifier_group.account_id = touch.account_id
  ),
  changed as (
    select
      place,
      request_id,
      "toggled"."account_id" as "account_id",
      "toggled"."location_id" as "location_id",
      null::bigint as "menu_id",
      'modifier:' || "toggled"."modifier_id" as "record",
      array['modifier.toggled'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "toggled"."modifier_id" as "modifier_id",
              "toggled"."modifier_group_id" as "modifier_group_id",
              "toggled"."location_id" as "location_id",
              "toggled"."name" as "name",
              "toggled"."description" as "description",
              "toggled"."price" as "price",
              not (was_available = ("turns"."turn" % 2 = 1)) as "is_available",
              to_char(
                case
                  when not coalesce("toggled"."unavailable_until" <= now(), false) then "toggled"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              "toggled"."default_quantity" as "default_quantity",
              "toggled"."item_id" as "item_id",
              "toggled"."allergens" as "allergens",
              "toggled"."dietary_tags" as "dietary_tags",
              "toggled"."sort_order" as "sort_order",
              "toggled"."external_id" as "external_id",
              to_char(
                case
                  when (was_available = ("turns"."turn" % 2 = 1)) then coalesce(unavailable_since, updated_at)
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when (was_available = ("turns"."turn" % 2 = 1)) then turns.client_id
              end as "unavailable_by",
              to_char("toggled"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("toggled"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              (version_before + turns.turn) as "version",
              "toggled"."modifier_groups" as "modifier_groups"
          ) as fields
      ) as "resource",
      case
        when turns.turn > 1
        or was_until is null then (
          select
            to_json(fields)
          from
            (
              select
                (was_available = ("turns"."turn" % 2 = 1)) as "is_available"
            ) as fields
        )
        else (
          select
            to_json(fields)
          from
            (
              select
                (was_available = ("turns"."turn" % 2 = 1)) as "is_available",
                to_char("was_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "unavailable_until"
            ) as fields
        )
      end as "previous",
      "toggled"."modifier_group_id" as "modifier_group_id",
      '"' || (version_before + turns.turn) || '-' || to_hex("turns"."stamp") || '"' as etag
    from
      toggled
      join turns using ("modifier_id")
    order by
      place
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
              "change"."request_id" as "request_id"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  touched as (
    update menu
    set
      content_version = content_version + touch.turns,
      stamp = $9::integer
    from
      (
        select
          menu_id,
          account_id,
          count(*) as turns
        from
          turns,
          unnest(menu_ids) as menu_id
        group by
          menu_id,
          account_id
      ) as touch
    where
      menu.menu_id = touch.menu_id
      and menu.account_id = touch.account_id
  )
select
  place,
  etag,
  resource
from
  changed;

-- modifierGroups.updateModifier
-- $1 modifier_id bigint
-- $2 modifier_group_id bigint
-- $3 location_id bigint
-- $4 account_id bigint
-- $5 location_ids bigint[]
-- $6 present text[]
-- $7 name text
-- $8 description text
-- $9 price numeric
-- $10 is_available boolean
-- $11 unavailable_until timestamptz
-- $12 default_quantity integer
-- $13 item_id bigint
-- $14 allergens text[]
-- $15 dietary_tags text[]
-- $16 sort_order integer
-- $17 external_id text
-- $18 client_id text
-- $19 stamp integer
-- $20 if_match text[]
-- $21 request_id text
with
  terms as materialized (
    select
      currency,
      case
        when "currency" = any ('{BIF,CLP,DJF,GNF,ISK,JPY,KMF,KRW,PYG,RWF,UGX,VND,VUV,XAF,XOF,XPF}') then 0
        when "currency" = any ('{BHD,IQD,JOD,KWD,LYD,OMR,TND}') then 3
        else 2
      end as decimals
    from
      location
    where
      (location_id, account_id) = (
        select
          location_id,
          account_id
        from
          "modifier"
        where
          (
            (
              "modifier"."modifier_id" = $1::bigint
              and "modifier"."modifier_group_id" = $2::bigint
              and "modifier"."location_id" = $3::bigint
            )
            and (
              "modifier"."account_id" = $4::bigint
              and (
                $5::bigint[] is null
                or "modifier"."location_id" = any ($5::bigint[])
              )
            )
          )
      )
    for key share
  ),
  changed as (
    update "modifier"
    set
      "name" = case
        when 'name' = any ($6::text[]) then $7::text
        else "modifier"."name"
      end,
      "description" = case
        when 'description' = any ($6::text[]) then $8::text
        else "modifier"."description"
      end,
      "price" = case
        when 'price' = any ($6::text[])
        and $9::numeric <> "modifier"."price" then round($9::numeric, terms.decimals)
        else "modifier"."price"
      end,
      "is_available" = case
        when 'is_available' = any ($6::text[]) then $10::boolean
        or coalesce($11::timestamptz <= now(), false)
        when $11::timestamptz is not null then $11::timestamptz <= now()
        else "modifier"."is_available"
        or coalesce("modifier"."unavailable_until" <= now(), false)
      end,
      "unavailable_until" = case
        when case
          when 'is_available' = any ($6::text[]) then $10::boolean
          or coalesce($11::timestamptz <= now(), false)
          when $11::timestamptz is not null then $11::timestamptz <= now()
          else "modifier"."is_available"
          or coalesce("modifier"."unavailable_until" <= now(), false)
        end then null
        when 'unavailable_until' = any ($6::text[]) then $11::timestamptz
        else case
          when not coalesce("modifier"."unavailable_until" <= now(), false) then "modifier"."unavailable_until"
        end
      end,
      "default_quantity" = case
        when 'default_quantity' = any ($6::text[]) then $12::integer
        else "modifier"."default_quantity"
      end,
      "item_id" = case
        when 'item_id' = any ($6::text[]) then $13::bigint
        else "modifier"."item_id"
      end,
      "allergens" = case
        when 'allergens' = any ($6::text[]) then $14::text[]
        else "modifier"."allergens"
      end,
      "dietary_tags" = case
        when 'dietary_tags' = any ($6::text[]) then $15::text[]
        else "modifier"."dietary_tags"
      end,
      "sort_order" = case
        when 'sort_order' = any ($6::text[]) then $16::integer
        else "modifier"."sort_order"
      end,
      "external_id" = case
        when 'external_id' = any ($6::text[]) then $17::text
        else "modifier"."external_id"
      end,
      "unavailable_since" = case
        when not case
          when 'is_available' = any ($6::text[]) then $10::boolean
          or coalesce($11::timestamptz <= now(), false)
          when $11::timestamptz is not null then $11::timestamptz <= now()
          else "modifier"."is_available"
          or coalesce("modifier"."unavailable_until" <= now(), false)
        end then case
          when (
            "modifier"."is_available"
            or coalesce("modifier"."unavailable_until" <= now(), false)
          ) then clock_timestamp()
          else "modifier"."unavailable_since"
        end
      end,
      "unavailable_by" = case
        when not case
          when 'is_available' = any ($6::text[]) then $10::boolean
          or coalesce($11::timestamptz <= now(), false)
          when $11::timestamptz is not null then $11::timestamptz <= now()
          else "modifier"."is_available"
          or coalesce("modifier"."unavailable_until" <= now(), false)
        end then case
          when (
            "modifier"."is_available"
            or coalesce("modifier"."unavailable_until" <= now(), false)
          ) then $18::text
          else "modifier"."unavailable_by"
        end
      end,
      "version" = "modifier"."version" + 1,
      "stamp" = $19::integer,
      "updated_at" = clock_timestamp()
    from
      terms
    where
      (
        (
          "modifier"."modifier_id" = $1::bigint
          and "modifier"."modifier_group_id" = $2::bigint
          and "modifier"."location_id" = $3::bigint
        )
        and (
          "modifier"."account_id" = $4::bigint
          and (
            $5::bigint[] is null
            or "modifier"."location_id" = any ($5::bigint[])
          )
        )
      )
      and (
        $20::text[] is null
        or '"' || "modifier"."version" || '-' || to_hex("modifier"."stamp") || case
          when coalesce("modifier"."unavailable_until" <= now(), false) then '-restored'
          else ''
        end || '"' = any ($20::text[])
      )
      and (
        "modifier"."name",
        "modifier"."description",
        "modifier"."price",
        "modifier"."is_available",
        "modifier"."unavailable_until",
        "modifier"."default_quantity",
        "modifier"."item_id",
        "modifier"."allergens",
        "modifier"."dietary_tags",
        "modifier"."sort_order",
        "modifier"."external_id"
      ) is distinct from (
        case
          when 'name' = any ($6::text[]) then $7::text
          else "modifier"."name"
        end,
        case
          when 'description' = any ($6::text[]) then $8::text
          else "modifier"."description"
        end,
        case
          when 'price' = any ($6::text[]) then $9::numeric
          else "modifier"."price"
        end,
        case
          when 'is_available' = any ($6::text[]) then $10::boolean
          or coalesce($11::timestamptz <= now(), false)
          when $11::timestamptz is not null then $11::timestamptz <= now()
          else "modifier"."is_available"
          or coalesce("modifier"."unavailable_until" <= now(), false)
        end,
        case
          when case
            when 'is_available' = any ($6::text[]) then $10::boolean
            or coalesce($11::timestamptz <= now(), false)
            when $11::timestamptz is not null then $11::timestamptz <= now()
            else "modifier"."is_available"
            or coalesce("modifier"."unavailable_until" <= now(), false)
          end then null
          when 'unavailable_until' = any ($6::text[]) then $11::timestamptz
          else case
            when not coalesce("modifier"."unavailable_until" <= now(), false) then "modifier"."unavailable_until"
          end
        end,
        case
          when 'default_quantity' = any ($6::text[]) then $12::integer
          else "modifier"."default_quantity"
        end,
        case
          when 'item_id' = any ($6::text[]) then $13::bigint
          else "modifier"."item_id"
        end,
        case
          when 'allergens' = any ($6::text[]) then $14::text[]
          else "modifier"."allergens"
        end,
        case
          when 'dietary_tags' = any ($6::text[]) then $15::text[]
          else "modifier"."dietary_tags"
        end,
        case
          when 'sort_order' = any ($6::text[]) then $16::integer
          else "modifier"."sort_order"
        end,
        case
          when 'external_id' = any ($6::text[]) then $17::text
          else "modifier"."external_id"
        end
      )
      and (
        not 'price' = any ($6::text[])
        or $9::numeric = "modifier"."price"
        or scale(trim_scale($9::numeric)) <= "terms"."decimals"
      )
    returning
      "new"."account_id" as "account_id",
      "new"."location_id" as "location_id",
      null::bigint as "menu_id",
      'modifier:' || "new"."modifier_id" as "record",
      array_remove(
        array[
          case
            when (
              old.is_available <> new.is_available
              or (
                "old"."is_available"
                or coalesce("old"."unavailable_until" <= now(), false)
              ) <> new.is_available
            ) then 'modifier.toggled'
          end,
          case
            when (
              "old"."name",
              "old"."description",
              "old"."price",
              "old"."default_quantity",
              "old"."item_id",
              "old"."allergens",
              "old"."dietary_tags",
              "old"."sort_order",
              "old"."external_id"
            ) is distinct from (
              "new"."name",
              "new"."description",
              "new"."price",
              "new"."default_quantity",
              "new"."item_id",
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
            and old.unavailable_until is distinct from new.unavailable_until then 'modifier.updated'
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
              "new"."modifier_id" as "modifier_id",
              "new"."modifier_group_id" as "modifier_group_id",
              "new"."location_id" as "location_id",
              "new"."name" as "name",
              "new"."description" as "description",
              "new"."price" as "price",
              (
                "new"."is_available"
                or coalesce("new"."unavailable_until" <= now(), false)
              ) as "is_available",
              to_char(
                case
                  when not coalesce("new"."unavailable_until" <= now(), false) then "new"."unavailable_until"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_until",
              "new"."default_quantity" as "default_quantity",
              "new"."item_id" as "item_id",
              "new"."allergens" as "allergens",
              "new"."dietary_tags" as "dietary_tags",
              "new"."sort_order" as "sort_order",
              "new"."external_id" as "external_id",
              to_char(
                case
                  when not (
                    "new"."is_available"
                    or coalesce("new"."unavailable_until" <= now(), false)
                  ) then "new"."unavailable_since"
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "unavailable_since",
              case
                when not (
                  "new"."is_available"
                  or coalesce("new"."unavailable_until" <= now(), false)
                ) then "new"."unavailable_by"
              end as "unavailable_by",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version",
              "new"."modifier_groups" as "modifier_groups"
          ) as fields
      ) as "resource",
      nullif(
        '{' || concat_ws(
          ',',
          case
            when ("old"."modifier_id")::text is distinct from ("new"."modifier_id")::text then '"modifier_id":' || coalesce(to_json("old"."modifier_id")::text, 'null')
          end,
          case
            when ("old"."modifier_group_id")::text is distinct from ("new"."modifier_group_id")::text then '"modifier_group_id":' || coalesce(to_json("old"."modifier_group_id")::text, 'null')
          end,
          case
            when ("old"."location_id")::text is distinct from ("new"."location_id")::text then '"location_id":' || coalesce(to_json("old"."location_id")::text, 'null')
          end,
          case
            when ("old"."name")::text is distinct from ("new"."name")::text then '"name":' || coalesce(to_json("old"."name")::text, 'null')
          end,
          case
            when ("old"."description")::text is distinct from ("new"."description")::text then '"description":' || coalesce(to_json("old"."description")::text, 'null')
          end,
          case
            when ("old"."price")::text is distinct from ("new"."price")::text then '"price":' || coalesce(to_json("old"."price")::text, 'null')
          end,
          case
            when (
              case
                when new.is_available then old.is_available
                else (
                  "old"."is_available"
                  or coalesce("old"."unavailable_until" <= now(), false)
                )
              end
            )::text is distinct from ("new"."is_available")::text then '"is_available":' || coalesce(
              to_json(
                case
                  when new.is_available then old.is_available
                  else (
                    "old"."is_available"
                    or coalesce("old"."unavailable_until" <= now(), false)
                  )
                end
              )::text,
              'null'
            )
          end,
          case
            when (
              to_char(
                case
                  when new.is_available then old.unavailable_until
                  else case
                    when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                  end
                end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              )
            )::text is distinct from (to_char("new"."unavailable_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text then '"unavailable_until":' || coalesce(
              to_json(
                to_char(
                  case
                    when new.is_available then old.unavailable_until
                    else case
                      when not coalesce("old"."unavailable_until" <= now(), false) then "old"."unavailable_until"
                    end
                  end at time zone 'UTC',
                  'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                )
              )::text,
              'null'
            )
          end,
          case
            when ("old"."default_quantity")::text is distinct from ("new"."default_quantity")::text then '"default_quantity":' || coalesce(to_json("old"."default_quantity")::text, 'null')
          end,
          case
            when ("old"."item_id")::text is distinct from ("new"."item_id")::text then '"item_id":' || coalesce(to_json("old"."item_id")::text, 'null')
          end,
          case
            when ("old"."allergens")::text is distinct from ("new"."allergens")::text then '"allergens":' || coalesce(to_json("old"."allergens")::text, 'null')
          end,
          case
            when ("old"."dietary_tags")::text is distinct from ("new"."dietary_tags")::text then '"dietary_tags":' || coalesce(to_json("old"."dietary_tags")::text, 'null')
          end,
          case
            when ("old"."sort_order")::text is distinct from ("new"."sort_order")::text then '"sort_order":' || coalesce(to_json("old"."sort_order")::text, 'null')
          end,
          case
            when ("old"."external_id")::text is distinct from ("new"."external_id")::text then '"external_id":' || coalesce(to_json("old"."external_id")::text, 'null')
          end,
          case
            when ("old"."modifier_groups")::text is distinct from ("new"."modifier_groups")::text then '"modifier_groups":' || coalesce(to_json("old"."modifier_groups")::text, 'null')
          end
        ) || '}',
        '{}'
      )::json as "previous",
      "new"."modifier_group_id" as "modifier_group_id",
      '"' || "new"."version" || '-' || to_hex("new"."stamp") || case
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
              $21::text as "request_id"
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  locked_groups as (
    select
      modifier_group_id,
      account_id
    from
      modifier_group
    where
      modifier_group_id = any (
        array(
          select
            modifier_group_id
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
    order by
      modifier_group_id
    for no key update
  ),
  touched_groups as (
    update modifier_group
    set
      content_version = content_version + 1,
      stamp = $19::integer
    where
      modifier_group_id = any (
        array(
          select
            modifier_group_id
          from
            locked_groups
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            locked_groups
        )
      )
    returning
      account_id,
      menu_ids
  ),
  locked_menus as (
    select
      menu_id,
      account_id
    from
      menu
    where
      menu_id = any (
        array(
          select
            unnest(menu_ids)
          from
            touched_groups
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            touched_groups
        )
      )
    order by
      menu_id
    for no key update
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1,
      stamp = $19::integer
    where
      menu_id = any (
        array(
          select
            menu_id
          from
            locked_menus
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            locked_menus
        )
      )
  )
select
  "etag",
  "resource"
from
  changed;

-- modifierGroups.updateModifier.current
-- $1 present text[]
-- $2 name text
-- $3 description text
-- $4 price numeric
-- $5 is_available boolean
-- $6 unavailable_until timestamptz
-- $7 default_quantity integer
-- $8 item_id bigint
-- $9 allergens text[]
-- $10 dietary_tags text[]
-- $11 sort_order integer
-- $12 external_id text
-- $13 modifier_id bigint
-- $14 modifier_group_id bigint
-- $15 location_id bigint
-- $16 account_id bigint
-- $17 location_ids bigint[]
select
  '"' || "modifier"."version" || '-' || to_hex("modifier"."stamp") || case
    when coalesce("modifier"."unavailable_until" <= now(), false) then '-restored'
    else ''
  end || '"' as "etag",
  (
    select
      to_json(fields)
    from
      (
        select
          "modifier"."modifier_id" as "modifier_id",
          "modifier"."modifier_group_id" as "modifier_group_id",
          "modifier"."location_id" as "location_id",
          "modifier"."name" as "name",
          "modifier"."description" as "description",
          "modifier"."price" as "price",
          (
            "modifier"."is_available"
            or coalesce("modifier"."unavailable_until" <= now(), false)
          ) as "is_available",
          to_char(
            case
              when not coalesce("modifier"."unavailable_until" <= now(), false) then "modifier"."unavailable_until"
            end at time zone 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
          ) as "unavailable_until",
          "modifier"."default_quantity" as "default_quantity",
          "modifier"."item_id" as "item_id",
          "modifier"."allergens" as "allergens",
          "modifier"."dietary_tags" as "dietary_tags",
          "modifier"."sort_order" as "sort_order",
          "modifier"."external_id" as "external_id",
          to_char(
            case
              when not (
                "modifier"."is_available"
                or coalesce("modifier"."unavailable_until" <= now(), false)
              ) then "modifier"."unavailable_since"
            end at time zone 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
          ) as "unavailable_since",
          case
            when not (
              "modifier"."is_available"
              or coalesce("modifier"."unavailable_until" <= now(), false)
            ) then "modifier"."unavailable_by"
          end as "unavailable_by",
          to_char("modifier"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
          to_char("modifier"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
          "modifier"."version" as "version",
          "modifier"."modifier_groups" as "modifier_groups"
      ) as fields
  ) as "resource",
  (
    "modifier"."name",
    "modifier"."description",
    "modifier"."price",
    "modifier"."is_available",
    "modifier"."unavailable_until",
    "modifier"."default_quantity",
    "modifier"."item_id",
    "modifier"."allergens",
    "modifier"."dietary_tags",
    "modifier"."sort_order",
    "modifier"."external_id"
  ) is distinct from (
    case
      when 'name' = any ($1::text[]) then $2::text
      else "modifier"."name"
    end,
    case
      when 'description' = any ($1::text[]) then $3::text
      else "modifier"."description"
    end,
    case
      when 'price' = any ($1::text[]) then $4::numeric
      else "modifier"."price"
    end,
    case
      when 'is_available' = any ($1::text[]) then $5::boolean
      or coalesce($6::timestamptz <= now(), false)
      when $6::timestamptz is not null then $6::timestamptz <= now()
      else "modifier"."is_available"
      or coalesce("modifier"."unavailable_until" <= now(), false)
    end,
    case
      when case
        when 'is_available' = any ($1::text[]) then $5::boolean
        or coalesce($6::timestamptz <= now(), false)
        when $6::timestamptz is not null then $6::timestamptz <= now()
        else "modifier"."is_available"
        or coalesce("modifier"."unavailable_until" <= now(), false)
      end then null
      when 'unavailable_until' = any ($1::text[]) then $6::timestamptz
      else case
        when not coalesce("modifier"."unavailable_until" <= now(), false) then "modifier"."unavailable_until"
      end
    end,
    case
      when 'default_quantity' = any ($1::text[]) then $7::integer
      else "modifier"."default_quantity"
    end,
    case
      when 'item_id' = any ($1::text[]) then $8::bigint
      else "modifier"."item_id"
    end,
    case
      when 'allergens' = any ($1::text[]) then $9::text[]
      else "modifier"."allergens"
    end,
    case
      when 'dietary_tags' = any ($1::text[]) then $10::text[]
      else "modifier"."dietary_tags"
    end,
    case
      when 'sort_order' = any ($1::text[]) then $11::integer
      else "modifier"."sort_order"
    end,
    case
      when 'external_id' = any ($1::text[]) then $12::text
      else "modifier"."external_id"
    end
  ) as "differs",
  (
    select
      "terms"."currency"
    from
      (
        select
          currency,
          case
            when "currency" = any ('{BIF,CLP,DJF,GNF,ISK,JPY,KMF,KRW,PYG,RWF,UGX,VND,VUV,XAF,XOF,XPF}') then 0
            when "currency" = any ('{BHD,IQD,JOD,KWD,LYD,OMR,TND}') then 3
            else 2
          end as decimals
        from
          location
        where
          (location_id, account_id) = (
            select
              location_id,
              account_id
            from
              "modifier"
            where
              (
                (
                  "modifier"."modifier_id" = $13::bigint
                  and "modifier"."modifier_group_id" = $14::bigint
                  and "modifier"."location_id" = $15::bigint
                )
                and (
                  "modifier"."account_id" = $16::bigint
                  and (
                    $17::bigint[] is null
                    or "modifier"."location_id" = any ($17::bigint[])
                  )
                )
              )
          )
        for key share
      ) as terms
    where
      not (
        not 'price' = any ($1::text[])
        or $4::numeric = "modifier"."price"
        or scale(trim_scale($4::numeric)) <= "terms"."decimals"
      )
  ) as "refused"
from
  "modifier"
where
  (
    (
      "modifier"."modifier_id" = $13::bigint
      and "modifier"."modifier_group_id" = $14::bigint
      and "modifier"."location_id" = $15::bigint
    )
    and (
      "modifier"."account_id" = $16::bigint
      and (
        $17::bigint[] is null
        or "modifier"."location_id" = any ($17::bigint[])
      )
    )
  );

-- modifierGroups.updateModifierGroup
-- $1 present text[]
-- $2 name text
-- $3 description text
-- $4 min_selections integer
-- $5 max_selections integer
-- $6 max_per_modifier integer
-- $7 free_selections integer
-- $8 external_id text
-- $9 stamp integer
-- $10 modifier_group_id bigint
-- $11 location_id bigint
-- $12 account_id bigint
-- $13 location_ids bigint[]
-- $14 if_match text[]
-- $15 request_id text
with
  changed as (
    update "modifier_group"
    set
      "name" = case
        when 'name' = any ($1::text[]) then $2::text
        else "modifier_group"."name"
      end,
      "description" = case
        when 'description' = any ($1::text[]) then $3::text
        else "modifier_group"."description"
      end,
      "min_selections" = case
        when 'min_selections' = any ($1::text[]) then $4::integer
        else "modifier_group"."min_selections"
      end,
      "max_selections" = case
        when 'max_selections' = any ($1::text[]) then $5::integer
        else "modifier_group"."max_selections"
      end,
      "max_per_modifier" = case
        when 'max_per_modifier' = any ($1::text[]) then $6::integer
        else "modifier_group"."max_per_modifier"
      end,
      "free_selections" = case
        when 'free_selections' = any ($1::text[]) then $7::integer
        else "modifier_group"."free_selections"
      end,
      "external_id" = case
        when 'external_id' = any ($1::text[]) then $8::text
        else "modifier_group"."external_id"
      end,
      "version" = "modifier_group"."version" + 1,
      "stamp" = $9::integer,
      "updated_at" = clock_timestamp(),
      "content_version" = "modifier_group"."content_version" + 1
    where
      (
        (
          "modifier_group"."modifier_group_id" = $10::bigint
          and "modifier_group"."location_id" = $11::bigint
        )
        and (
          "modifier_group"."account_id" = $12::bigint
          and (
            $13::bigint[] is null
            or "modifier_group"."location_id" = any ($13::bigint[])
          )
        )
      )
      and (
        $14::text[] is null
        or '"' || "modifier_group"."content_version" || '-' || to_hex("modifier_group"."stamp") || '-' || (
          select
            count(*)
          from
            modifier
          where
            modifier.modifier_group_id = "modifier_group"."modifier_group_id"
            and modifier.account_id = "modifier_group"."account_id"
            and modifier.unavailable_until <= now()
        ) || '"' = any ($14::text[])
      )
      and (
        "modifier_group"."name",
        "modifier_group"."description",
        "modifier_group"."min_selections",
        "modifier_group"."max_selections",
        "modifier_group"."max_per_modifier",
        "modifier_group"."free_selections",
        "modifier_group"."external_id"
      ) is distinct from (
        case
          when 'name' = any ($1::text[]) then $2::text
          else "modifier_group"."name"
        end,
        case
          when 'description' = any ($1::text[]) then $3::text
          else "modifier_group"."description"
        end,
        case
          when 'min_selections' = any ($1::text[]) then $4::integer
          else "modifier_group"."min_selections"
        end,
        case
          when 'max_selections' = any ($1::text[]) then $5::integer
          else "modifier_group"."max_selections"
        end,
        case
          when 'max_per_modifier' = any ($1::text[]) then $6::integer
          else "modifier_group"."max_per_modifier"
        end,
        case
          when 'free_selections' = any ($1::text[]) then $7::integer
          else "modifier_group"."free_selections"
        end,
        case
          when 'external_id' = any ($1::text[]) then $8::text
          else "modifier_group"."external_id"
        end
      )
    returning
      "new"."account_id" as "account_id",
      "new"."location_id" as "location_id",
      null::bigint as "menu_id",
      'modifier_group:' || "new"."modifier_group_id" as "record",
      array['modifier_group.updated'] as "event_types",
      (
        select
          to_json(fields)
        from
          (
            select
              "new"."modifier_group_id" as "modifier_group_id",
              "new"."location_id" as "location_id",
              "new"."name" as "name",
              "new"."description" as "description",
              "new"."min_selections" as "min_selections",
              "new"."max_selections" as "max_selections",
              "new"."max_per_modifier" as "max_per_modifier",
              "new"."free_selections" as "free_selections",
              "new"."external_id" as "external_id",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource",
      nullif(
        '{' || concat_ws(
          ',',
          case
            when ("old"."modifier_group_id")::text is distinct from ("new"."modifier_group_id")::text then '"modifier_group_id":' || coalesce(to_json("old"."modifier_group_id")::text, 'null')
          end,
          case
            when ("old"."location_id")::text is distinct from ("new"."location_id")::text then '"location_id":' || coalesce(to_json("old"."location_id")::text, 'null')
          end,
          case
            when ("old"."name")::text is distinct from ("new"."name")::text then '"name":' || coalesce(to_json("old"."name")::text, 'null')
          end,
          case
            when ("old"."description")::text is distinct from ("new"."description")::text then '"description":' || coalesce(to_json("old"."description")::text, 'null')
          end,
          case
            when ("old"."min_selections")::text is distinct from ("new"."min_selections")::text then '"min_selections":' || coalesce(to_json("old"."min_selections")::text, 'null')
          end,
          case
            when ("old"."max_selections")::text is distinct from ("new"."max_selections")::text then '"max_selections":' || coalesce(to_json("old"."max_selections")::text, 'null')
          end,
          case
            when ("old"."max_per_modifier")::text is distinct from ("new"."max_per_modifier")::text then '"max_per_modifier":' || coalesce(to_json("old"."max_per_modifier")::text, 'null')
          end,
          case
            when ("old"."free_selections")::text is distinct from ("new"."free_selections")::text then '"free_selections":' || coalesce(to_json("old"."free_selections")::text, 'null')
          end,
          case
            when ("old"."external_id")::text is distinct from ("new"."external_id")::text then '"external_id":' || coalesce(to_json("old"."external_id")::text, 'null')
          end
        ) || '}',
        '{}'
      )::json as "previous",
      "new"."menu_ids" as "menu_ids",
      '"' || "new"."content_version" || '-' || to_hex("new"."stamp") || '-' || (
        select
          count(*)
        from
          modifier
        where
          modifier.modifier_group_id = "new"."modifier_group_id"
          and modifier.account_id = "new"."account_id"
          and modifier.unavailable_until <= now()
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
    returning
      account_id,
      event_id
  ),
  to_relay as (
    insert into
      outbox (account_id, event_id)
    select
      account_id,
      event_id
    from
      recorded
  ),
  locked_menus as (
    select
      menu_id,
      account_id
    from
      menu
    where
      menu_id = any (
        array(
          select
            unnest(menu_ids)
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
    order by
      menu_id
    for no key update
  ),
  touched as (
    update menu
    set
      content_version = content_version + 1,
      stamp = $9::integer
    where
      menu_id = any (
        array(
          select
            menu_id
          from
            locked_menus
        )
      )
      and account_id = any (
        array(
          select
            account_id
          from
            locked_menus
        )
      )
  )
select
  "etag",
  "resource"
from
  changed;

-- modifierGroups.updateModifierGroup.current
-- $1 present text[]
-- $2 name text
-- $3 description text
-- $4 min_selections integer
-- $5 max_selections integer
-- $6 max_per_modifier integer
-- $7 free_selections integer
-- $8 external_id text
-- $9 modifier_group_id bigint
-- $10 location_id bigint
-- $11 account_id bigint
-- $12 location_ids bigint[]
select
  '"' || "modifier_group"."content_version" || '-' || to_hex("modifier_group"."stamp") || '-' || (
    select
      count(*)
    from
      modifier
    where
      modifier.modifier_group_id = "modifier_group"."modifier_group_id"
      and modifier.account_id = "modifier_group"."account_id"
      and modifier.unavailable_until <= now()
  ) || '"' as "etag",
  (
    select
      to_json(fields)
    from
      (
        select
          "modifier_group"."modifier_group_id" as "modifier_group_id",
          "modifier_group"."location_id" as "location_id",
          "modifier_group"."name" as "name",
          "modifier_group"."description" as "description",
          "modifier_group"."min_selections" as "min_selections",
          "modifier_group"."max_selections" as "max_selections",
          "modifier_group"."max_per_modifier" as "max_per_modifier",
          "modifier_group"."free_selections" as "free_selections",
          "modifier_group"."external_id" as "external_id",
          to_char("modifier_group"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
          to_char("modifier_group"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
          "modifier_group"."version" as "version"
      ) as fields
  ) as "resource",
  (
    "modifier_group"."name",
    "modifier_group"."description",
    "modifier_group"."min_selections",
    "modifier_group"."max_selections",
    "modifier_group"."max_per_modifier",
    "modifier_group"."free_selections",
    "modifier_group"."external_id"
  ) is distinct from (
    case
      when 'name' = any ($1::text[]) then $2::text
      else "modifier_group"."name"
    end,
    case
      when 'description' = any ($1::text[]) then $3::text
      else "modifier_group"."description"
    end,
    case
      when 'min_selections' = any ($1::text[]) then $4::integer
      else "modifier_group"."min_selections"
    end,
    case
      when 'max_selections' = any ($1::text[]) then $5::integer
      else "modifier_group"."max_selections"
    end,
    case
      when 'max_per_modifier' = any ($1::text[]) then $6::integer
      else "modifier_group"."max_per_modifier"
    end,
    case
      when 'free_selections' = any ($1::text[]) then $7::integer
      else "modifier_group"."free_selections"
    end,
    case
      when 'external_id' = any ($1::text[]) then $8::text
      else "modifier_group"."external_id"
    end
  ) as "differs",
  null as "refused"
from
  "modifier_group"
where
  (
    (
      "modifier_group"."modifier_group_id" = $9::bigint
      and "modifier_group"."location_id" = $10::bigint
    )
    and (
      "modifier_group"."account_id" = $11::bigint
      and (
        $12::bigint[] is null
        or "modifier_group"."location_id" = any ($12::bigint[])
      )
    )
  );

-- rekey.nameKeysNow
update "sealing"
set
  "names_keys_from" = least(names_keys_from, now());

-- rekey.replaceResponses
-- $1 client_ids text[]
-- $2 account_ids bigint[]
-- $3 paths text[]
-- $4 keys text[]
-- $5 before bytea[]
-- $6 after bytea[]
update idempotency_key as kept
set
  sealed_answer = sealed.after,
  bytes = octet_length(sealed.after)
from
  unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::bytea[], $6::bytea[]) as sealed (client_id, account_id, path, key, before, after)
where
  kept.client_id = sealed.client_id
  and kept.path = sealed.path
  and kept.key = sealed.key
  and kept.account_id = sealed.account_id
  and kept.sealed_answer = sealed.before
returning
  kept.client_id;

-- rekey.replaceSecret
-- $1 after bytea
-- $2 webhook_id bigint
-- $3 before bytea
update webhook_secret
set
  sealed_secret = $1::bytea
where
  webhook_id = $2::bigint
  and sealed_secret = $3::bytea
returning
  webhook_id;

-- rekey.replaceSigningKey
-- $1 after bytea
-- $2 kid text
-- $3 before bytea
update signing_key
set
  sealed_private_key = $1::bytea
where
  kid = $2::text
  and sealed_private_key = $3::bytea
returning
  kid;

-- rekey.selectResponses
-- $1 head bytea
-- $2 client_id text
-- $3 path text
-- $4 key text
-- $5 account_id bigint
select
  client_id,
  account_id,
  path,
  key,
  case
    when substring(sealed_answer for 8) <> $1::bytea then sealed_answer
  end as sealed
from
  idempotency_key
where
  (client_id, path, key, account_id) > ($2::text, $3::text, $4::text, $5::bigint)
order by
  client_id,
  path,
  key,
  account_id
limit
  100;

-- rekey.selectSecrets
-- $1 head bytea
select
  webhook_id,
  sealed_secret as sealed
from
  webhook_secret
where
  substring(sealed_secret for 8) <> $1::bytea
limit
  100;

-- rekey.selectSigningKeys
-- $1 head bytea
select
  kid,
  sealed_private_key as sealed
from
  signing_key
where
  substring(sealed_private_key for 8) <> $1::bytea;

-- replicas.primary
select
  pg_current_wal_insert_lsn()::text as position,
  system_identifier::text as system
from
  pg_control_system();

-- replicas.standing
select
  case
    when pg_is_in_recovery() then pg_last_wal_replay_lsn()
  end::text as replayed,
  system_identifier::text as system
from
  pg_control_system();

-- webhooks.backlog
with
  listed as (
    select
      webhook_id,
      account_id,
      oldest_at
    from
      endpoint_due
    where
      look_at > now() - interval '10 minutes'
      and look_at <= now()
    order by
      look_at desc
    limit
      10000
  ),
  endpoint as materialized (
    select
      webhook_id,
      oldest_at,
      count(*) over () as endpoints
    from
      listed
      cross join lateral (
        select
          enabled,
          client_id,
          account_id
        from
          webhook
        where
          webhook.webhook_id = listed.webhook_id
          and webhook.account_id = listed.account_id
        limit
          1
      ) as webhook
    where
      enabled
      and (
        select
          case
            when client.disabled_at is not null then 'client_disabled'
            when not client.scopes && array['menus:read', 'menus:write'] then 'scope_removed'
          end
        from
          client
        where
          client.client_id = "webhook"."client_id"
          and client.account_id = "webhook"."account_id"
      ) is null
      and not exists (
        select
        from
          account_move
        where
          account_move.account_id = "webhook"."account_id"
          and state <> 'leaving'
      )
  ),
  oldest as (
    (
      select
        uuid_extract_timestamp(event_id) as since
      from
        outbox
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
          and next_attempt_at >= endpoint.oldest_at
        order by
          next_attempt_at
        limit
          least(10, greatest(1, 10000 / endpoints))
      ) as head
    union all
    (
      select
        waiting_since
      from
        (
          select
            webhook_id,
            account_id,
            waiting_since
          from
            endpoint_due
          where
            waiting_since is not null
          order by
            waiting_since
          limit
            10000
        ) as waiting
        cross join lateral (
          select
            enabled,
            client_id,
            account_id
          from
            webhook
          where
            webhook.webhook_id = waiting.webhook_id
            and webhook.account_id = waiting.account_id
          limit
            1
        ) as webhook
      where
        enabled
        and (
          select
            case
              when client.disabled_at is not null then 'client_disabled'
              when not client.scopes && array['menus:read', 'menus:write'] then 'scope_removed'
            end
          from
            client
          where
            client.client_id = "webhook"."client_id"
            and client.account_id = "webhook"."account_id"
        ) is null
        and not exists (
          select
          from
            account_move
          where
            account_move.account_id = "webhook"."account_id"
            and state <> 'leaving'
        )
      order by
        waiting_since
      limit
        1
    )
  )
select
  (
    select
      count(*)
    from
      (
        select
        from
          outbox
        order by
          sequence
        limit
          10000
      ) as found
  ) as unrelayed,
  (
    select
      count(*)
    from
      (
        select
          one.state
        from
          endpoint,
          lateral (
            select
              state
            from
              delivery
            where
              delivery.webhook_id = endpoint.webhook_id
              and state in ('pending')
              and next_attempt_at >= endpoint.oldest_at
              and next_attempt_at <= now()
            order by
              next_attempt_at
            limit
              10000
          ) as one
        limit
          10000
      ) as found
  ) as pending,
  (
    select
      count(*)
    from
      (
        select
          one.state
        from
          endpoint,
          lateral (
            select
              state
            from
              delivery
            where
              delivery.webhook_id = endpoint.webhook_id
              and state in ('held', 'pending')
              and true
            order by
              record,
              event_sequence
            limit
              10000
          ) as one
        limit
          10000
      ) as found
    where
      state = 'held'
  ) as held,
  (
    select
      coalesce(
        extract(
          epoch
          from
            greatest(now() - min(since), interval '0')
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
with
  listed as materialized (
    select
      webhook_id,
      account_id,
      oldest_at
    from
      endpoint_due
    where
      look_at > now() - make_interval(secs => 10)
      and look_at <= now()
    order by
      look_at
    limit
      10000
  ),
  endpoint as (
    select
      webhook.webhook_id,
      webhook.account_id,
      webhook.client_id,
      webhook.url,
      listed.oldest_at,
      case
        when webhook.quiet_until > now() then 0
        when webhook.consecutive_failures < 10 then $1::integer
        when webhook.probe_at <= now() then 1
        else 0
      end - coalesce(busy.attempts, 0) as places
    from
      listed
      cross join lateral (
        select
          *
        from
          webhook
        where
          webhook.webhook_id = listed.webhook_id
          and webhook.account_id = listed.account_id
        limit
          1
      ) as webhook
      left join unnest($2::bigint[], $3::int[]) as busy (webhook_id, attempts) on busy.webhook_id = webhook.webhook_id
    where
      webhook.enabled
      and (
        select
          case
            when client.disabled_at is not null then 'client_disabled'
            when not client.scopes && array['menus:read', 'menus:write'] then 'scope_removed'
          end
        from
          client
        where
          client.client_id = "webhook"."client_id"
          and client.account_id = "webhook"."account_id"
      ) is null
      and not exists (
        select
        from
          account_move
        where
          account_move.account_id = "webhook"."account_id"
      )
    order by
      random()
  ),
  due as materialized (
    select
      head.delivery_id
    from
      endpoint,
      lateral (
        select
          delivery_id
        from
          delivery
        where
          delivery.webhook_id = endpoint.webhook_id
          and state = 'pending'
          and next_attempt_at >= endpoint.oldest_at
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
      delivery_id = any (
        array(
          select
            delivery_id
          from
            due
        )
      )
    returning
      delivery_id,
      account_id,
      webhook_id,
      record,
      event_sequence,
      attempts,
      spared,
      event_id,
      leased_until
  )
select
  claimed.delivery_id,
  claimed.account_id,
  claimed.webhook_id,
  claimed.record,
  claimed.event_sequence,
  claimed.attempts + 1 as number,
  claimed.attempts + 1 - coalesce(claimed.spared, 0) as step,
  now() as claimed_at,
  claimed.leased_until,
  claimed.event_id as event_uuid,
  webhook.url,
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
  join endpoint as webhook on webhook.webhook_id = claimed.webhook_id;

-- webhooks.claim.events
-- $1 event_ids uuid[]
-- $2 account_ids bigint[]
-- $3 webhook_ids bigint[]
-- $4 first_id uuid
-- $5 last_id uuid
select
  place::int,
  event_id_text (event.event_id) as event_id,
  case
    when "event"."type" like 'item.%'
    and "event"."payload"::text not like '%"unavailable_by":%' then jsonb_set(
      "event"."payload"::jsonb,
      '{data}',
      '{"modifier_groups":[],"hours":null,"unavailable_since":null,"unavailable_by":null}'::jsonb || ("event"."payload"::jsonb -> 'data')
    )::json
    when "event"."type" like 'modifier.%'
    and "event"."payload"::text not like '%"unavailable_by":%' then jsonb_set(
      "event"."payload"::jsonb,
      '{data}',
      '{"unavailable_since":null,"unavailable_by":null}'::jsonb || ("event"."payload"::jsonb -> 'data')
    )::json
    when "event"."type" ~ '^(location|menu|category)[.]'
    and "event"."payload"::text not like '%"hours":%' then jsonb_set("event"."payload"::jsonb, '{data}', '{"hours":null}'::jsonb || ("event"."payload"::jsonb -> 'data'))::json
    else "event"."payload"
  end as payload,
  coalesce(
    (
      select
        client.location_ids is null
        or "event"."location_id" = any (client.location_ids)
      from
        client
      where
        client.client_id = "webhook"."client_id"
        and client.account_id = "webhook"."account_id"
    ),
    true
  ) as is_permitted
from
  unnest($1::uuid[], $2::bigint[], $3::bigint[]) with ordinality as leased (event_id, account_id, webhook_id, place)
  join event using (event_id, account_id)
  join webhook using (webhook_id, account_id)
where
  event.event_id between $4::uuid and $5::uuid
order by
  place;

-- webhooks.createWebhook
-- $1 account_id bigint
-- $2 client_id text
-- $3 url text
-- $4 description text
-- $5 event_types text[]
-- $6 wanted_locations bigint[]
-- $7 wanted_menus bigint[]
-- $8 location_ids bigint[]
-- $9 enabled boolean
-- $10 sealed_secret bytea
with
  "webhook" as (
    insert into
      "webhook" (
        "account_id",
        "client_id",
        "url",
        "description",
        "event_types",
        "location_ids",
        "menu_ids",
        "granted_location_ids",
        "enabled"
      )
    values
      (
        $1::bigint,
        $2::text,
        $3::text,
        $4::text,
        $5::text[],
        $6::bigint[],
        $7::bigint[],
        $8::bigint[],
        $9::boolean
      )
    returning
      *
  ),
  "secret" as (
    insert into
      "webhook_secret" ("webhook_id", "account_id", "sealed_secret")
    select
      "webhook_id",
      "account_id",
      $10::bytea as "sealed_secret"
    from
      "webhook"
  )
select
  "webhook_id",
  '"' || "webhook"."version" || '-' || to_hex("webhook"."stamp") || coalesce(
    '-' || (
      select
        case
          when client.disabled_at is not null then 'client_disabled'
          when not client.scopes && array['menus:read', 'menus:write'] then 'scope_removed'
        end
      from
        client
      where
        client.client_id = "webhook"."client_id"
        and client.account_id = "webhook"."account_id"
    ),
    ''
  ) || coalesce('-' || nullif("webhook"."expired_deliveries", 0), '') || '"' as "etag",
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
          "webhook"."client_id" as "client_id",
          (
            "webhook"."enabled"
            and (
              select
                case
                  when client.disabled_at is not null then 'client_disabled'
                  when not client.scopes && array['menus:read', 'menus:write'] then 'scope_removed'
                end
              from
                client
              where
                client.client_id = "webhook"."client_id"
                and client.account_id = "webhook"."account_id"
            ) is null
          ) as "enabled",
          coalesce(
            (
              select
                case
                  when client.disabled_at is not null then 'client_disabled'
                  when not client.scopes && array['menus:read', 'menus:write'] then 'scope_removed'
                end
              from
                client
              where
                client.client_id = "webhook"."client_id"
                and client.account_id = "webhook"."account_id"
            ),
            "webhook"."disabled_reason"
          ) as "disabled_reason",
          to_char(
            coalesce(
              (
                select
                  client.disabled_at
                from
                  client
                where
                  client.client_id = "webhook"."client_id"
                  and client.account_id = "webhook"."account_id"
              ),
              "webhook"."disabled_at"
            ) at time zone 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
          ) as "disabled_at",
          case
            when "webhook"."expired_deliveries" > 0 then (
              select
                to_json(fields)
              from
                (
                  select
                    "webhook"."expired_deliveries" as "count",
                    to_char("webhook"."first_expired_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "first_at",
                    to_char("webhook"."last_expired_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "last_at"
                ) as fields
            )
          end as "expired_deliveries",
          to_char("webhook"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
          to_char("webhook"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
          "webhook"."version" as "version"
      ) as fields
  ) as "resource"
from
  "webhook";

-- webhooks.createWebhook.count
-- $1 account_id bigint
-- $2 most bigint
select
  count(*)
from
  (
    select
    from
      webhook
    where
      account_id = $1::bigint
    limit
      $2::bigint
  ) as other;

-- webhooks.createWebhook.lock
-- $1 account_id bigint
select
  "account_id"
from
  "account"
where
  "account_id" = $1::bigint
for no key update;

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
    or '"' || "webhook"."version" || '-' || to_hex("webhook"."stamp") || coalesce(
      '-' || (
        select
          case
            when client.disabled_at is not null then 'client_disabled'
            when not client.scopes && array['menus:read', 'menus:write'] then 'scope_removed'
          end
        from
          client
        where
          client.client_id = "webhook"."client_id"
          and client.account_id = "webhook"."account_id"
      ),
      ''
    ) || coalesce('-' || nullif("webhook"."expired_deliveries", 0), '') || '"' = any ($4::text[])
  )
returning
  "webhook_id";

-- webhooks.disable
-- $1 gone_ids bigint[]
-- $2 stamp integer
-- $3 webhook_ids bigint[]
update webhook
set
  enabled = false,
  disabled_reason = case
    when webhook_id = any ($1::bigint[]) then 'gone'
    else 'failing'
  end,
  disabled_at = now(),
  updated_at = clock_timestamp(),
  version = version + 1,
  stamp = $2::integer
where
  webhook_id = any ($3::bigint[])
  and enabled
  and (
    webhook_id = any ($1::bigint[])
    or failing_since <= now() - make_interval(days => 5)
  );

-- webhooks.due.lock
-- $1 webhook_ids bigint[]
select
  "webhook_id"
from
  "webhook"
where
  webhook_id = any ($1::bigint[])
order by
  "webhook_id"
for no key update
  skip locked;

-- webhooks.due.next
-- $1 after bigint
select
  "webhook_id"
from
  "webhook"
where
  "webhook_id" > $1::bigint
order by
  "webhook_id"
limit
  200;

-- webhooks.due.note
-- $1 since timestamptz
-- $2 webhook_ids bigint[]
insert into
  endpoint_due (webhook_id, account_id, look_at, oldest_at)
select
  webhook.webhook_id,
  webhook.account_id,
  now(),
  coalesce(least(oldest_at, least($1::timestamptz, now())), '-infinity')
from
  webhook
  left join endpoint_due using (webhook_id, account_id)
where
  webhook.webhook_id = any ($2::bigint[])
  and coalesce(
    look_at > now()
    or oldest_at > least($1::timestamptz, now()),
    true
  )
order by
  webhook.webhook_id
on conflict (webhook_id, account_id) do update
set
  look_at = excluded.look_at,
  oldest_at = least(endpoint_due.oldest_at, excluded.oldest_at);

-- webhooks.due.repair
-- $1 webhook_ids bigint[]
insert into
  endpoint_due (webhook_id, account_id, look_at, oldest_at, waiting_since)
select
  webhook_id,
  account_id,
  next_at,
  least(oldest_at, first_at),
  queued_at
from
  (
    select
      webhook.webhook_id,
      webhook.account_id,
      known.look_at,
      known.oldest_at,
      known.waiting_since,
      first.next_attempt_at as first_at,
      case
        when enabled
        and (
          select
            case
              when client.disabled_at is not null then 'client_disabled'
              when not client.scopes && array['menus:read', 'menus:write'] then 'scope_removed'
            end
          from
            client
          where
            client.client_id = "webhook"."client_id"
            and client.account_id = "webhook"."account_id"
        ) is null then longest.created_at
      end as queued_at,
      case
        when enabled
        and coalesce(free.next_attempt_at, leased.until) is not null
        and (
          select
            case
              when client.disabled_at is not null then 'client_disabled'
              when not client.scopes && array['menus:read', 'menus:write'] then 'scope_removed'
            end
          from
            client
          where
            client.client_id = "webhook"."client_id"
            and client.account_id = "webhook"."account_id"
        ) is null then greatest(
          least(free.next_attempt_at, leased.until),
          quiet_until,
          now(),
          case
            when consecutive_failures >= 10 then probe_at
          end
        )
      end as next_at
    from
      unnest($1::bigint[]) as locked (webhook_id)
      cross join lateral (
        select
          *
        from
          webhook
        where
          webhook.webhook_id = locked.webhook_id
        limit
          1
      ) as webhook
      left join lateral (
        select
          look_at,
          oldest_at,
          waiting_since
        from
          endpoint_due as noted
        where
          noted.webhook_id = webhook.webhook_id
          and noted.account_id = webhook.account_id
        limit
          1
      ) as known on true
      left join lateral (
        select
          next_attempt_at
        from
          delivery
        where
          delivery.webhook_id = webhook.webhook_id
          and state = 'pending'
          and next_attempt_at >= '-infinity'
        order by
          next_attempt_at
        limit
          1
      ) as first on true
      cross join lateral (
        select
          min(created_at) as created_at
        from
          (
            select
              created_at
            from
              delivery
            where
              delivery.webhook_id = webhook.webhook_id
              and state = 'pending'
              and next_attempt_at >= '-infinity'
            order by
              next_attempt_at
            limit
              10
          ) as due
      ) as longest
      left join lateral (
        select
          next_attempt_at
        from
          delivery
        where
          delivery.webhook_id = webhook.webhook_id
          and state = 'pending'
          and next_attempt_at >= '-infinity'
          and coalesce(leased_until <= now(), true)
        order by
          next_attempt_at
        limit
          1
      ) as free on true
      left join lateral (
        select
          min(leased_until) as until
        from
          (
            select
              leased_until
            from
              delivery
            where
              delivery.webhook_id = webhook.webhook_id
              and state = 'pending'
              and next_attempt_at >= '-infinity'
              and next_attempt_at <= now()
              and leased_until > now()
              and coalesce(free.next_attempt_at > now(), true)
            order by
              next_attempt_at
            limit
              10000
          ) as under_way
      ) as leased on true
  ) as found
where
  next_at is not null
  and coalesce(
    oldest_at > first_at
    or look_at > next_at
    or look_at < now() - interval '1 minute'
    or look_at > now()
    and waiting_since is distinct from queued_at,
    true
  )
order by
  webhook_id
on conflict (webhook_id, account_id) do update
set
  look_at = excluded.look_at,
  oldest_at = least(endpoint_due.oldest_at, excluded.oldest_at),
  waiting_since = excluded.waiting_since;

-- webhooks.due.settle
-- $1 webhook_ids bigint[]
with
  found as materialized (
    select
      webhook.webhook_id,
      webhook.account_id,
      known.look_at,
      known.oldest_at,
      known.waiting_since,
      first.next_attempt_at as first_at,
      case
        when enabled
        and (
          select
            case
              when client.disabled_at is not null then 'client_disabled'
              when not client.scopes && array['menus:read', 'menus:write'] then 'scope_removed'
            end
          from
            client
          where
            client.client_id = "webhook"."client_id"
            and client.account_id = "webhook"."account_id"
        ) is null then longest.created_at
      end as queued_at,
      case
        when enabled
        and coalesce(free.next_attempt_at, leased.until) is not null
        and (
          select
            case
              when client.disabled_at is not null then 'client_disabled'
              when not client.scopes && array['menus:read', 'menus:write'] then 'scope_removed'
            end
          from
            client
          where
            client.client_id = "webhook"."client_id"
            and client.account_id = "webhook"."account_id"
        ) is null then greatest(
          least(free.next_attempt_at, leased.until),
          quiet_until,
          now(),
          case
            when consecutive_failures >= 10 then probe_at
          end
        )
      end as next_at
    from
      unnest($1::bigint[]) as locked (webhook_id)
      cross join lateral (
        select
          *
        from
          webhook
        where
          webhook.webhook_id = locked.webhook_id
        limit
          1
      ) as webhook
      left join lateral (
        select
          look_at,
          oldest_at,
          waiting_since
        from
          endpoint_due as noted
        where
          noted.webhook_id = webhook.webhook_id
          and noted.account_id = webhook.account_id
        limit
          1
      ) as known on true
      left join lateral (
        select
          next_attempt_at
        from
          delivery
        where
          delivery.webhook_id = webhook.webhook_id
          and state = 'pending'
          and next_attempt_at >= known.oldest_at
        order by
          next_attempt_at
        limit
          1
      ) as first on true
      cross join lateral (
        select
          min(created_at) as created_at
        from
          (
            select
              created_at
            from
              delivery
            where
              delivery.webhook_id = webhook.webhook_id
              and state = 'pending'
              and next_attempt_at >= known.oldest_at
            order by
              next_attempt_at
            limit
              10
          ) as due
      ) as longest
      left join lateral (
        select
          next_attempt_at
        from
          delivery
        where
          delivery.webhook_id = webhook.webhook_id
          and state = 'pending'
          and next_attempt_at >= known.oldest_at
          and coalesce(leased_until <= now(), true)
        order by
          next_attempt_at
        limit
          1
      ) as free on true
      left join lateral (
        select
          min(leased_until) as until
        from
          (
            select
              leased_until
            from
              delivery
            where
              delivery.webhook_id = webhook.webhook_id
              and state = 'pending'
              and next_attempt_at >= known.oldest_at
              and next_attempt_at <= now()
              and leased_until > now()
              and coalesce(free.next_attempt_at > now(), true)
            order by
              next_attempt_at
            limit
              10000
          ) as under_way
      ) as leased on true
  )
update endpoint_due
set
  look_at = next_at,
  waiting_since = queued_at,
  oldest_at = greatest(found.oldest_at, least(first_at, now() - interval '1 second'))
from
  found
where
  endpoint_due.webhook_id = found.webhook_id
  and endpoint_due.account_id = found.account_id
  and endpoint_due.look_at is not distinct from found.look_at
  and endpoint_due.oldest_at is not distinct from found.oldest_at;

-- webhooks.due.settling
-- $1 seconds float8
select
  "webhook_id"
from
  "endpoint_due"
where
  "look_at" > now() - make_interval(secs => $1::float8)
  and "look_at" <= now() - make_interval(secs => 1)
order by
  "look_at"
limit
  500;

-- webhooks.getDelivery
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
          delivery.failed_reason as "failed_reason",
          delivery.attempt_count as "attempt_count",
          to_char("delivery"."next_attempt_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "next_attempt_at",
          to_char("delivery"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "queued_at",
          coalesce(
            delivery.logged,
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
                  attempt.delivery_id = "delivery"."delivery_id"
                  and attempt.account_id = "delivery"."account_id"
                order by
                  attempt.number desc
                limit
                  100
              )
            )
          ) as "attempts"
      ) as fields
  ) as resource
from
  (
    (
      select
        delivery_id,
        account_id,
        webhook_id,
        replay_id,
        event_id,
        event_type,
        record,
        state,
        created_at,
        attempts as attempt_count,
        next_attempt_at,
        null::text as failed_reason,
        null::json as logged
      from
        delivery
      where
        (
          delivery_id = $1::bigint
          and webhook_id = $2::bigint
          and account_id = $3::bigint
        )
    )
    union all
    (
      select
        delivery_id,
        account_id,
        webhook_id,
        replay_id,
        event_id,
        event_type,
        record,
        state,
        created_at,
        attempt_count,
        null,
        failed_reason,
        attempts
      from
        delivery_log
      where
        (
          delivery_id = $1::bigint
          and webhook_id = $2::bigint
          and account_id = $3::bigint
        )
    )
  ) as delivery;

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
  '"' || "webhook"."version" || '-' || to_hex("webhook"."stamp") || coalesce(
    '-' || (
      select
        case
          when client.disabled_at is not null then 'client_disabled'
          when not client.scopes && array['menus:read', 'menus:write'] then 'scope_removed'
        end
      from
        client
      where
        client.client_id = "webhook"."client_id"
        and client.account_id = "webhook"."account_id"
    ),
    ''
  ) || coalesce('-' || nullif("webhook"."expired_deliveries", 0), '') || '"' as "etag",
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
          "webhook"."client_id" as "client_id",
          (
            "webhook"."enabled"
            and (
              select
                case
                  when client.disabled_at is not null then 'client_disabled'
                  when not client.scopes && array['menus:read', 'menus:write'] then 'scope_removed'
                end
              from
                client
              where
                client.client_id = "webhook"."client_id"
                and client.account_id = "webhook"."account_id"
            ) is null
          ) as "enabled",
          coalesce(
            (
              select
                case
                  when client.disabled_at is not null then 'client_disabled'
                  when not client.scopes && array['menus:read', 'menus:write'] then 'scope_removed'
                end
              from
                client
              where
                client.client_id = "webhook"."client_id"
                and client.account_id = "webhook"."account_id"
            ),
            "webhook"."disabled_reason"
          ) as "disabled_reason",
          to_char(
            coalesce(
              (
                select
                  client.disabled_at
                from
                  client
                where
                  client.client_id = "webhook"."client_id"
                  and client.account_id = "webhook"."account_id"
              ),
              "webhook"."disabled_at"
            ) at time zone 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
          ) as "disabled_at",
          case
            when "webhook"."expired_deliveries" > 0 then (
              select
                to_json(fields)
              from
                (
                  select
                    "webhook"."expired_deliveries" as "count",
                    to_char("webhook"."first_expired_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "first_at",
                    to_char("webhook"."last_expired_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "last_at"
                ) as fields
            )
          end as "expired_deliveries",
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
-- $4 since timestamptz
-- $5 until timestamptz
-- $6 record text
-- $7 state text
-- $8 type text[]
-- $9 limit bigint
-- Conditions that are there when given: before, since, until, record, failed, state, type
with
  examined as (
    select
      *
    from
      (
        (
          select
            delivery_id,
            account_id,
            webhook_id,
            replay_id,
            event_id,
            event_type,
            record,
            state,
            created_at,
            attempts as attempt_count,
            next_attempt_at,
            null::text as failed_reason,
            null::json as logged
          from
            delivery
          where
            webhook_id = $1::bigint
            and account_id = $2::bigint
            and true
            and delivery_id < $3::bigint
            and created_at >= $4::timestamptz
            and delivery_id > coalesce(
              (
                select
                  near.delivery_id
                from
                  "delivery" as near
                where
                  near.webhook_id = $1::bigint
                  and near.created_at < $4::timestamptz - interval '1 minute'
                order by
                  created_at desc
                limit
                  1
              ),
              0
            )
            and created_at < $5::timestamptz
            and delivery_id < coalesce(
              (
                select
                  near.delivery_id
                from
                  "delivery" as near
                where
                  near.webhook_id = $1::bigint
                  and near.created_at >= $5::timestamptz + interval '1 minute'
                order by
                  created_at
                limit
                  1
              ),
              9007199254740991
            )
            and record = $6::text
          order by
            delivery_id desc
          limit
            5000
        )
        union all
        (
          select
            delivery_id,
            account_id,
            webhook_id,
            replay_id,
            event_id,
            event_type,
            record,
            state,
            created_at,
            attempt_count,
            null,
            failed_reason,
            attempts
          from
            delivery_log
          where
            webhook_id = $1::bigint
            and account_id = $2::bigint
            and true
            and delivery_id < $3::bigint
            and created_at >= $4::timestamptz
            and ended_at >= $4::timestamptz
            and delivery_id > coalesce(
              (
                select
                  near.delivery_id
                from
                  "delivery_log" as near
                where
                  near.webhook_id = $1::bigint
                  and near.created_at < $4::timestamptz - interval '1 minute'
                order by
                  created_at desc
                limit
                  1
              ),
              0
            )
            and created_at < $5::timestamptz
            and delivery_id < coalesce(
              (
                select
                  near.delivery_id
                from
                  "delivery_log" as near
                where
                  near.webhook_id = $1::bigint
                  and near.created_at >= $5::timestamptz + interval '1 minute'
                order by
                  created_at
                limit
                  1
              ),
              9007199254740991
            )
            and record = $6::text
          order by
            delivery_id desc
          limit
            5000
        )
      ) as either
    order by
      delivery_id desc
    limit
      5000
  ),
  listed as (
    select
      *
    from
      examined as delivery
    where
      true
      and state = 'failed'
      and state = $7::text
      and event_type = any ($8::text[])
    order by
      delivery_id desc
    limit
      $9::bigint
  )
select
  delivery_id as id,
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
          delivery.failed_reason as "failed_reason",
          delivery.attempt_count as "attempt_count",
          to_char("delivery"."next_attempt_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "next_attempt_at",
          to_char("delivery"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "queued_at",
          coalesce(
            delivery.logged -> 0,
            (
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
                  attempt.delivery_id = "delivery"."delivery_id"
                  and attempt.account_id = "delivery"."account_id"
                order by
                  attempt.number desc
                limit
                  1
              )
            ) [1]
          ) as "last_attempt"
      ) as fields
  ) as resource,
  false as is_end
from
  listed as delivery
union all
select
  min(delivery_id),
  null,
  true
from
  examined
having
  count(*) = 5000
order by
  is_end,
  id desc;

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
          "webhook"."client_id" as "client_id",
          (
            "webhook"."enabled"
            and (
              select
                case
                  when client.disabled_at is not null then 'client_disabled'
                  when not client.scopes && array['menus:read', 'menus:write'] then 'scope_removed'
                end
              from
                client
              where
                client.client_id = "webhook"."client_id"
                and client.account_id = "webhook"."account_id"
            ) is null
          ) as "enabled",
          coalesce(
            (
              select
                case
                  when client.disabled_at is not null then 'client_disabled'
                  when not client.scopes && array['menus:read', 'menus:write'] then 'scope_removed'
                end
              from
                client
              where
                client.client_id = "webhook"."client_id"
                and client.account_id = "webhook"."account_id"
            ),
            "webhook"."disabled_reason"
          ) as "disabled_reason",
          to_char(
            coalesce(
              (
                select
                  client.disabled_at
                from
                  client
                where
                  client.client_id = "webhook"."client_id"
                  and client.account_id = "webhook"."account_id"
              ),
              "webhook"."disabled_at"
            ) at time zone 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
          ) as "disabled_at",
          case
            when "webhook"."expired_deliveries" > 0 then (
              select
                to_json(fields)
              from
                (
                  select
                    "webhook"."expired_deliveries" as "count",
                    to_char("webhook"."first_expired_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "first_at",
                    to_char("webhook"."last_expired_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "last_at"
                ) as fields
            )
          end as "expired_deliveries",
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
-- $4 quiet_ms float8[]
update webhook
set
  failing_since = case
    when not reached then coalesce(
      failing_since + case
        when last_failed_at < now() - make_interval(secs => 108000) then now() - last_failed_at
        else interval '0'
      end,
      now()
    )
  end,
  last_failed_at = case
    when not reached then now()
  end,
  consecutive_failures = case
    when reached then 0
    else consecutive_failures + failures
  end,
  probe_at = case
    when not reached then now() + least(greatest((now() - coalesce(failing_since, now())) / 10, interval '5 seconds'), interval '5 minutes')
  end,
  quiet_until = greatest(quiet_until, now() + make_interval(secs => quiet_ms / 1000)),
  recovered_at = case
    when reached
    and consecutive_failures >= 10 then now()
    else recovered_at
  end
from
  unnest($1::bigint[], $2::int[], $3::boolean[], $4::float8[]) as impression (webhook_id, failures, reached, quiet_ms)
where
  webhook.webhook_id = impression.webhook_id
  and (
    failing_since is not null
    or not reached
    or quiet_ms is not null
  );

-- webhooks.planInOrder
select
  set_config('enable_sort', 'off', true);

-- webhooks.promoteHeads
-- $1 webhook_ids bigint[]
-- $2 records text[]
-- $3 after bigint[]
update delivery
set
  state = 'pending',
  next_attempt_at = now()
where
  delivery_id = any (
    array(
      select
        head.delivery_id
      from
        unnest($1::bigint[], $2::text[], $3::bigint[]) as key (webhook_id, record, after),
        lateral (
          (
            select
              delivery_id,
              state,
              event_sequence
            from
              delivery
            where
              delivery.webhook_id = key.webhook_id
              and delivery.record = key.record
              and delivery.state in ('held', 'pending')
              and event_sequence >= key.after
            order by
              event_sequence
            limit
              1
          )
          union all
          (
            select
              delivery_id,
              state,
              event_sequence
            from
              delivery
            where
              delivery.webhook_id = key.webhook_id
              and delivery.record = key.record
              and delivery.state = 'held'
              and (
                replay_id is not null
                or attempts > 0
              )
            order by
              event_sequence
            limit
              1
          )
          order by
            event_sequence
          limit
            1
        ) as head
      where
        head.state = 'held'
    )
  );

-- webhooks.recordOutcomes
-- $1 delivery_ids bigint[]
-- $2 account_ids bigint[]
-- $3 leases timestamptz[]
-- $4 numbers smallint[]
-- $5 states text[]
-- $6 failed_reasons text[]
-- $7 retry_in_ms float8[]
-- $8 started_at timestamptz[]
-- $9 durations_ms int[]
-- $10 statuses smallint[]
-- $11 errors text[]
-- $12 response_excerpts text[]
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
        $6::text[],
        $7::float8[],
        $8::timestamptz[],
        $9::int[],
        $10::smallint[],
        $11::text[],
        $12::text[]
      ) with ordinality as outcome (
        delivery_id,
        account_id,
        lease,
        number,
        new_state,
        failed_reason,
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
      and delivery.delivery_id = any ($1::bigint[])
      and leased_until = lease
      and (
        new_state = 'pending'
        or not (
          select
            starts_at <= now()
          from
            delivery_log_start
        )
      )
    returning
      outcome.*
  ),
  attempted as (
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
  ),
  ended as (
    delete from delivery using outcome
    where
      delivery.delivery_id = outcome.delivery_id
      and delivery.account_id = outcome.account_id
      and delivery.delivery_id = any ($1::bigint[])
      and leased_until = lease
      and new_state <> 'pending'
      and (
        select
          starts_at <= now()
        from
          delivery_log_start
      )
    returning
      delivery.delivery_id,
      delivery.account_id,
      delivery.webhook_id,
      delivery.event_id,
      delivery.event_sequence,
      delivery.event_type,
      delivery.record,
      delivery.attempts,
      delivery.spared,
      delivery.replay_id,
      delivery.created_at,
      new_state,
      failed_reason,
      number,
      started_at,
      duration_ms,
      status,
      error,
      response_excerpt,
      place
  ),
  logged as (
    insert into
      delivery_log (
        delivery_id,
        account_id,
        webhook_id,
        event_id,
        event_sequence,
        event_type,
        record,
        spared,
        replay_id,
        created_at,
        state,
        failed_reason,
        attempt_count,
        attempts,
        ended_at
      )
    select
      delivery_id,
      account_id,
      webhook_id,
      event_id,
      event_sequence,
      event_type,
      record,
      spared,
      replay_id,
      created_at,
      new_state,
      failed_reason,
      number,
      array_to_json(
        array[
          (
            select
              to_json(fields)
            from
              (
                select
                  "ended"."number" as "number",
                  to_char("ended"."started_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "started_at",
                  "ended"."duration_ms" as "duration_ms",
                  "ended"."status" as "status",
                  "ended"."error" as "error",
                  "ended"."response_excerpt" as "response_excerpt"
              ) as fields
          )
        ] || array(
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
            attempt.delivery_id = "ended"."delivery_id"
            and attempt.account_id = "ended"."account_id"
          order by
            attempt.number desc
          limit
            99
        )
      ),
      now()
    from
      ended
  )
select
  place
from
  recorded
union all
select
  place
from
  ended;

-- webhooks.recovery.finish
-- $1 webhook_id bigint
-- $2 account_id bigint
-- $3 recovered_at timestamptz
update "webhook"
set
  "recovered_at" = null
where
  "webhook_id" = $1::bigint
  and "account_id" = $2::bigint
  and "recovered_at" = $3::timestamptz;

-- webhooks.recovery.hasten
-- $1 webhook_id bigint
-- $2 account_id bigint
-- $3 from timestamptz
-- $4 recovered_at timestamptz
with
  batch as (
    select
      delivery_id,
      next_attempt_at
    from
      delivery
    where
      webhook_id = $1::bigint
      and account_id = $2::bigint
      and state = 'pending'
      and next_attempt_at >= greatest($3::timestamptz, now())
      and next_attempt_at > now()
      and attempts < 100
      and coalesce(leased_until <= now(), true)
      and not exists (
        select
        from
          attempt
        where
          attempt.delivery_id = delivery.delivery_id
          and attempt.account_id = delivery.account_id
          and attempt.number = delivery.attempts
          and attempt.started_at >= $4::timestamptz
      )
    order by
      next_attempt_at
    limit
      1000
    for update
      skip locked
  ),
  hastened as (
    update delivery
    set
      next_attempt_at = created_at,
      spared = coalesce(spared, 0) + 1
    where
      delivery_id = any (
        array(
          select
            delivery_id
          from
            batch
        )
      )
      and account_id = $2::bigint
    returning
      created_at
  )
select
  (
    select
      count(*)
    from
      hastened
  ) as count,
  (
    select
      min(created_at)
    from
      hastened
  ) as oldest,
  (
    select
      max(next_attempt_at)
    from
      batch
  ) as "end";

-- webhooks.recovery.recovered
select
  "webhook_id",
  "account_id",
  recovered_at as "recovered_at"
from
  "webhook"
where
  "recovered_at" is not null
  and not exists (
    select
    from
      account_move
    where
      account_move.account_id = "webhook"."account_id"
  )
order by
  "recovered_at"
limit
  20;

-- webhooks.relay.any
-- $1 from bigint
select
  (
    select
      sequence
    from
      outbox
    where
      sequence >= $1::bigint
    order by
      sequence
    limit
      1
  ) as first,
  outbox_drawn () as last,
  pg_snapshot_xmin(pg_current_snapshot())::text as oldest;

-- webhooks.relay.endpoints
-- $1 event_ids uuid[]
-- $2 account_ids bigint[]
-- $3 first_id uuid
-- $4 last_id uuid
-- $5 retention_days integer
with
  feed as materialized (
    select
      account_id,
      type,
      location_id,
      menu_id,
      array_agg(place::int) as places
    from
      unnest($1::uuid[], $2::bigint[]) with ordinality as waiting (event_id, account_id, place)
      join event using (event_id, account_id)
    where
      event.event_id between $3::uuid and $4::uuid
    group by
      account_id,
      type,
      location_id,
      menu_id
  )
select
  feed.places,
  array_agg(wanting.webhook_id::float8) as webhook_ids
from
  feed,
  lateral (
    select
      webhook_id
    from
      webhook
    where
      webhook.account_id = feed.account_id
      and webhook_routes (
        "webhook"."account_id",
        "webhook"."event_types",
        "webhook"."location_ids",
        "webhook"."menu_ids",
        "webhook"."granted_location_ids"
      ) && event_routes (feed.account_id, feed.type, feed.location_id, feed.menu_id)
      and (
        webhook.event_types = '{}'
        or (
          "feed"."type" = any ("webhook"."event_types")
          or split_part("feed"."type", '.', 1) || '.*' = any ("webhook"."event_types")
        )
      )
      and (
        webhook.location_ids = '{}'
        or feed.location_id = any (webhook.location_ids)
      )
      and (
        webhook.menu_ids = '{}'
        or feed.menu_id = any (webhook.menu_ids)
      )
      and (
        webhook.granted_location_ids is null
        or feed.location_id = any (webhook.granted_location_ids)
      )
      and coalesce(
        (
          select
            client.location_ids is null
            or "feed"."location_id" = any (client.location_ids)
          from
            client
          where
            client.client_id = "webhook"."client_id"
            and client.account_id = "webhook"."account_id"
        ),
        true
      )
      and coalesce(
        least(
          webhook.disabled_at,
          (
            select
              client.disabled_at
            from
              client
            where
              client.client_id = "webhook"."client_id"
              and client.account_id = "webhook"."account_id"
          )
        ) > now() - make_interval(days => $5::integer),
        true
      )
    offset
      0
  ) as wanting
group by
  feed.places;

-- webhooks.relay.lock
select
  is_relay is not null as is_relay,
  pg_current_xact_id()::text as xid,
  server_history () as server
from
  (
    values
      (1)
  ) as one
  left join lateral (
    select
      singleton as is_relay
    from
      relay
    for update
      skip locked
  ) as locked on true;

-- webhooks.relay.queue
-- $1 event_ids uuid[]
-- $2 account_ids bigint[]
-- $3 webhook_ids bigint[]
-- $4 first_id uuid
-- $5 last_id uuid
-- $6 retention_days integer
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
      position,
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
              position
          ) = 1
          and (
            select
              true
            from
              delivery as ahead
            where
              ahead.webhook_id = wanted.webhook_id
              and ahead.record = any (array[wanted.record])
              and ahead.state = 'pending'
              and ahead.next_attempt_at >= coalesce(
                (
                  select
                    oldest_at
                  from
                    endpoint_due as known
                  where
                    known.webhook_id = wanted.webhook_id
                    and known.account_id = wanted.account_id
                ),
                '-infinity'
              )
            order by
              ahead.record,
              ahead.next_attempt_at
            limit
              1
          ) is null as is_head
        from
          (
            select
              feed.account_id,
              webhook.webhook_id,
              feed.event_id,
              feed.position,
              feed.type,
              feed.record,
              null::bigint as replay_id
            from
              unnest($1::uuid[], $2::bigint[], $3::bigint[]) as relayed (event_id, account_id, webhook_id)
              cross join lateral (
                select
                  *
                from
                  feed
                where
                  feed.event_id = relayed.event_id
                  and feed.account_id = relayed.account_id
                  and feed.event_id between $4::uuid and $5::uuid
                offset
                  0
              ) as feed
              cross join lateral (
                select
                  *
                from
                  webhook
                where
                  webhook.webhook_id = relayed.webhook_id
                  and webhook.account_id = relayed.account_id
                offset
                  0
              ) as webhook
            where
              (
                webhook.event_types = '{}'
                or (
                  "feed"."type" = any ("webhook"."event_types")
                  or split_part("feed"."type", '.', 1) || '.*' = any ("webhook"."event_types")
                )
              )
              and (
                webhook.location_ids = '{}'
                or feed.location_id = any (webhook.location_ids)
              )
              and (
                webhook.menu_ids = '{}'
                or feed.menu_id = any (webhook.menu_ids)
              )
              and (
                webhook.granted_location_ids is null
                or feed.location_id = any (webhook.granted_location_ids)
              )
              and coalesce(
                (
                  select
                    client.location_ids is null
                    or "feed"."location_id" = any (client.location_ids)
                  from
                    client
                  where
                    client.client_id = "webhook"."client_id"
                    and client.account_id = "webhook"."account_id"
                ),
                true
              )
              and coalesce(
                least(
                  webhook.disabled_at,
                  (
                    select
                      client.disabled_at
                    from
                      client
                    where
                      client.client_id = "webhook"."client_id"
                      and client.account_id = "webhook"."account_id"
                  )
                ) > now() - make_interval(days => $6::integer),
                true
              )
          ) as wanted
      ) as placed
    order by
      position
    returning
      1
  )
select
  count(*) as queued
from
  inserted;

-- webhooks.relay.waiting
-- $1 from bigint
-- $2 limit bigint
with recursive
  known as (
    (
      select
        account_id
      from
        outbox
      where
        sequence >= $1::bigint
      order by
        account_id
      limit
        1
    )
    union all
    select
      (
        select
          account_id
        from
          outbox
        where
          outbox.account_id > known.account_id
          and sequence >= $1::bigint
        order by
          account_id
        limit
          1
      )
    from
      known
    where
      account_id is not null
  ),
  account as materialized (
    select
      account_id,
      count(*) over () as accounts
    from
      (
        select
          account_id
        from
          known
        where
          account_id is not null
        limit
          $2::bigint
      ) as listed
  ),
  candidate as (
    select
      own.*
    from
      account,
      lateral (
        select
          sequence,
          account_id,
          event_id
        from
          outbox
        where
          outbox.account_id = account.account_id
          and sequence >= $1::bigint
        order by
          sequence
        limit
          greatest(1, $2::bigint / accounts)
      ) as own
    union
    (
      select
        sequence,
        account_id,
        event_id
      from
        outbox
      where
        sequence >= $1::bigint
      order by
        sequence
      limit
        case
          when (
            select
              count(*)
            from
              account
          ) = $2::bigint then $2::bigint / 2
          else 0
        end
    )
  )
select
  sequence,
  account_id,
  event_id
from
  candidate
order by
  row_number() over (
    partition by
      account_id
    order by
      sequence
  ),
  sequence
limit
  $2::bigint;

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
  and exists (
    select
    from
      feed
    where
      feed.event_id = event.event_id
      and feed.event_id > $1::uuid
      and feed.event_id <= $2::uuid
  )
order by
  "event_id"
limit
  1000
for key share;

-- webhooks.replays.queue
-- $1 replay_id bigint
-- $2 webhook_id bigint
-- $3 event_ids uuid[]
-- $4 first_id uuid
-- $5 last_id uuid
-- $6 account_id bigint
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
      position,
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
              position
          ) = 1
          and (
            select
              true
            from
              delivery as ahead
            where
              ahead.webhook_id = wanted.webhook_id
              and ahead.record = any (array[wanted.record])
              and ahead.state = 'pending'
              and ahead.next_attempt_at >= coalesce(
                (
                  select
                    oldest_at
                  from
                    endpoint_due as known
                  where
                    known.webhook_id = wanted.webhook_id
                    and known.account_id = wanted.account_id
                ),
                '-infinity'
              )
            order by
              ahead.record,
              ahead.next_attempt_at
            limit
              1
          ) is null as is_head
        from
          (
            select
              feed.account_id,
              webhook.webhook_id,
              feed.event_id,
              feed.position,
              feed.type,
              feed.record,
              $1::bigint as replay_id
            from
              feed
              join webhook on webhook.account_id = feed.account_id
              and webhook.webhook_id = $2::bigint
            where
              feed.event_id = any ($3::uuid[])
              and feed.event_id between $4::uuid and $5::uuid
              and feed.account_id = $6::bigint
              and (
                webhook.event_types = '{}'
                or (
                  "feed"."type" = any ("webhook"."event_types")
                  or split_part("feed"."type", '.', 1) || '.*' = any ("webhook"."event_types")
                )
              )
              and (
                webhook.location_ids = '{}'
                or feed.location_id = any (webhook.location_ids)
              )
              and (
                webhook.menu_ids = '{}'
                or feed.menu_id = any (webhook.menu_ids)
              )
              and (
                webhook.granted_location_ids is null
                or feed.location_id = any (webhook.granted_location_ids)
              )
              and coalesce(
                (
                  select
                    client.location_ids is null
                    or "feed"."location_id" = any (client.location_ids)
                  from
                    client
                  where
                    client.client_id = "webhook"."client_id"
                    and client.account_id = "webhook"."account_id"
                ),
                true
              )
              and not exists (
                select
                from
                  delivery
                where
                  delivery.webhook_id = webhook.webhook_id
                  and delivery.record = feed.record
                  and delivery.event_sequence = feed.position
                  and delivery.state = 'held'
              )
          ) as wanted
      ) as placed
    order by
      position
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
  and not exists (
    select
    from
      account_move
    where
      account_move.account_id = "replay"."account_id"
  )
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

-- webhooks.retention.expire
-- $1 delivery_ids bigint[]
-- $2 account_ids bigint[]
with
  ended as (
    delete from delivery using unnest($1::bigint[], $2::bigint[]) as old (delivery_id, account_id)
    where
      delivery.delivery_id = old.delivery_id
      and delivery.account_id = old.account_id
      and state in ('held', 'pending')
      and coalesce(leased_until <= now(), true)
    returning
      delivery.delivery_id,
      delivery.account_id,
      delivery.webhook_id,
      delivery.event_id,
      delivery.event_sequence,
      delivery.event_type,
      delivery.record,
      delivery.attempts,
      delivery.spared,
      delivery.replay_id,
      delivery.created_at
  ),
  logged as (
    insert into
      delivery_log (
        delivery_id,
        account_id,
        webhook_id,
        event_id,
        event_sequence,
        event_type,
        record,
        spared,
        replay_id,
        created_at,
        state,
        failed_reason,
        attempt_count,
        attempts,
        ended_at
      )
    select
      delivery_id,
      account_id,
      webhook_id,
      event_id,
      event_sequence,
      event_type,
      record,
      spared,
      replay_id,
      created_at,
      'failed',
      'expired',
      attempts,
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
            attempt.delivery_id = "ended"."delivery_id"
            and attempt.account_id = "ended"."account_id"
          order by
            attempt.number desc
          limit
            100
        )
      ),
      now()
    from
      ended
  ),
  noted as (
    update webhook
    set
      expired_deliveries = expired_deliveries + expired.count,
      first_expired_at = coalesce(first_expired_at, now()),
      last_expired_at = now()
    from
      (
        select
          webhook_id,
          account_id,
          count(*)
        from
          ended
        group by
          webhook_id,
          account_id
      ) as expired
    where
      webhook.webhook_id = expired.webhook_id
      and webhook.account_id = expired.account_id
  )
select distinct
  webhook_id,
  record
from
  ended;

-- webhooks.retention.lease
-- $1 holder uuid
update "sweeper"
set
  "holder" = $1::uuid,
  "leased_until" = now() + interval '10 minutes'
where
  (
    holder = $1::uuid
    or leased_until <= now()
  )
returning
  "holder";

-- webhooks.retention.moveEnded
-- $1 batch bigint
with
  ended as (
    delete from delivery
    where
      (
        select
          starts_at <= now()
        from
          delivery_log_start
      )
      and delivery_id = any (
        array(
          select
            delivery_id
          from
            delivery
          where
            state in ('delivered', 'failed')
          order by
            delivery_id
          limit
            $1::bigint
          for update
            skip locked
        )
      )
      and state in ('delivered', 'failed')
    returning
      delivery.delivery_id,
      delivery.account_id,
      delivery.webhook_id,
      delivery.event_id,
      delivery.event_sequence,
      delivery.event_type,
      delivery.record,
      delivery.attempts,
      delivery.spared,
      delivery.replay_id,
      delivery.created_at,
      state
  ),
  logged as (
    insert into
      delivery_log (
        delivery_id,
        account_id,
        webhook_id,
        event_id,
        event_sequence,
        event_type,
        record,
        spared,
        replay_id,
        created_at,
        state,
        failed_reason,
        attempt_count,
        attempts,
        ended_at
      )
    select
      delivery_id,
      account_id,
      webhook_id,
      event_id,
      event_sequence,
      event_type,
      record,
      spared,
      replay_id,
      created_at,
      state,
      null,
      attempts,
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
            attempt.delivery_id = "ended"."delivery_id"
            and attempt.account_id = "ended"."account_id"
          order by
            attempt.number desc
          limit
            100
        )
      ),
      coalesce(
        (
          select
            max(started_at)
          from
            attempt
          where
            attempt.delivery_id = ended.delivery_id
            and attempt.account_id = ended.account_id
        ),
        created_at
      )
    from
      ended
  )
select
  1
from
  ended;

-- webhooks.retention.old
-- $1 days integer
-- $2 batch bigint
select
  delivery_id,
  account_id,
  webhook_id
from
  delivery
where
  state in ('held', 'pending')
  and coalesce(leased_until <= now(), true)
  and event_id < event_id_at (now() - make_interval(days => $1::integer))
order by
  event_id
limit
  $2::bigint;

-- webhooks.retention.removeOrphans
-- $1 after bigint
-- $2 batch bigint
with recursive
  known as (
    (
      select
        webhook_id
      from
        delivery
      where
        webhook_id > $1::bigint
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
  listed as materialized (
    select
      webhook_id
    from
      known
    where
      webhook_id is not null
    limit
      $2::bigint
  ),
  orphan as (
    select
      webhook_id
    from
      listed
    where
      (
        select
          true
        from
          webhook
        where
          webhook.webhook_id = listed.webhook_id
      ) is null
    order by
      webhook_id
    limit
      1
  ),
  removed as (
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
            $2::bigint
          for update
            skip locked
        )
      )
    returning
      1
  )
select
  coalesce(
    (
      select
        webhook_id - least(
          1,
          (
            select
              count(*)
            from
              removed
          )
        )
      from
        orphan
    ),
    (
      select
        max(webhook_id)
      from
        listed
    )
  ) as last;

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
          delivery.failed_reason as "failed_reason",
          delivery.attempt_count as "attempt_count",
          to_char("delivery"."next_attempt_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "next_attempt_at",
          to_char("delivery"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "queued_at",
          coalesce(
            delivery.logged -> 0,
            (
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
                  attempt.delivery_id = "delivery"."delivery_id"
                  and attempt.account_id = "delivery"."account_id"
                order by
                  attempt.number desc
                limit
                  1
              )
            ) [1]
          ) as "last_attempt"
      ) as fields
  ) as resource
from
  (
    (
      select
        delivery_id,
        account_id,
        webhook_id,
        replay_id,
        event_id,
        event_type,
        record,
        state,
        created_at,
        attempts as attempt_count,
        next_attempt_at,
        null::text as failed_reason,
        null::json as logged
      from
        delivery
      where
        (
          delivery_id = $1::bigint
          and webhook_id = $2::bigint
          and account_id = $3::bigint
        )
    )
    union all
    (
      select
        delivery_id,
        account_id,
        webhook_id,
        replay_id,
        event_id,
        event_type,
        record,
        state,
        created_at,
        attempt_count,
        null,
        failed_reason,
        attempts
      from
        delivery_log
      where
        (
          delivery_id = $1::bigint
          and webhook_id = $2::bigint
          and account_id = $3::bigint
        )
    )
  ) as delivery;

-- webhooks.retryDelivery.event
-- $1 delivery_id bigint
-- $2 webhook_id bigint
-- $3 account_id bigint
select
  event_id
from
  delivery
where
  (
    delivery_id = $1::bigint
    and webhook_id = $2::bigint
    and account_id = $3::bigint
  )
union all
select
  event_id
from
  delivery_log
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

-- webhooks.retryDelivery.requeue
-- $1 delivery_id bigint
-- $2 webhook_id bigint
-- $3 account_id bigint
with
  ended as (
    delete from delivery_log
    where
      (
        delivery_id = $1::bigint
        and webhook_id = $2::bigint
        and account_id = $3::bigint
      )
    returning
      delivery_id,
      account_id,
      webhook_id,
      event_id,
      event_sequence,
      event_type,
      record,
      attempt_count,
      spared,
      attempts,
      replay_id,
      created_at
  ),
  queued as (
    insert into
      delivery (
        delivery_id,
        account_id,
        webhook_id,
        event_id,
        event_sequence,
        event_type,
        record,
        state,
        attempts,
        spared,
        replay_id,
        created_at
      )
    overriding system value
    select
      delivery_id,
      account_id,
      webhook_id,
      event_id,
      event_sequence,
      event_type,
      record,
      'held',
      attempt_count,
      spared,
      replay_id,
      created_at
    from
      ended
  )
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
  ended,
  json_to_recordset(attempts) as attempt (
    number smallint,
    started_at timestamptz,
    duration_ms integer,
    status smallint,
    error text,
    response_excerpt text
  );

-- webhooks.rotateWebhookSecret
-- $1 stamp integer
-- $2 webhook_id bigint
-- $3 account_id bigint
-- $4 location_ids bigint[]
-- $5 if_match text[]
update "webhook"
set
  "version" = version + 1,
  "stamp" = $1::integer,
  "updated_at" = clock_timestamp()
where
  "webhook_id" = $2::bigint
  and (
    webhook.account_id = $3::bigint
    and (
      $4::bigint[] is null
      or coalesce(webhook.granted_location_ids <@ $4::bigint[], false)
    )
  )
  and (
    $5::text[] is null
    or '"' || "webhook"."version" || '-' || to_hex("webhook"."stamp") || coalesce(
      '-' || (
        select
          case
            when client.disabled_at is not null then 'client_disabled'
            when not client.scopes && array['menus:read', 'menus:write'] then 'scope_removed'
          end
        from
          client
        where
          client.client_id = "webhook"."client_id"
          and client.account_id = "webhook"."account_id"
      ),
      ''
    ) || coalesce('-' || nullif("webhook"."expired_deliveries", 0), '') || '"' = any ($5::text[])
  )
returning
  '"' || "new"."version" || '-' || to_hex("new"."stamp") || coalesce(
    '-' || (
      select
        case
          when client.disabled_at is not null then 'client_disabled'
          when not client.scopes && array['menus:read', 'menus:write'] then 'scope_removed'
        end
      from
        client
      where
        client.client_id = "new"."client_id"
        and client.account_id = "new"."account_id"
    ),
    ''
  ) || coalesce('-' || nullif("new"."expired_deliveries", 0), '') || '"' as "etag",
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
          "new"."client_id" as "client_id",
          (
            "new"."enabled"
            and (
              select
                case
                  when client.disabled_at is not null then 'client_disabled'
                  when not client.scopes && array['menus:read', 'menus:write'] then 'scope_removed'
                end
              from
                client
              where
                client.client_id = "new"."client_id"
                and client.account_id = "new"."account_id"
            ) is null
          ) as "enabled",
          coalesce(
            (
              select
                case
                  when client.disabled_at is not null then 'client_disabled'
                  when not client.scopes && array['menus:read', 'menus:write'] then 'scope_removed'
                end
              from
                client
              where
                client.client_id = "new"."client_id"
                and client.account_id = "new"."account_id"
            ),
            "new"."disabled_reason"
          ) as "disabled_reason",
          to_char(
            coalesce(
              (
                select
                  client.disabled_at
                from
                  client
                where
                  client.client_id = "new"."client_id"
                  and client.account_id = "new"."account_id"
              ),
              "new"."disabled_at"
            ) at time zone 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
          ) as "disabled_at",
          case
            when "new"."expired_deliveries" > 0 then (
              select
                to_json(fields)
              from
                (
                  select
                    "new"."expired_deliveries" as "count",
                    to_char("new"."first_expired_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "first_at",
                    to_char("new"."last_expired_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "last_at"
                ) as fields
            )
          end as "expired_deliveries",
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
-- $7 stamp integer
-- $8 webhook_id bigint
-- $9 account_id bigint
-- $10 location_ids bigint[]
-- $11 if_match text[]
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
      "quiet_until" = case
        when (
          $6::boolean is true
          or $1::text <> url
        ) then null
        else quiet_until
      end,
      "recovered_at" = case
        when (
          $6::boolean is true
          or $1::text <> url
        ) then now()
        else recovered_at
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
      "stamp" = case
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
        ) then $7::integer
        else stamp
      end,
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
      "webhook_id" = $8::bigint
      and (
        webhook.account_id = $9::bigint
        and (
          $10::bigint[] is null
          or coalesce(webhook.granted_location_ids <@ $10::bigint[], false)
        )
      )
      and (
        $11::text[] is null
        or '"' || "webhook"."version" || '-' || to_hex("webhook"."stamp") || coalesce(
          '-' || (
            select
              case
                when client.disabled_at is not null then 'client_disabled'
                when not client.scopes && array['menus:read', 'menus:write'] then 'scope_removed'
              end
            from
              client
            where
              client.client_id = "webhook"."client_id"
              and client.account_id = "webhook"."account_id"
          ),
          ''
        ) || coalesce('-' || nullif("webhook"."expired_deliveries", 0), '') || '"' = any ($11::text[])
      )
    returning
      "webhook"."webhook_id",
      "webhook"."account_id",
      '"' || "new"."version" || '-' || to_hex("new"."stamp") || coalesce(
        '-' || (
          select
            case
              when client.disabled_at is not null then 'client_disabled'
              when not client.scopes && array['menus:read', 'menus:write'] then 'scope_removed'
            end
          from
            client
          where
            client.client_id = "new"."client_id"
            and client.account_id = "new"."account_id"
        ),
        ''
      ) || coalesce('-' || nullif("new"."expired_deliveries", 0), '') || '"' as "etag",
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
              "new"."client_id" as "client_id",
              (
                "new"."enabled"
                and (
                  select
                    case
                      when client.disabled_at is not null then 'client_disabled'
                      when not client.scopes && array['menus:read', 'menus:write'] then 'scope_removed'
                    end
                  from
                    client
                  where
                    client.client_id = "new"."client_id"
                    and client.account_id = "new"."account_id"
                ) is null
              ) as "enabled",
              coalesce(
                (
                  select
                    case
                      when client.disabled_at is not null then 'client_disabled'
                      when not client.scopes && array['menus:read', 'menus:write'] then 'scope_removed'
                    end
                  from
                    client
                  where
                    client.client_id = "new"."client_id"
                    and client.account_id = "new"."account_id"
                ),
                "new"."disabled_reason"
              ) as "disabled_reason",
              to_char(
                coalesce(
                  (
                    select
                      client.disabled_at
                    from
                      client
                    where
                      client.client_id = "new"."client_id"
                      and client.account_id = "new"."account_id"
                  ),
                  "new"."disabled_at"
                ) at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ) as "disabled_at",
              case
                when "new"."expired_deliveries" > 0 then (
                  select
                    to_json(fields)
                  from
                    (
                      select
                        "new"."expired_deliveries" as "count",
                        to_char("new"."first_expired_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "first_at",
                        to_char("new"."last_expired_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "last_at"
                    ) as fields
                )
              end as "expired_deliveries",
              to_char("new"."created_at" at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "created",
              to_char("new"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updated_at",
              "new"."version" as "version"
          ) as fields
      ) as "resource"
  ),
  "noted" as (
    update "endpoint_due"
    set
      "look_at" = now()
    from
      "changed"
    where
      "endpoint_due"."webhook_id" = "changed"."webhook_id"
      and "endpoint_due"."account_id" = "changed"."account_id"
  )
select
  "etag",
  "resource"
from
  "changed";
