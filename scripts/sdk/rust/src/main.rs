//! Calls the service through the generated client.

use std::env::var;
use std::error::Error;
use std::thread::sleep;
use std::time::Duration;

use menus::apis::authentication_api::{get_current_client, issue_token, revoke_token};
use menus::apis::configuration::Configuration;
use menus::apis::items_api::{
    create_item, get_item, get_item_by_id, list_items, price_selection, search_items, set_location_availability, toggle_item,
    update_item,
};
use menus::apis::locations_api::list_locations;
use menus::apis::menus_api::{get_availability, get_menu, list_menus, update_menu};
use menus::apis::modifiers_api::{
    create_modifier_group, set_item_modifier_groups, set_modifier_modifier_groups, toggle_modifier,
};
use menus::apis::webhooks_api::create_webhook;
use menus::apis::Error as ApiError;
use menus::models::{
    AvailabilityChange, Error as Problem, EventTypeFilter, Hours, HoursInput, HoursOfDate, Item, ItemAvailability,
    ItemCreate, ItemHoursInput, ItemSelection, ItemToggledEvent, ItemUpdate, ItemUpdatedEvent, LocationAvailabilityUpdate, MenuList, MenuUpdate,
    ModifierCreate, ModifierGroup, ModifierGroupCreate, ModifierGroupUseInput, ModifierGroupUsesUpdate, ModifierSelection, WebhookCreate,
    Weekday, WeeklyWindow,
};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

fn main() -> Outcome {
    let mut api = Configuration {
        base_path: var("API_URL")?,
        ..Configuration::default()
    };
    api.oauth_access_token = Some(get_token(&api)?);
    read_client(&api)?;
    let location_id = read_location(&api)?;
    let item = first_item(&api)?;
    change_price(&api, &item)?;
    toggle_twice(&api, &item)?;
    clear_photo(&api, &item)?;
    let sushi = write_item(&api, &item)?;
    read_missing_item(&api, &item)?;
    send_faulty_change(&api, &item)?;
    read_pages(&api, &item)?;
    find_items(&api, &item, &sushi)?;
    set_availability(&api, location_id)?;
    let (extras, size) = offer_modifiers(&api, location_id, &sushi)?;
    set_hours(&api, &sushi)?;
    price_selections(&api, &sushi, &extras, &size)?;
    read_availability(&api, &item, &sushi)?;
    read_changes(&api)?;
    read_events(&api)?;
    register_webhook(&api)?;
    end_token(&api)
}

fn get_token(api: &Configuration) -> Outcome<String> {
    let (id, secret) = (var("CLIENT_ID")?, var("CLIENT_SECRET")?);
    let token = issue_token(api, "client_credentials", None, Some(&id), Some(&secret))?;
    println!("token {} for {} s", text(&token.token_type)?, token.expires_in);
    Ok(token.access_token)
}

fn read_client(api: &Configuration) -> Outcome {
    let client = get_current_client(api)?.data;
    let locations = client.location_ids.map_or("null".into(), |ids| format!("{ids:?}"));
    println!("client {} scopes {} locations {locations}", client.client_id, texts(&client.scopes)?);
    Ok(())
}

fn read_location(api: &Configuration) -> Outcome<i64> {
    let locations = list_locations(api, None, None, None, None)?.data;
    let location = &locations[0];
    let address = location.address.as_ref().map_or("null", |address| &address.line1);
    println!("location {} {} address {address}", location.location_id, location.name);
    Ok(location.location_id)
}

fn first_item(api: &Configuration) -> Outcome<Item> {
    let menus = list_menus(api, None, None, None, None, None, None)?.data;
    println!("menus {} first {}", menus.len(), menus[0].name);
    let menu = get_menu(api, menus[0].menu_id, None)?.data;
    let items: Vec<&Item> = menu.categories.iter().flat_map(|category| &category.items).collect();
    println!("menu {} categories {} items {}", menu.menu_id, menu.categories.len(), items.len());
    Ok(items[0].clone())
}

fn change_price(api: &Configuration, item: &Item) -> Outcome {
    let change = ItemUpdate { price: Some(12.5), ..ItemUpdate::new() };
    let item = update_item(api, item.menu_id, item.item_id, change, None)?.data;
    println!("updated item {} price {:.2} version {}", item.item_id, item.price, item.version);
    Ok(())
}

fn toggle_twice(api: &Configuration, item: &Item) -> Outcome {
    let key = format!("{:?}", std::time::SystemTime::now());
    let toggle = || toggle_item(api, item.menu_id, item.item_id, None, Some(&key));
    let (first, again) = (toggle()?.data, toggle()?.data);
    let replayed = if first == again { "same" } else { "different" };
    println!(
        "toggled item {} available {} version {} replayed {replayed}",
        first.item_id, first.is_available, first.version
    );
    Ok(())
}

fn clear_photo(api: &Configuration, item: &Item) -> Outcome {
    let change = ItemUpdate { photo_url: Some(None), ..ItemUpdate::new() };
    let item = update_item(api, item.menu_id, item.item_id, change, None)?.data;
    let photo = item.photo_url.as_deref().unwrap_or("null");
    println!("cleared item {} photo {photo} version {}", item.item_id, item.version);
    Ok(())
}

fn write_item(api: &Configuration, beside: &Item) -> Outcome<Item> {
    let mut wanted = ItemCreate::new(beside.category_id, "🍣 𠮷".into(), 0.07);
    wanted.external_id = Some(Some("SUSHI-1".into()));
    wanted.unavailable_until = Some(Some("2030-01-02T02:00:00Z".parse()?));
    let item = create_item(api, beside.menu_id, wanted, None)?.data;
    let until = item.unavailable_until.map_or(0, |until| until.timestamp());
    println!("wrote item {} {} price {:.2} until {until}", item.item_id, item.name, item.price);
    let change = ItemUpdate { price: Some(4.35), ..ItemUpdate::new() };
    let item = update_item(api, item.menu_id, item.item_id, change, None)?.data;
    println!("raised item {} price {:.2} version {}", item.item_id, item.price, item.version);
    Ok(*item)
}

fn read_missing_item(api: &Configuration, item: &Item) -> Outcome {
    let problem = problem_of(get_item(api, item.menu_id, 999_999_999, None))?;
    println!("{} {} {}", problem.status, problem.code, problem.title);
    Ok(())
}

fn send_faulty_change(api: &Configuration, item: &Item) -> Outcome {
    let faulty = ItemUpdate { name: Some(String::new()), price: Some(-1.0), ..ItemUpdate::new() };
    let problem = problem_of(update_item(api, item.menu_id, item.item_id, faulty, None))?;
    let faults: Vec<String> = problem
        .errors
        .flatten()
        .unwrap_or_default()
        .iter()
        .map(|fault| format!("{} {}", fault.field, fault.code))
        .collect();
    println!("{} {} {}", problem.status, problem.code, faults.join(", "));
    Ok(())
}

fn read_pages(api: &Configuration, item: &Item) -> Outcome {
    let (mut pages, mut items, mut cursor) = (0, 0, None::<String>);
    loop {
        let page = list_items(
            api, item.menu_id, None, None, None, None, None, None, None, Some(20), cursor.as_deref(), None,
        )?;
        pages += 1;
        items += page.data.len();
        cursor = page.next_cursor;
        if cursor.is_none() {
            println!("pages {pages} items {items}");
            return Ok(());
        }
    }
}

fn find_items(api: &Configuration, item: &Item, sushi: &Item) -> Outcome {
    let wanted = [item, sushi].iter().filter_map(|item| item.external_id.clone()).collect();
    let found = search_items(api, None, Some(wanted), None, None, None, None, None, None)?.data;
    let ids: Vec<String> = found.iter().map(|item| item.item_id.to_string()).collect();
    println!("found items {}", ids.join(", "));
    let item = get_item_by_id(api, sushi.item_id, None)?.data;
    println!("item {} external {} menu {}", item.item_id, item.external_id.unwrap_or_default(), item.menu_id);
    Ok(())
}

fn set_availability(api: &Configuration, location_id: i64) -> Outcome {
    let rows = [("SUSHI-1", true), ("SUSHI-2", false)].map(|(external_id, is_available)| AvailabilityChange {
        external_id: Some(external_id.into()),
        ..AvailabilityChange::new(is_available)
    });
    let update = LocationAvailabilityUpdate::new(rows.into());
    let mut said = Vec::new();
    for row in set_location_availability(api, location_id, update, None)?.data {
        let result = text(&row.result)?;
        said.push(match row.item {
            Some(item) => format!("{} {result} available {}", item.item_id, item.is_available),
            None => format!("{} {result}", row.external_id.unwrap_or_default()),
        });
    }
    println!("set {}", said.join(", "));
    Ok(())
}

fn offer_modifiers(
    api: &Configuration,
    location_id: i64,
    item: &Item,
) -> Outcome<(ModifierGroup, ModifierGroup)> {
    let modifier = |name: &str, price| ModifierCreate { price: Some(price), ..ModifierCreate::new(name.into()) };
    let extras = ModifierGroupCreate {
        modifiers: Some(vec![modifier("Egg", 0.07)]),
        ..ModifierGroupCreate::new("Extras".into())
    };
    let extras = create_group(api, location_id, extras)?;
    let size = ModifierGroupCreate {
        min_selections: Some(1),
        max_selections: Some(Some(1)),
        modifiers: Some(vec![modifier("Small", 0.0), modifier("Large", 1.5)]),
        ..ModifierGroupCreate::new("Size".into())
    };
    let size = create_group(api, location_id, size)?;
    let group_id = size.modifier_group_id;
    let (small, large) = (&size.modifiers[0], &size.modifiers[1]);
    let modifier =
        set_modifier_modifier_groups(api, location_id, group_id, large.modifier_id, uses_of(&extras), None)?.data;
    println!("modifier {} offers group {}", modifier.modifier_id, modifier.modifier_groups[0].modifier_group_id);
    let item = set_item_modifier_groups(api, item.menu_id, item.item_id, uses_of(&size), None)?.data;
    let offered = item.modifier_groups[0].modifier_group_id;
    println!("item {} offers group {offered} version {}", item.item_id, item.version);
    let toggled = toggle_modifier(api, location_id, group_id, small.modifier_id, None, None)?.data;
    println!(
        "toggled modifier {} available {} version {}",
        toggled.modifier_id, toggled.is_available, toggled.version
    );
    Ok((extras, size))
}

fn create_group(api: &Configuration, location_id: i64, wanted: ModifierGroupCreate) -> Outcome<ModifierGroup> {
    let group = create_modifier_group(api, location_id, wanted, None)?.data;
    let most = group.max_selections.map_or("null".into(), |most| most.to_string());
    let modifiers: Vec<String> =
        group.modifiers.iter().map(|modifier| format!("{} {:.2}", modifier.name, modifier.price)).collect();
    println!(
        "group {} {} min {} max {most}: {}",
        group.modifier_group_id,
        group.name,
        group.min_selections,
        modifiers.join(", ")
    );
    Ok(*group)
}

fn uses_of(group: &ModifierGroup) -> ModifierGroupUsesUpdate {
    ModifierGroupUsesUpdate::new(vec![ModifierGroupUseInput::new(group.modifier_group_id)])
}

fn price_selections(api: &Configuration, item: &Item, extras: &ModifierGroup, size: &ModifierGroup) -> Outcome {
    let [egg, small, large] = [&extras.modifiers[0], &size.modifiers[0], &size.modifiers[1]]
        .map(|modifier| ModifierSelection::new(modifier.modifier_id));
    let with_egg = ModifierSelection { selections: Some(vec![egg]), ..large };
    let two = ItemSelection { quantity: Some(2), selections: Some(vec![with_egg]), ..ItemSelection::new() };
    let one = ItemSelection { selections: Some(vec![small]), ..ItemSelection::new() };
    for selection in [two, one] {
        let selection = ItemSelection { at: Some("2030-01-05T23:30".into()), ..selection };
        let price = price_selection(api, item.menu_id, item.item_id, selection)?.data;
        let lines = price.lines.iter().map(|line| format!("{} {} {:.2}", line.pointer, line.name, line.total_price));
        let problems = price.problems.iter().map(|problem| format!("{} {}", problem.pointer, problem.code));
        let said: Vec<String> = lines.chain(problems).collect();
        println!(
            "price of item {} {:.2} total {:.2} {} orderable {}: {}",
            price.item_id,
            price.unit_price,
            price.total_price,
            price.currency,
            price.is_orderable,
            said.join(", ")
        );
    }
    Ok(())
}

fn set_hours(api: &Configuration, item: &Item) -> Outcome {
    let nights = WeeklyWindow::new(vec![Weekday::Fri, Weekday::Sat], "22:00".into(), 240);
    let hours = HoursInput {
        dates: Some(vec![HoursOfDate::new("2030-01-04".into(), vec![])]),
        ..HoursInput::new(vec![nights])
    };
    let change = MenuUpdate { hours: Some(Some(Box::new(hours))), ..MenuUpdate::new() };
    let menu = update_menu(api, item.menu_id, change, None)?.data;
    let hours = menu.hours.ok_or("the menu has no hours")?;
    let closed: Vec<&str> =
        hours.dates.iter().filter(|date| date.windows.is_empty()).map(|date| date.date.as_str()).collect();
    println!("hours of menu {} {}, {} closed", menu.menu_id, first_window(&hours)?, closed.join(","));
    let late = WeeklyWindow::new(vec![Weekday::Sat], "23:00".into(), 60);
    let hours = ItemHoursInput::new(vec![late]);
    let change = ItemUpdate { hours: Some(Some(Box::new(hours))), ..ItemUpdate::new() };
    let item = update_item(api, item.menu_id, item.item_id, change, None)?.data;
    let hours = item.hours.ok_or("the item has no hours")?;
    println!("hours of item {} {}", item.item_id, first_window(&hours)?);
    Ok(())
}

fn first_window(hours: &Hours) -> Outcome<String> {
    let window = &hours.weekly[0];
    Ok(format!("{} {} for {} min", texts(&window.days)?, window.from, window.minutes))
}

fn read_availability(api: &Configuration, item: &Item, sushi: &Item) -> Outcome {
    let availability = get_availability(api, item.menu_id, Some("2030-01-05T22:30"), None)?.data;
    let of = |wanted: &Item| availability.items.iter().find(|one| one.item_id == wanted.item_id).ok_or("no such item");
    let (off, late) = (of(item)?, of(sushi)?);
    println!(
        "orderable menu {} {}, item {} {} by {}, item {} {} until {}",
        availability.menu_id,
        availability.is_orderable,
        off.item_id,
        codes(off),
        off.reasons[0].unavailable_by.clone().flatten().unwrap_or_default(),
        late.item_id,
        codes(late),
        late.next_change_at.map_or(0, |next| next.timestamp())
    );
    Ok(())
}

fn codes(item: &ItemAvailability) -> String {
    let codes: Vec<&str> = item.reasons.iter().map(|reason| reason.code.as_str()).collect();
    codes.join("+")
}

fn read_changes(api: &Configuration) -> Outcome {
    let since = |year: i32| -> Outcome<usize> {
        // list_menus would send a time as `2020-01-01 00:00:00 +00:00`.
        let menus: MenuList = get(api, "/menus", &[("updated_since", format!("{year}-01-01T00:00:00Z"))])?;
        Ok(menus.data.len())
    };
    println!("changed menus {} since 2020, {} since 2099", since(2020)?, since(2099)?);
    Ok(())
}

fn read_events(api: &Configuration) -> Outcome {
    let kinds = [EventTypeFilter::ItemUpdated, EventTypeFilter::ItemToggled];
    let events = eventually(|| {
        let events = list_events(api, &kinds.map(|kind| ("type", kind.to_string())))?;
        Ok(Some(events).filter(|events| events.len() >= 7))
    })?;
    let said: Vec<String> = events
        .iter()
        .filter_map(|event| match event {
            Event::ItemUpdated(event) => {
                Some(format!("item.updated {} version {}", event.data.item_id, event.data.version))
            }
            Event::ItemToggled(event) => {
                Some(format!("item.toggled {} available {}", event.data.item_id, event.data.is_available))
            }
            Event::Other {} => None,
        })
        .collect();
    println!("events {}", said.join(", "));
    println!("feed {}", list_events(api, &[("limit", "200".into())])?.len());
    Ok(())
}

/// The events that the scenario tells apart. Each generated event takes its own `type` only. The generated
/// `WebhookPayload` takes that field out before it reads the event, and then misses it.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Event {
    ItemUpdated(ItemUpdatedEvent),
    ItemToggled(ItemToggledEvent),
    Other {},
}

#[derive(serde::Deserialize)]
struct Events {
    data: Vec<Event>,
}

fn list_events(api: &Configuration, query: &[(&str, String)]) -> Outcome<Vec<Event>> {
    let events: Events = get(api, "/events", query)?;
    Ok(events.data)
}

/// For what the generated client cannot ask for, or cannot read.
fn get<T: serde::de::DeserializeOwned>(api: &Configuration, path: &str, query: &[(&str, String)]) -> Outcome<T> {
    let token = api.oauth_access_token.as_deref().unwrap_or_default();
    let request = api.client.get(format!("{}{path}", api.base_path)).query(query).bearer_auth(token);
    Ok(request.send()?.error_for_status()?.json()?)
}

fn register_webhook(api: &Configuration) -> Outcome {
    let mut wanted = WebhookCreate::new(var("WEBHOOK_URL")?);
    wanted.event_types = Some(vec![EventTypeFilter::ItemStar, EventTypeFilter::MenuToggled]);
    let webhook = create_webhook(api, wanted, None)?.data;
    println!("webhook {} events {}", webhook.webhook_id, texts(&webhook.event_types)?);
    Ok(())
}

fn end_token(api: &Configuration) -> Outcome {
    let (id, secret) = (var("CLIENT_ID")?, var("CLIENT_SECRET")?);
    let token = api.oauth_access_token.as_deref().unwrap_or_default();
    revoke_token(api, token, None, Some(&id), Some(&secret))?;
    let problem = eventually(|| match get_current_client(api) {
        Ok(_) => Ok(None),
        refused => problem_of(refused).map(Some),
    })?;
    println!("revoked {} {}", problem.status, problem.code);
    Ok(())
}

/// Repeats a call until it gives something: events and revocations take a moment.
fn eventually<T>(call: impl Fn() -> Outcome<Option<T>>) -> Outcome<T> {
    for _ in 0..200 {
        if let Some(found) = call()? {
            return Ok(found);
        }
        sleep(Duration::from_millis(50));
    }
    Err("the answer is not as wanted after ten seconds".into())
}

/// The client keeps what it received as text; serde reads the type.
fn problem_of<T, E>(result: Result<T, ApiError<E>>) -> Outcome<Problem> {
    match result {
        Err(ApiError::ResponseError(refused)) => Ok(serde_json::from_str(&refused.content)?),
        Err(other) => Err(other.to_string().into()),
        Ok(_) => Err("the call was accepted".into()),
    }
}

/// An enumeration as the service writes it.
fn text(value: &impl serde::Serialize) -> Outcome<String> {
    Ok(serde_json::to_value(value)?.as_str().unwrap_or_default().to_owned())
}

fn texts(values: &[impl serde::Serialize]) -> Outcome<String> {
    Ok(values.iter().map(text).collect::<Outcome<Vec<_>>>()?.join(","))
}
