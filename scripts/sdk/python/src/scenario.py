import os
import time
from collections.abc import Callable
from datetime import datetime, timezone
from http import HTTPStatus
from typing import TypeVar
from uuid import uuid4

from menu_management import AuthenticatedClient, Client
from menu_management.api.authentication import get_current_client, issue_token, revoke_token
from menu_management.api.events import list_events
from menu_management.api.items import (
    create_item,
    get_item,
    get_item_by_id,
    list_items,
    price_selection,
    search_items,
    set_location_availability,
    toggle_item,
    update_item,
)
from menu_management.api.locations import list_locations
from menu_management.api.menus import get_availability, get_menu, list_menus, update_menu
from menu_management.api.modifiers import (
    create_modifier_group,
    set_item_modifier_groups,
    set_modifier_modifier_groups,
    toggle_modifier,
)
from menu_management.api.webhooks import create_webhook
from menu_management.models.availability_change import AvailabilityChange
from menu_management.models.current_client_response import CurrentClientResponse
from menu_management.models.error import Error
from menu_management.models.event_list import EventList
from menu_management.models.event_type_filter import EventTypeFilter
from menu_management.models.hours import Hours
from menu_management.models.hours_input import HoursInput
from menu_management.models.hours_of_date import HoursOfDate
from menu_management.models.item import Item
from menu_management.models.item_availability import ItemAvailability
from menu_management.models.item_create import ItemCreate
from menu_management.models.item_hours_input import ItemHoursInput
from menu_management.models.item_list import ItemList
from menu_management.models.item_price_response import ItemPriceResponse
from menu_management.models.item_response import ItemResponse
from menu_management.models.item_selection import ItemSelection
from menu_management.models.item_toggled_event import ItemToggledEvent
from menu_management.models.item_update import ItemUpdate
from menu_management.models.item_updated_event import ItemUpdatedEvent
from menu_management.models.location import Location
from menu_management.models.location_availability_response import LocationAvailabilityResponse
from menu_management.models.location_availability_update import LocationAvailabilityUpdate
from menu_management.models.location_list import LocationList
from menu_management.models.menu_availability_response import MenuAvailabilityResponse
from menu_management.models.menu_detail import MenuDetail
from menu_management.models.menu_detail_response import MenuDetailResponse
from menu_management.models.menu_list import MenuList
from menu_management.models.menu_response import MenuResponse
from menu_management.models.menu_update import MenuUpdate
from menu_management.models.modifier_create import ModifierCreate
from menu_management.models.modifier_group import ModifierGroup
from menu_management.models.modifier_group_create import ModifierGroupCreate
from menu_management.models.modifier_group_response import ModifierGroupResponse
from menu_management.models.modifier_group_use_input import ModifierGroupUseInput
from menu_management.models.modifier_group_uses_update import ModifierGroupUsesUpdate
from menu_management.models.modifier_response import ModifierResponse
from menu_management.models.modifier_selection import ModifierSelection
from menu_management.models.token_request import TokenRequest
from menu_management.models.token_response import TokenResponse
from menu_management.models.token_revocation import TokenRevocation
from menu_management.models.webhook_create import WebhookCreate
from menu_management.models.webhook_with_secret_response import WebhookWithSecretResponse
from menu_management.models.weekday import Weekday
from menu_management.models.weekly_window import WeeklyWindow
from menu_management.types import UNSET, Unset

Answer = TypeVar("Answer")


def main() -> None:
    base_url = os.environ["API_URL"]
    with AuthenticatedClient(base_url=base_url, token=get_token(base_url)) as client:
        read_client(client)
        location = read_location(client)
        menu = first_menu(client)
        item = menu.categories[0].items[0]
        change_price(client, item)
        toggle_twice(client, item)
        clear_photo(client, item)
        sushi = write_item(client, item)
        read_missing_item(client, menu)
        send_faulty_change(client, item)
        read_pages(client, menu)
        find_items(client, item, sushi)
        set_availability(client, location)
        extras, size = offer_modifiers(client, location, sushi)
        set_hours(client, sushi)
        price_selections(client, sushi, extras, size)
        read_availability(client, item, sushi)
        read_changes(client)
        read_events(client)
        register_webhook(client)
        end_token(client)


def get_token(base_url: str) -> str:
    request = TokenRequest(
        grant_type="client_credentials",
        client_id=os.environ["CLIENT_ID"],
        client_secret=os.environ["CLIENT_SECRET"],
    )
    with Client(base_url=base_url) as client:
        token = given(TokenResponse, issue_token.sync(client=client, body=request))
    print(f"token {token.token_type} for {token.expires_in} s")
    return token.access_token


def read_client(client: AuthenticatedClient) -> None:
    current = given(CurrentClientResponse, get_current_client.sync(client=client)).data
    locations = current.location_ids or "null"
    print(f"client {current.client_id} scopes {','.join(current.scopes)} locations {locations}")


def read_location(client: AuthenticatedClient) -> Location:
    location = given(LocationList, list_locations.sync(client=client)).data[0]
    address = "null" if location.address is None else location.address.line1
    print(f"location {location.location_id} {location.name} address {address}")
    return location


def first_menu(client: AuthenticatedClient) -> MenuDetail:
    menus = given(MenuList, list_menus.sync(client=client)).data
    print(f"menus {len(menus)} first {menus[0].name}")
    menu = given(MenuDetailResponse, get_menu.sync(menus[0].menu_id, client=client)).data
    items = sum(len(category.items) for category in menu.categories)
    print(f"menu {menu.menu_id} categories {len(menu.categories)} items {items}")
    return menu


def change_price(client: AuthenticatedClient, item: Item) -> None:
    change = ItemUpdate(price=12.5)
    answer = update_item.sync(item.menu_id, item.item_id, client=client, body=change)
    item = given(ItemResponse, answer).data
    print(f"updated item {item.item_id} price {item.price:.2f} version {item.version}")


def toggle_twice(client: AuthenticatedClient, item: Item) -> None:
    key = str(uuid4())
    first, again = (
        given(
            ItemResponse,
            toggle_item.sync(item.menu_id, item.item_id, client=client, idempotency_key=key),
        ).data
        for _ in range(2)
    )
    available = str(first.is_available).lower()
    replayed = "same" if first == again else "different"
    print(f"toggled item {first.item_id} available {available} version {first.version} replayed {replayed}")


def clear_photo(client: AuthenticatedClient, item: Item) -> None:
    change = ItemUpdate(photo_url=None)
    answer = update_item.sync(item.menu_id, item.item_id, client=client, body=change)
    item = given(ItemResponse, answer).data
    print(f"cleared item {item.item_id} photo {item.photo_url or 'null'} version {item.version}")


def write_item(client: AuthenticatedClient, beside: Item) -> Item:
    wanted = ItemCreate(
        category_id=beside.category_id,
        name="🍣 𠮷",
        price=0.07,
        external_id="SUSHI-1",
        unavailable_until=datetime(2030, 1, 2, 2, tzinfo=timezone.utc),
    )
    item = given(ItemResponse, create_item.sync(beside.menu_id, client=client, body=wanted)).data
    until = item.unavailable_until.timestamp() if item.unavailable_until else 0
    print(f"wrote item {item.item_id} {item.name} price {item.price:.2f} until {until:.0f}")
    change = ItemUpdate(price=4.35)
    item = given(ItemResponse, update_item.sync(item.menu_id, item.item_id, client=client, body=change)).data
    print(f"raised item {item.item_id} price {item.price:.2f} version {item.version}")
    return item


def read_missing_item(client: AuthenticatedClient, menu: MenuDetail) -> None:
    error = given(Error, get_item.sync(menu.menu_id, 999_999_999, client=client))
    print(f"{error.status} {error.code} {error.title}")


def send_faulty_change(client: AuthenticatedClient, item: Item) -> None:
    change = ItemUpdate(name="", price=-1)
    error = given(Error, update_item.sync(item.menu_id, item.item_id, client=client, body=change))
    faults = [] if isinstance(error.errors, Unset) else error.errors
    print(f"{error.status} {error.code} {', '.join(f'{fault.field} {fault.code}' for fault in faults)}")


def read_pages(client: AuthenticatedClient, menu: MenuDetail) -> None:
    pages = items = 0
    cursor: str | None | Unset = UNSET
    while cursor is not None:
        page = given(ItemList, list_items.sync(menu.menu_id, client=client, limit=20, cursor=cursor))
        pages += 1
        items += len(page.data)
        cursor = page.next_cursor
    print(f"pages {pages} items {items}")


def find_items(client: AuthenticatedClient, *wanted: Item) -> None:
    external_ids = [item.external_id for item in wanted if item.external_id]
    found = given(ItemList, search_items.sync(client=client, external_id=external_ids)).data
    print(f"found items {', '.join(str(item.item_id) for item in found)}")
    item = given(ItemResponse, get_item_by_id.sync(wanted[-1].item_id, client=client)).data
    print(f"item {item.item_id} external {item.external_id} menu {item.menu_id}")


def set_availability(client: AuthenticatedClient, location: Location) -> None:
    update = LocationAvailabilityUpdate(
        items=[
            AvailabilityChange(external_id="SUSHI-1", is_available=True),
            AvailabilityChange(external_id="SUSHI-2", is_available=False),
        ]
    )
    answer = set_location_availability.sync(location.location_id, client=client, body=update)
    said = [
        f"{row.item.item_id} {row.result} available {str(row.item.is_available).lower()}"
        if row.item
        else f"{row.external_id} {row.result}"
        for row in given(LocationAvailabilityResponse, answer).data
    ]
    print(f"set {', '.join(said)}")


def offer_modifiers(
    client: AuthenticatedClient, location: Location, item: Item
) -> tuple[ModifierGroup, ModifierGroup]:
    extras = create_group(
        client, location, ModifierGroupCreate(name="Extras", modifiers=[ModifierCreate(name="Egg", price=0.07)])
    )
    sizes = [ModifierCreate(name="Small", price=0), ModifierCreate(name="Large", price=1.5)]
    size = create_group(
        client,
        location,
        ModifierGroupCreate(name="Size", min_selections=1, max_selections=1, modifiers=sizes),
    )
    small, large = size.modifiers
    modifier = given(
        ModifierResponse,
        set_modifier_modifier_groups.sync(
            location.location_id,
            size.modifier_group_id,
            large.modifier_id,
            client=client,
            body=uses_of(extras),
        ),
    ).data
    print(f"modifier {modifier.modifier_id} offers group {modifier.modifier_groups[0].modifier_group_id}")
    answer = set_item_modifier_groups.sync(item.menu_id, item.item_id, client=client, body=uses_of(size))
    item = given(ItemResponse, answer).data
    group_id = item.modifier_groups[0].modifier_group_id
    print(f"item {item.item_id} offers group {group_id} version {item.version}")
    modifier = given(
        ModifierResponse,
        toggle_modifier.sync(location.location_id, size.modifier_group_id, small.modifier_id, client=client),
    ).data
    available = str(modifier.is_available).lower()
    print(f"toggled modifier {modifier.modifier_id} available {available} version {modifier.version}")
    return extras, size


def create_group(
    client: AuthenticatedClient, location: Location, wanted: ModifierGroupCreate
) -> ModifierGroup:
    answer = create_modifier_group.sync(location.location_id, client=client, body=wanted)
    group = given(ModifierGroupResponse, answer).data
    bounds = f"min {group.min_selections} max {group.max_selections or 'null'}"
    modifiers = ", ".join(f"{modifier.name} {modifier.price:.2f}" for modifier in group.modifiers)
    print(f"group {group.modifier_group_id} {group.name} {bounds}: {modifiers}")
    return group


def uses_of(group: ModifierGroup) -> ModifierGroupUsesUpdate:
    return ModifierGroupUsesUpdate(
        modifier_groups=[ModifierGroupUseInput(modifier_group_id=group.modifier_group_id)]
    )


def price_selections(
    client: AuthenticatedClient, item: Item, extras: ModifierGroup, size: ModifierGroup
) -> None:
    small, large = size.modifiers
    egg = ModifierSelection(modifier_id=extras.modifiers[0].modifier_id)
    with_egg = ModifierSelection(modifier_id=large.modifier_id, selections=[egg])
    for selection in (
        ItemSelection(quantity=2, selections=[with_egg], at="2030-01-05T23:30"),
        ItemSelection(selections=[ModifierSelection(modifier_id=small.modifier_id)], at="2030-01-05T23:30"),
    ):
        answer = price_selection.sync(item.menu_id, item.item_id, client=client, body=selection)
        price = given(ItemPriceResponse, answer).data
        said = [f"{line.pointer} {line.name} {line.total_price:.2f}" for line in price.lines]
        said += [f"{problem.pointer} {problem.code}" for problem in price.problems]
        print(
            f"price of item {price.item_id} {price.unit_price:.2f} total {price.total_price:.2f} {price.currency} "
            f"orderable {str(price.is_orderable).lower()}: {', '.join(said)}"
        )


def set_hours(client: AuthenticatedClient, item: Item) -> None:
    nights = WeeklyWindow(days=[Weekday.FRI, Weekday.SAT], from_="22:00", minutes=240)
    wanted = HoursInput(weekly=[nights], dates=[HoursOfDate(date="2030-01-04", windows=[])])
    menu = given(
        MenuResponse, update_menu.sync(item.menu_id, client=client, body=MenuUpdate(hours=wanted))
    ).data
    closed = [date.date for date in menu.hours.dates if not date.windows] if menu.hours else []
    print(f"hours of menu {menu.menu_id} {first_window(menu.hours)}, {','.join(closed)} closed")
    late = ItemHoursInput(weekly=[WeeklyWindow(days=[Weekday.SAT], from_="23:00", minutes=60)])
    answer = update_item.sync(item.menu_id, item.item_id, client=client, body=ItemUpdate(hours=late))
    item = given(ItemResponse, answer).data
    print(f"hours of item {item.item_id} {first_window(item.hours)}")


def first_window(hours: Hours | None) -> str:
    if hours is None:
        return "none"
    window = hours.weekly[0]
    return f"{','.join(window.days)} {window.from_} for {window.minutes} min"


def read_availability(client: AuthenticatedClient, *wanted: Item) -> None:
    answer = get_availability.sync(wanted[0].menu_id, client=client, at="2030-01-05T22:30")
    availability = given(MenuAvailabilityResponse, answer).data
    items = {item.item_id: item for item in availability.items}
    off, late = (items[item.item_id] for item in wanted)
    until = late.next_change_at.timestamp() if late.next_change_at else 0
    print(
        f"orderable menu {availability.menu_id} {str(availability.is_orderable).lower()}, "
        f"item {off.item_id} {codes(off)} by {off.reasons[0].unavailable_by}, "
        f"item {late.item_id} {codes(late)} until {until:.0f}"
    )


def codes(item: ItemAvailability) -> str:
    return "+".join(reason.code for reason in item.reasons)


def read_changes(client: AuthenticatedClient) -> None:
    changed, later = (
        len(
            given(
                MenuList,
                list_menus.sync(client=client, updated_since=datetime(year, 1, 1, tzinfo=timezone.utc)),
            ).data
        )
        for year in (2020, 2099)
    )
    print(f"changed menus {changed} since 2020, {later} since 2099")


def read_events(client: AuthenticatedClient) -> None:
    wanted = [EventTypeFilter.ITEM_UPDATED, EventTypeFilter.ITEM_TOGGLED]
    events = eventually(
        lambda: given(EventList, list_events.sync(client=client, type_=wanted)).data,
        lambda events: len(events) >= 7,
    )
    said = []
    for event in events:
        match event:
            case ItemUpdatedEvent(data=item):
                said.append(f"{event.type_} {item.item_id} version {item.version}")
            case ItemToggledEvent(data=item):
                said.append(f"{event.type_} {item.item_id} available {str(item.is_available).lower()}")
    print(f"events {', '.join(said)}")
    feed = given(EventList, list_events.sync(client=client, limit=200)).data
    print(f"feed {len(feed)}")


def register_webhook(client: AuthenticatedClient) -> None:
    wanted = WebhookCreate(
        url=os.environ["WEBHOOK_URL"],
        event_types=[EventTypeFilter.ITEM, EventTypeFilter.MENU_TOGGLED],
    )
    webhook = given(WebhookWithSecretResponse, create_webhook.sync(client=client, body=wanted)).data
    print(f"webhook {webhook.webhook_id} events {','.join(webhook.event_types)}")


def end_token(client: AuthenticatedClient) -> None:
    revocation = TokenRevocation(
        token=client.token,
        client_id=os.environ["CLIENT_ID"],
        client_secret=os.environ["CLIENT_SECRET"],
    )
    with Client(base_url=os.environ["API_URL"]) as plain:
        revoke_token.sync_detailed(client=plain, body=revocation)
    refused = eventually(
        lambda: get_current_client.sync_detailed(client=client),
        lambda answer: answer.status_code == HTTPStatus.UNAUTHORIZED,
    )
    error = given(Error, refused.parsed)
    print(f"revoked {error.status} {error.code}")


def eventually(call: Callable[[], Answer], wanted: Callable[[Answer], bool]) -> Answer:
    """Repeats a call until its answer is as wanted: events and revocations take a moment."""
    for _ in range(200):
        answer = call()
        if wanted(answer):
            return answer
        time.sleep(0.05)
    raise RuntimeError("the answer is not as wanted after ten seconds")


def given(wanted: type[Answer], answer: object) -> Answer:
    """The answer, when it is the one that is wanted."""
    if isinstance(answer, wanted):
        return answer
    raise RuntimeError(f"no {wanted.__name__} but {answer}")


main()
