<?php

declare(strict_types=1);

use Menus\Api\{AuthenticationApi, EventsApi, ItemsApi, LocationsApi, MenusApi, ModifiersApi, WebhooksApi};
use Menus\ApiException;
use Menus\Configuration;
use Menus\Model\{
    AvailabilityChange,
    AvailabilityResult,
    Error,
    EventTypeFilter,
    Hours,
    HoursInput,
    HoursOfDate,
    Item,
    ItemAvailability,
    ItemCreate,
    ItemHoursInput,
    ItemSelection,
    ItemUpdate,
    Location,
    LocationAvailabilityUpdate,
    MenuDetail,
    MenuUpdate,
    ModifierCreate,
    ModifierGroup,
    ModifierGroupCreate,
    ModifierGroupUseInput,
    ModifierGroupUsesUpdate,
    ModifierSelection,
    WebhookCreate,
    Weekday,
    WeeklyWindow,
};

require 'autoload.php';

$config = (new Configuration())->setHost(getenv('API_URL'));
$config->setAccessToken(getToken($config));
$items = new ItemsApi(config: $config);

readClient($config);
$location = readLocation($config);
$menu = firstMenu($config);
$item = $menu->getCategories()[0]->getItems()[0];
changePrice($items, $item);
toggleTwice($items, $item);
clearPhoto($items, $item);
$sushi = writeItem($items, $item);
readMissingItem($items, $menu);
sendFaultyChange($items, $item);
readPages($items, $menu);
findItems($items, $item, $sushi);
setAvailability($items, $location);
$groups = offerModifiers($config, $location, $sushi);
setHours($config, $sushi);
priceSelections($items, $sushi, ...$groups);
readAvailability($config, $item, $sushi);
readChanges($config);
readEvents($config);
registerWebhook($config);
revokeToken($config);

function getToken(Configuration $config): string
{
    $token = (new AuthenticationApi(config: $config))->issueToken(
        'client_credentials',
        client_id: getenv('CLIENT_ID'),
        client_secret: getenv('CLIENT_SECRET'),
    );
    printf("token %s for %d s\n", $token->getTokenType(), $token->getExpiresIn());
    return $token->getAccessToken();
}

function readClient(Configuration $config): void
{
    $client = (new AuthenticationApi(config: $config))->getCurrentClient()->getData();
    $locations = json_encode($client->getLocationIds());
    printf("client %s scopes %s locations %s\n", $client->getClientId(), implode(',', $client->getScopes()), $locations);
}

function readLocation(Configuration $config): Location
{
    $location = (new LocationsApi(config: $config))->listLocations()->getData()[0];
    $address = $location->getAddress() === null ? 'null' : $location->getAddress()->getLine1();
    printf("location %d %s address %s\n", $location->getLocationId(), $location->getName(), $address);
    return $location;
}

function firstMenu(Configuration $config): MenuDetail
{
    $api = new MenusApi(config: $config);
    $menus = $api->listMenus()->getData();
    printf("menus %d first %s\n", count($menus), $menus[0]->getName());
    $menu = $api->getMenu($menus[0]->getMenuId())->getData();
    $categories = $menu->getCategories();
    $items = array_sum(array_map(fn ($category) => count($category->getItems()), $categories));
    printf("menu %d categories %d items %d\n", $menu->getMenuId(), count($categories), $items);
    return $menu;
}

function changePrice(ItemsApi $api, Item $item): void
{
    $change = (new ItemUpdate())->setPrice(12.5);
    $changed = $api->updateItem($item->getMenuId(), $item->getItemId(), $change)->getData();
    printf("updated item %d price %.2f version %d\n", $changed->getItemId(), $changed->getPrice(), $changed->getVersion());
}

function toggleTwice(ItemsApi $api, Item $item): void
{
    $key = bin2hex(random_bytes(16));
    $toggle = fn () => $api->toggleItem($item->getMenuId(), $item->getItemId(), idempotency_key: $key)->getData();
    [$first, $again] = [$toggle(), $toggle()];
    printf(
        "toggled item %d available %s version %d replayed %s\n",
        $first->getItemId(),
        json_encode($first->getIsAvailable()),
        $first->getVersion(),
        $first == $again ? 'same' : 'different',
    );
}

function clearPhoto(ItemsApi $api, Item $item): void
{
    $change = (new ItemUpdate())->setPhotoUrl(null);
    $changed = $api->updateItem($item->getMenuId(), $item->getItemId(), $change)->getData();
    $photo = $changed->getPhotoUrl() ?? 'null';
    printf("cleared item %d photo %s version %d\n", $changed->getItemId(), $photo, $changed->getVersion());
}

function writeItem(ItemsApi $api, Item $beside): Item
{
    $wanted = (new ItemCreate())
        ->setCategoryId($beside->getCategoryId())
        ->setName('🍣 𠮷')
        ->setPrice(0.07)
        ->setExternalId('SUSHI-1')
        ->setUnavailableUntil(new DateTime('2030-01-02T02:00:00Z'));
    $created = $api->createItem($beside->getMenuId(), $wanted)->getData();
    printf(
        "wrote item %d %s price %.2f until %d\n",
        $created->getItemId(),
        $created->getName(),
        $created->getPrice(),
        $created->getUnavailableUntil()->getTimestamp(),
    );
    $change = (new ItemUpdate())->setPrice(4.35);
    $raised = $api->updateItem($created->getMenuId(), $created->getItemId(), $change)->getData();
    printf("raised item %d price %.2f version %d\n", $raised->getItemId(), $raised->getPrice(), $raised->getVersion());
    return $raised;
}

function readMissingItem(ItemsApi $api, MenuDetail $menu): void
{
    $error = errorOf(fn () => $api->getItem($menu->getMenuId(), 999_999_999));
    printf("%d %s %s\n", $error->getStatus(), $error->getCode(), $error->getTitle());
}

function sendFaultyChange(ItemsApi $api, Item $item): void
{
    // The setters would refuse both; the constructor takes them.
    $change = new ItemUpdate(['name' => '', 'price' => -1.0]);
    $error = errorOf(fn () => $api->updateItem($item->getMenuId(), $item->getItemId(), $change));
    $faults = array_map(fn ($fault) => "{$fault->getField()} {$fault->getCode()}", $error->getErrors());
    printf("%d %s %s\n", $error->getStatus(), $error->getCode(), implode(', ', $faults));
}

function readPages(ItemsApi $api, MenuDetail $menu): void
{
    [$pages, $items, $cursor] = [0, 0, null];
    do {
        $page = $api->listItems($menu->getMenuId(), limit: 20, cursor: $cursor);
        $pages += 1;
        $items += count($page->getData());
        $cursor = $page->getNextCursor();
    } while ($cursor !== null);
    printf("pages %d items %d\n", $pages, $items);
}

function findItems(ItemsApi $api, Item $item, Item $sushi): void
{
    $found = $api->searchItems(external_id: [$item->getExternalId(), $sushi->getExternalId()])->getData();
    printf("found items %s\n", implode(', ', array_map(fn (Item $one) => $one->getItemId(), $found)));
    $same = $api->getItemById($sushi->getItemId())->getData();
    printf("item %d external %s menu %d\n", $same->getItemId(), $same->getExternalId(), $same->getMenuId());
}

function setAvailability(ItemsApi $api, Location $location): void
{
    $update = (new LocationAvailabilityUpdate())->setItems([
        (new AvailabilityChange())->setExternalId('SUSHI-1')->setIsAvailable(true),
        (new AvailabilityChange())->setExternalId('SUSHI-2')->setIsAvailable(false),
    ]);
    $said = function (AvailabilityResult $row): string {
        $item = $row->getItem();
        return $item === null
            ? "{$row->getExternalId()} {$row->getResult()}"
            : "{$item->getItemId()} {$row->getResult()} available " . json_encode($item->getIsAvailable());
    };
    $results = $api->setLocationAvailability($location->getLocationId(), $update)->getData();
    printf("set %s\n", implode(', ', array_map($said, $results)));
}

/** @return ModifierGroup[] the extras and the sizes */
function offerModifiers(Configuration $config, Location $location, Item $item): array
{
    $api = new ModifiersApi(config: $config);
    $create = function (ModifierGroupCreate $wanted) use ($api, $location): ModifierGroup {
        $group = $api->createModifierGroup($location->getLocationId(), $wanted)->getData();
        $said = array_map(fn ($one) => sprintf('%s %.2f', $one->getName(), $one->getPrice()), $group->getModifiers());
        printf(
            "group %d %s min %d max %s: %s\n",
            $group->getModifierGroupId(),
            $group->getName(),
            $group->getMinSelections(),
            $group->getMaxSelections() ?? 'null',
            implode(', ', $said),
        );
        return $group;
    };
    $modifier = fn (string $name, float $price) => (new ModifierCreate())->setName($name)->setPrice($price);
    $usesOf = fn (ModifierGroup $group) => (new ModifierGroupUsesUpdate())->setModifierGroups([
        (new ModifierGroupUseInput())->setModifierGroupId($group->getModifierGroupId()),
    ]);
    $extras = $create((new ModifierGroupCreate())->setName('Extras')->setModifiers([$modifier('Egg', 0.07)]));
    $size = $create(
        (new ModifierGroupCreate())
            ->setName('Size')
            ->setMinSelections(1)
            ->setMaxSelections(1)
            ->setModifiers([$modifier('Small', 0), $modifier('Large', 1.5)]),
    );
    [$small, $large] = $size->getModifiers();
    $path = [$location->getLocationId(), $size->getModifierGroupId()];
    $nesting = $api->setModifierModifierGroups(...[...$path, $large->getModifierId(), $usesOf($extras)])->getData();
    $offered = $nesting->getModifierGroups()[0]->getModifierGroupId();
    printf("modifier %d offers group %d\n", $nesting->getModifierId(), $offered);
    $offering = $api->setItemModifierGroups($item->getMenuId(), $item->getItemId(), $usesOf($size))->getData();
    $offered = $offering->getModifierGroups()[0]->getModifierGroupId();
    printf("item %d offers group %d version %d\n", $offering->getItemId(), $offered, $offering->getVersion());
    $toggled = $api->toggleModifier(...[...$path, $small->getModifierId()])->getData();
    $available = json_encode($toggled->getIsAvailable());
    printf("toggled modifier %d available %s version %d\n", $toggled->getModifierId(), $available, $toggled->getVersion());
    return [$extras, $size];
}

function priceSelections(ItemsApi $api, Item $item, ModifierGroup $extras, ModifierGroup $size): void
{
    [$egg, $small, $large] = array_map(
        fn ($modifier) => (new ModifierSelection())->setModifierId($modifier->getModifierId()),
        [...$extras->getModifiers(), ...$size->getModifiers()],
    );
    $two = (new ItemSelection())->setQuantity(2)->setSelections([$large->setSelections([$egg])]);
    $one = (new ItemSelection())->setSelections([$small]);
    foreach ([$two, $one] as $selection) {
        $selection->setAt('2030-01-05T23:30');
        $price = $api->priceSelection($item->getMenuId(), $item->getItemId(), $selection)->getData();
        $said = [
            ...array_map(
                fn ($line) => sprintf('%s %s %.2f', $line->getPointer(), $line->getName(), $line->getTotalPrice()),
                $price->getLines(),
            ),
            ...array_map(fn ($problem) => "{$problem->getPointer()} {$problem->getCode()}", $price->getProblems()),
        ];
        printf(
            "price of item %d %.2f total %.2f %s orderable %s: %s\n",
            $price->getItemId(),
            $price->getUnitPrice(),
            $price->getTotalPrice(),
            $price->getCurrency(),
            json_encode($price->getIsOrderable()),
            implode(', ', $said),
        );
    }
}

function setHours(Configuration $config, Item $item): void
{
    $nights = (new WeeklyWindow())->setDays([Weekday::FRI, Weekday::SAT])->setFrom('22:00')->setMinutes(240);
    $closed = (new HoursOfDate())->setDate('2030-01-04')->setWindows([]);
    $change = (new MenuUpdate())->setHours((new HoursInput())->setWeekly([$nights])->setDates([$closed]));
    $menu = (new MenusApi(config: $config))->updateMenu($item->getMenuId(), $change)->getData();
    $dates = array_filter($menu->getHours()->getDates(), fn (HoursOfDate $date) => $date->getWindows() === []);
    $days = implode(',', array_map(fn (HoursOfDate $date) => $date->getDate(), $dates));
    printf("hours of menu %d %s, %s closed\n", $menu->getMenuId(), firstWindow($menu->getHours()), $days);
    $late = (new WeeklyWindow())->setDays([Weekday::SAT])->setFrom('23:00')->setMinutes(60);
    $change = (new ItemUpdate())->setHours((new ItemHoursInput())->setWeekly([$late]));
    $changed = (new ItemsApi(config: $config))->updateItem($item->getMenuId(), $item->getItemId(), $change)->getData();
    printf("hours of item %d %s\n", $changed->getItemId(), firstWindow($changed->getHours()));
}

function firstWindow(Hours $hours): string
{
    $window = $hours->getWeekly()[0];
    return implode(',', $window->getDays()) . " {$window->getFrom()} for {$window->getMinutes()} min";
}

function readAvailability(Configuration $config, Item $item, Item $sushi): void
{
    $api = new MenusApi(config: $config);
    $availability = $api->getAvailability($item->getMenuId(), at: '2030-01-05T22:30')->getData();
    $items = array_column(
        array_map(fn (ItemAvailability $one) => [$one->getItemId(), $one], $availability->getItems()),
        1,
        0,
    );
    [$off, $late] = [$items[$item->getItemId()], $items[$sushi->getItemId()]];
    $codes = fn (ItemAvailability $one) => implode('+', array_map(fn ($reason) => $reason->getCode(), $one->getReasons()));
    printf(
        "orderable menu %d %s, item %d %s by %s, item %d %s until %d\n",
        $availability->getMenuId(),
        json_encode($availability->getIsOrderable()),
        $off->getItemId(),
        $codes($off),
        $off->getReasons()[0]->getUnavailableBy(),
        $late->getItemId(),
        $codes($late),
        $late->getNextChangeAt()->getTimestamp(),
    );
}

function readChanges(Configuration $config): void
{
    $api = new MenusApi(config: $config);
    // A text: the client cannot send a DateTime in the query.
    $since = fn (int $year) => count($api->listMenus(updated_since: "{$year}-01-01T00:00:00Z")->getData());
    printf("changed menus %d since 2020, %d since 2099\n", $since(2020), $since(2099));
}

function readEvents(Configuration $config): void
{
    $api = new EventsApi(config: $config);
    $kinds = [EventTypeFilter::ITEM_UPDATED, EventTypeFilter::ITEM_TOGGLED];
    $events = eventually(function () use ($api, $kinds): ?array {
        $page = $api->listEvents(type: $kinds)->getData();
        return count($page) >= 7 ? $page : null;
    });
    $said = [];
    foreach ($events as $event) {
        $item = $event->getData();
        $change = $event->getType() === 'item.toggled'
            ? 'available ' . json_encode($item->getIsAvailable())
            : "version {$item->getVersion()}";
        $said[] = "{$event->getType()} {$item->getItemId()} {$change}";
    }
    printf("events %s\n", implode(', ', $said));
    printf("feed %d\n", count($api->listEvents(limit: 200)->getData()));
}

function registerWebhook(Configuration $config): void
{
    $wanted = (new WebhookCreate())
        ->setUrl(getenv('WEBHOOK_URL'))
        ->setEventTypes([EventTypeFilter::ITEM, EventTypeFilter::MENU_TOGGLED]);
    $webhook = (new WebhooksApi(config: $config))->createWebhook($wanted)->getData();
    printf("webhook %d events %s\n", $webhook->getWebhookId(), implode(',', $webhook->getEventTypes()));
}

function revokeToken(Configuration $config): void
{
    $api = new AuthenticationApi(config: $config);
    $api->revokeToken(
        $config->getAccessToken(),
        client_id: getenv('CLIENT_ID'),
        client_secret: getenv('CLIENT_SECRET'),
    );
    $error = eventually(function () use ($api): ?Error {
        try {
            $api->getCurrentClient();
            return null;
        } catch (ApiException $refused) {
            return $refused->getResponseObject();
        }
    });
    printf("revoked %d %s\n", $error->getStatus(), $error->getCode());
}

/** Repeats a call until it gives something: events and revocations take a moment. */
function eventually(callable $call): mixed
{
    for ($tries = 0; $tries < 200; $tries++) {
        $found = $call();
        if ($found !== null) {
            return $found;
        }
        usleep(50_000);
    }
    throw new LogicException('the answer is not as wanted after ten seconds');
}

function errorOf(callable $call): Error
{
    try {
        $call();
    } catch (ApiException $refused) {
        return $refused->getResponseObject();
    }
    throw new LogicException('the call was accepted');
}
