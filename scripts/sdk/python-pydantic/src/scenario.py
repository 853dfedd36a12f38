import os
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TypeVar
from uuid import uuid4

import httpx
from menus import (
    AvailabilityChange,
    CurrentClientResponse,
    Error,
    EventList,
    EventTypeFilter,
    Hours,
    HoursInput,
    HoursOfDate,
    Item,
    ItemAvailability,
    ItemCreate,
    ItemHoursInput,
    ItemList,
    ItemPriceResponse,
    ItemResponse,
    ItemSelection,
    ItemToggledEvent,
    ItemUpdate,
    ItemUpdatedEvent,
    Location,
    LocationAvailabilityResponse,
    LocationAvailabilityUpdate,
    LocationList,
    MenuAvailabilityResponse,
    MenuDetail,
    MenuDetailResponse,
    MenuList,
    MenuResponse,
    MenuUpdate,
    ModifierCreate,
    ModifierGroup,
    ModifierGroupCreate,
    ModifierGroupResponse,
    ModifierGroupUseInput,
    ModifierGroupUsesUpdate,
    ModifierResponse,
    ModifierSelection,
    TokenRequest,
    TokenResponse,
    TokenRevocation,
    WebhookCreate,
    WebhookWithSecretResponse,
    Weekday,
    WeeklyWindow,
)
from pydantic import BaseModel

Answer = TypeVar("Answer")
Response = TypeVar("Response", bound=BaseModel)


class Scenario:
    """Calls the service with httpx; the generated models check what is sent and received."""

    def __init__(self, http: httpx.Client) -> None:
        self.http = http
        self.token = self.get_token()
        self.http.headers["Authorization"] = f"Bearer {self.token}"
        self.read_client()
        self.location = self.read_location()
        self.menu = self.first_menu()
        self.item = self.menu.categories[0].items[0]
        self.path = f"/menus/{self.menu.menu_id}/items/{self.item.item_id}"

    def run(self) -> None:
        self.change_price()
        self.toggle_twice()
        self.clear_photo()
        self.sushi = self.write_item()
        self.read_missing_item()
        self.send_faulty_change()
        self.read_pages()
        self.find_items()
        self.set_availability()
        self.offer_modifiers()
        self.set_hours()
        self.price_selections()
        self.read_availability()
        self.read_changes()
        self.read_events()
        self.register_webhook()
        self.revoke_token()

    def get_token(self) -> str:
        request = TokenRequest(grant_type="client_credentials")
        credentials = (os.environ["CLIENT_ID"], os.environ["CLIENT_SECRET"])
        form = request.model_dump(exclude_unset=True)
        response = self.http.post("/oauth/token", data=form, auth=credentials)
        token = TokenResponse.model_validate_json(response.content)
        print(f"token {token.token_type} for {token.expires_in} s")
        return token.access_token

    def read_client(self) -> None:
        client = self.get(CurrentClientResponse, "/oauth/client").data
        scopes = ",".join(scope.value for scope in client.scopes)
        print(f"client {client.client_id} scopes {scopes} locations {client.location_ids or 'null'}")

    def read_location(self) -> Location:
        location = self.get(LocationList, "/locations").data[0]
        address = "null" if location.address is None else location.address.line1
        print(f"location {location.location_id} {location.name} address {address}")
        return location

    def first_menu(self) -> MenuDetail:
        menus = self.get(MenuList, "/menus").data
        print(f"menus {len(menus)} first {menus[0].name}")
        menu = self.get(MenuDetailResponse, f"/menus/{menus[0].menu_id}").data
        items = sum(len(category.items) for category in menu.categories)
        print(f"menu {menu.menu_id} categories {len(menu.categories)} items {items}")
        return menu

    def change_price(self) -> None:
        item = self.send(ItemResponse, "PUT", self.path, ItemUpdate(price=12.5)).data
        print(f"updated item {item.item_id} price {item.price:.2f} version {item.version}")

    def toggle_twice(self) -> None:
        first, again = self.toggle(key := str(uuid4())), self.toggle(key)
        available = str(first.is_available).lower()
        replayed = "same" if first == again else "different"
        print(f"toggled item {first.item_id} available {available} version {first.version} replayed {replayed}")

    def toggle(self, key: str) -> Item:
        response = self.http.post(f"{self.path}/toggle", headers={"Idempotency-Key": key})
        return ItemResponse.model_validate_json(response.content).data

    def clear_photo(self) -> None:
        item = self.send(ItemResponse, "PUT", self.path, ItemUpdate(photo_url=None)).data
        print(f"cleared item {item.item_id} photo {item.photo_url or 'null'} version {item.version}")

    def write_item(self) -> Item:
        wanted = ItemCreate(
            category_id=self.item.category_id,
            name="🍣 𠮷",
            price=0.07,
            external_id="SUSHI-1",
            unavailable_until=datetime(2030, 1, 2, 2, tzinfo=UTC),
        )
        items = f"/menus/{self.menu.menu_id}/items"
        item = self.send(ItemResponse, "POST", items, wanted).data
        until = item.unavailable_until.timestamp() if item.unavailable_until else 0
        print(f"wrote item {item.item_id} {item.name} price {item.price:.2f} until {until:.0f}")
        item = self.send(ItemResponse, "PUT", f"{items}/{item.item_id}", ItemUpdate(price=4.35)).data
        print(f"raised item {item.item_id} price {item.price:.2f} version {item.version}")
        return item

    def read_missing_item(self) -> None:
        error = self.get(Error, f"/menus/{self.menu.menu_id}/items/999999999")
        print(f"{error.status} {error.code} {error.title}")

    def send_faulty_change(self) -> None:
        # ItemUpdate itself refuses both; this does not ask it.
        faulty = ItemUpdate.model_construct(name="", price=-1)
        error = self.send(Error, "PUT", self.path, faulty)
        faults = [f"{fault.field} {fault.code}" for fault in error.errors or []]
        print(f"{error.status} {error.code} {', '.join(faults)}")

    def read_pages(self) -> None:
        pages = items = 0
        cursor: str | None = ""
        while cursor is not None:
            query = {"limit": "20", **({"cursor": cursor} if cursor else {})}
            page = self.get(ItemList, f"/menus/{self.menu.menu_id}/items", query)
            pages += 1
            items += len(page.data)
            cursor = page.next_cursor
        print(f"pages {pages} items {items}")

    def find_items(self) -> None:
        external_ids = [item.external_id for item in (self.item, self.sushi) if item.external_id]
        found = self.get(ItemList, "/items", {"external_id": external_ids}).data
        print(f"found items {', '.join(str(item.item_id) for item in found)}")
        item = self.get(ItemResponse, f"/items/{self.sushi.item_id}").data
        print(f"item {item.item_id} external {item.external_id} menu {item.menu_id}")

    def set_availability(self) -> None:
        update = LocationAvailabilityUpdate(
            items=[
                AvailabilityChange(external_id="SUSHI-1", is_available=True),
                AvailabilityChange(external_id="SUSHI-2", is_available=False),
            ]
        )
        path = f"/locations/{self.location.location_id}/availability"
        said = [
            f"{row.item.item_id} {row.result.value} available {str(row.item.is_available).lower()}"
            if row.item
            else f"{row.external_id} {row.result.value}"
            for row in self.send(LocationAvailabilityResponse, "POST", path, update).data
        ]
        print(f"set {', '.join(said)}")

    def offer_modifiers(self) -> None:
        groups = f"/locations/{self.location.location_id}/modifier-groups"
        egg, small, large = (
            ModifierCreate(name=name, price=price)
            for name, price in (("Egg", 0.07), ("Small", 0), ("Large", 1.5))
        )
        extras = self.create_group(groups, ModifierGroupCreate(name="Extras", modifiers=[egg]))
        size = self.create_group(
            groups,
            ModifierGroupCreate(name="Size", min_selections=1, max_selections=1, modifiers=[small, large]),
        )
        self.egg, (self.small, self.large) = extras.modifiers[0], size.modifiers
        first, second = (
            f"{groups}/{size.modifier_group_id}/modifiers/{modifier.modifier_id}"
            for modifier in size.modifiers
        )
        modifier = self.send(ModifierResponse, "PUT", f"{second}/modifier-groups", uses_of(extras)).data
        print(f"modifier {modifier.modifier_id} offers group {modifier.modifier_groups[0].modifier_group_id}")
        path = f"/menus/{self.sushi.menu_id}/items/{self.sushi.item_id}/modifier-groups"
        item = self.send(ItemResponse, "PUT", path, uses_of(size)).data
        group_id = item.modifier_groups[0].modifier_group_id
        print(f"item {item.item_id} offers group {group_id} version {item.version}")
        response = self.http.post(f"{first}/toggle")
        modifier = ModifierResponse.model_validate_json(response.content).data
        available = str(modifier.is_available).lower()
        print(f"toggled modifier {modifier.modifier_id} available {available} version {modifier.version}")

    def create_group(self, groups: str, wanted: ModifierGroupCreate) -> ModifierGroup:
        group = self.send(ModifierGroupResponse, "POST", groups, wanted).data
        bounds = f"min {group.min_selections} max {group.max_selections or 'null'}"
        modifiers = ", ".join(f"{modifier.name} {modifier.price:.2f}" for modifier in group.modifiers)
        print(f"group {group.modifier_group_id} {group.name} {bounds}: {modifiers}")
        return group

    def price_selections(self) -> None:
        egg = ModifierSelection(modifier_id=self.egg.modifier_id)
        with_egg = ModifierSelection(modifier_id=self.large.modifier_id, selections=[egg])
        small = ModifierSelection(modifier_id=self.small.modifier_id)
        path = f"/menus/{self.sushi.menu_id}/items/{self.sushi.item_id}/price"
        for selection in (
            ItemSelection(quantity=2, selections=[with_egg], at="2030-01-05T23:30"),
            ItemSelection(selections=[small], at="2030-01-05T23:30"),
        ):
            price = self.send(ItemPriceResponse, "POST", path, selection).data
            said = [f"{line.pointer} {line.name} {line.total_price:.2f}" for line in price.lines]
            said += [f"{problem.pointer} {problem.code}" for problem in price.problems]
            print(
                f"price of item {price.item_id} {price.unit_price:.2f} total {price.total_price:.2f} "
                f"{price.currency} orderable {str(price.is_orderable).lower()}: {', '.join(said)}"
            )

    def set_hours(self) -> None:
        nights = WeeklyWindow.model_validate({"days": ["fri", "sat"], "from": "22:00", "minutes": 240})
        hours = HoursInput(weekly=[nights], dates=[HoursOfDate(date="2030-01-04", windows=[])])
        menu = self.send(MenuResponse, "PUT", f"/menus/{self.menu.menu_id}", MenuUpdate(hours=hours)).data
        closed = [date.date for date in menu.hours.dates if not date.windows] if menu.hours else []
        print(f"hours of menu {menu.menu_id} {first_window(menu.hours)}, {','.join(closed)} closed")
        late = WeeklyWindow.model_validate({"days": [Weekday.sat], "from": "23:00", "minutes": 60})
        path = f"/menus/{self.sushi.menu_id}/items/{self.sushi.item_id}"
        change = ItemUpdate(hours=ItemHoursInput(weekly=[late]))
        item = self.send(ItemResponse, "PUT", path, change).data
        print(f"hours of item {item.item_id} {first_window(item.hours)}")

    def read_availability(self) -> None:
        path = f"/menus/{self.menu.menu_id}/availability"
        availability = self.get(MenuAvailabilityResponse, path, {"at": "2030-01-05T22:30"}).data
        items = {item.item_id: item for item in availability.items}
        off, late = items[self.item.item_id], items[self.sushi.item_id]
        until = late.next_change_at.timestamp() if late.next_change_at else 0
        print(
            f"orderable menu {availability.menu_id} {str(availability.is_orderable).lower()}, "
            f"item {off.item_id} {codes(off)} by {off.reasons[0].unavailable_by}, "
            f"item {late.item_id} {codes(late)} until {until:.0f}"
        )

    def read_changes(self) -> None:
        changed, later = (
            len(self.get(MenuList, "/menus", {"updated_since": f"{year}-01-01T00:00:00Z"}).data)
            for year in (2020, 2099)
        )
        print(f"changed menus {changed} since 2020, {later} since 2099")

    def read_events(self) -> None:
        events = eventually(
            lambda: self.get(EventList, "/events", {"type": ["item.updated", "item.toggled"]}).data,
            lambda events: len(events) >= 7,
        )
        said = []
        for event in events:
            match event:
                case ItemUpdatedEvent(data=item):
                    said.append(f"{event.type} {item.item_id} version {item.version}")
                case ItemToggledEvent(data=item):
                    said.append(f"{event.type} {item.item_id} available {str(item.is_available).lower()}")
        print(f"events {', '.join(said)}")
        print(f"feed {len(self.get(EventList, '/events', {'limit': '200'}).data)}")

    def register_webhook(self) -> None:
        wanted = WebhookCreate.model_validate(
            {"url": os.environ["WEBHOOK_URL"], "event_types": ["item.*", EventTypeFilter.menu_toggled]}
        )
        webhook = self.send(WebhookWithSecretResponse, "POST", "/webhooks", wanted).data
        kinds = ",".join(kind.value for kind in webhook.event_types)
        print(f"webhook {webhook.webhook_id} events {kinds}")

    def revoke_token(self) -> None:
        revocation = TokenRevocation(token=self.token).model_dump(exclude_unset=True)
        credentials = (os.environ["CLIENT_ID"], os.environ["CLIENT_SECRET"])
        self.http.post("/oauth/revoke", data=revocation, auth=credentials)
        refused = eventually(
            lambda: self.http.get("/oauth/client"),
            lambda answer: answer.status_code == httpx.codes.UNAUTHORIZED,
        )
        error = Error.model_validate_json(refused.content)
        print(f"revoked {error.status} {error.code}")

    def get(self, wanted: type[Response], path: str, query: Mapping[str, str | list[str]] | None = None) -> Response:
        return wanted.model_validate_json(self.http.get(path, params=query).content)

    def send(self, wanted: type[Response], method: str, path: str, body: BaseModel) -> Response:
        # Unset is left out; None, which clears a field, is sent.
        json = body.model_dump_json(exclude_unset=True, by_alias=True)
        headers = {"Content-Type": "application/json"}
        response = self.http.request(method, path, content=json, headers=headers)
        return wanted.model_validate_json(response.content)


def uses_of(group: ModifierGroup) -> ModifierGroupUsesUpdate:
    return ModifierGroupUsesUpdate(
        modifier_groups=[ModifierGroupUseInput(modifier_group_id=group.modifier_group_id)]
    )


def first_window(hours: Hours | None) -> str:
    if hours is None:
        return "none"
    window = hours.weekly[0]
    return f"{','.join(day.value for day in window.days)} {window.from_} for {window.minutes} min"


def codes(item: ItemAvailability) -> str:
    return "+".join(reason.code for reason in item.reasons)


def eventually(call: Callable[[], Answer], wanted: Callable[[Answer], bool]) -> Answer:
    """Repeats a call until its answer is as wanted: events and revocations take a moment."""
    for _ in range(200):
        answer = call()
        if wanted(answer):
            return answer
        time.sleep(0.05)
    raise RuntimeError("the answer is not as wanted after ten seconds")


with httpx.Client(base_url=os.environ["API_URL"]) as http:
    Scenario(http).run()
