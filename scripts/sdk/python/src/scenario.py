import os
from typing import TypeVar
from uuid import uuid4

from menu_management import AuthenticatedClient, Client
from menu_management.api.authentication import issue_token
from menu_management.api.events import list_events
from menu_management.api.items import get_item, list_items, toggle_item, update_item
from menu_management.api.menus import get_menu, list_menus
from menu_management.api.webhooks import create_webhook
from menu_management.models.error import Error
from menu_management.models.event_list import EventList
from menu_management.models.event_type_filter import EventTypeFilter
from menu_management.models.item import Item
from menu_management.models.item_list import ItemList
from menu_management.models.item_response import ItemResponse
from menu_management.models.item_toggled_event import ItemToggledEvent
from menu_management.models.item_update import ItemUpdate
from menu_management.models.item_updated_event import ItemUpdatedEvent
from menu_management.models.menu_detail import MenuDetail
from menu_management.models.menu_detail_response import MenuDetailResponse
from menu_management.models.menu_list import MenuList
from menu_management.models.token_request import TokenRequest
from menu_management.models.token_response import TokenResponse
from menu_management.models.webhook_create import WebhookCreate
from menu_management.models.webhook_with_secret_response import WebhookWithSecretResponse
from menu_management.types import UNSET, Unset

Answer = TypeVar("Answer")


def main() -> None:
    base_url = os.environ["API_URL"]
    with AuthenticatedClient(base_url=base_url, token=get_token(base_url)) as client:
        menu = first_menu(client)
        item = menu.categories[0].items[0]
        change_price(client, item)
        toggle_twice(client, item)
        clear_photo(client, item)
        read_missing_item(client, menu)
        send_faulty_change(client, item)
        read_pages(client, menu)
        read_events(client)
        register_webhook(client)


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


def read_events(client: AuthenticatedClient) -> None:
    wanted = [EventTypeFilter.ITEM_UPDATED, EventTypeFilter.ITEM_TOGGLED]
    said = []
    for event in given(EventList, list_events.sync(client=client, type_=wanted)).data:
        match event:
            case ItemUpdatedEvent(data=item):
                said.append(f"{event.type_} {item.item_id} version {item.version}")
            case ItemToggledEvent(data=item):
                said.append(f"{event.type_} {item.item_id} available {str(item.is_available).lower()}")
    print(f"events {', '.join(said)}")


def register_webhook(client: AuthenticatedClient) -> None:
    wanted = WebhookCreate(
        url=os.environ["WEBHOOK_URL"],
        event_types=[EventTypeFilter.ITEM, EventTypeFilter.MENU_TOGGLED],
    )
    webhook = given(WebhookWithSecretResponse, create_webhook.sync(client=client, body=wanted)).data
    print(f"webhook {webhook.webhook_id} events {','.join(webhook.event_types)}")


def given(wanted: type[Answer], answer: object) -> Answer:
    """The answer, when it is the one that is wanted."""
    if isinstance(answer, wanted):
        return answer
    raise RuntimeError(f"no {wanted.__name__} but {answer}")


main()
