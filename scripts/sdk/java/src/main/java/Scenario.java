import com.fasterxml.jackson.core.JsonProcessingException;
import java.math.BigDecimal;
import java.net.URI;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import menus.ApiClient;
import menus.ApiException;
import menus.api.AuthenticationApi;
import menus.api.EventsApi;
import menus.api.ItemsApi;
import menus.api.LocationsApi;
import menus.api.MenusApi;
import menus.api.ModifiersApi;
import menus.api.WebhooksApi;
import menus.model.AvailabilityChange;
import menus.model.AvailabilityResult;
import menus.model.CurrentClient;
import menus.model.EventTypeFilter;
import menus.model.Hours;
import menus.model.HoursInput;
import menus.model.HoursOfDate;
import menus.model.Item;
import menus.model.ItemAvailability;
import menus.model.ItemCreate;
import menus.model.ItemHoursInput;
import menus.model.ItemList;
import menus.model.ItemPrice;
import menus.model.ItemSelection;
import menus.model.ItemToggledEvent;
import menus.model.ItemUpdate;
import menus.model.ItemUpdatedEvent;
import menus.model.Location;
import menus.model.LocationAvailabilityUpdate;
import menus.model.Menu;
import menus.model.MenuAvailability;
import menus.model.MenuDetail;
import menus.model.MenuUpdate;
import menus.model.Modifier;
import menus.model.ModifierCreate;
import menus.model.ModifierGroup;
import menus.model.ModifierGroupCreate;
import menus.model.ModifierGroupUseInput;
import menus.model.ModifierGroupUsesUpdate;
import menus.model.ModifierSelection;
import menus.model.Problem;
import menus.model.Scope;
import menus.model.TokenResponse;
import menus.model.UnavailableReason;
import menus.model.WebhookCreate;
import menus.model.WebhookPayload;
import menus.model.WebhookWithSecret;
import menus.model.Weekday;
import menus.model.WeeklyWindow;

/** Calls the service through the generated client. */
public final class Scenario {
  private final ApiClient client = newClient();
  /** Sends no token. */
  private final ApiClient plain = newClient();
  private final String token;
  private final ItemsApi itemsApi;
  private final MenusApi menusApi;
  private final ModifiersApi modifiersApi;
  private final Location location;
  private final MenuDetail menu;
  private final Item item;
  private Item sushi;
  private Modifier egg;
  private Modifier small;
  private Modifier large;

  public static void main(String[] arguments) throws Exception {
    Scenario scenario = new Scenario();
    scenario.changePrice();
    scenario.toggleTwice();
    scenario.clearPhoto();
    scenario.writeItem();
    scenario.readMissingItem();
    scenario.sendFaultyChange();
    scenario.readPages();
    scenario.findItems();
    scenario.setAvailability();
    scenario.offerModifiers();
    scenario.setHours();
    scenario.priceSelections();
    scenario.readAvailability();
    scenario.readChanges();
    scenario.readEvents();
    scenario.registerWebhook();
    scenario.revokeToken();
  }

  private Scenario() throws ApiException {
    token = getToken();
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + token));
    itemsApi = new ItemsApi(client);
    menusApi = new MenusApi(client);
    modifiersApi = new ModifiersApi(client);
    readClient();
    location = readLocation();
    menu = firstMenu();
    item = menu.getCategories().get(0).getItems().get(0);
  }

  private static ApiClient newClient() {
    ApiClient client = new ApiClient();
    client.updateBaseUri(System.getenv("API_URL"));
    return client;
  }

  private String getToken() throws ApiException {
    TokenResponse token =
        new AuthenticationApi(plain)
            .issueToken("client_credentials", null, System.getenv("CLIENT_ID"), System.getenv("CLIENT_SECRET"));
    System.out.printf("token %s for %d s%n", token.getTokenType(), token.getExpiresIn());
    return token.getAccessToken();
  }

  private void readClient() throws ApiException {
    CurrentClient current = new AuthenticationApi(client).getCurrentClient().getData();
    String scopes = current.getScopes().stream().map(Scope::getValue).collect(Collectors.joining(","));
    System.out.printf("client %s scopes %s locations %s%n", current.getClientId(), scopes, current.getLocationIds());
  }

  private Location readLocation() throws ApiException {
    Location location = new LocationsApi(client).listLocations(null, null, null, null).getData().get(0);
    String address = location.getAddress() == null ? "null" : location.getAddress().getLine1();
    System.out.printf("location %d %s address %s%n", location.getLocationId(), location.getName(), address);
    return location;
  }

  private MenuDetail firstMenu() throws ApiException {
    List<Menu> menus = menusApi.listMenus(null, null, null, null, null, null).getData();
    System.out.printf("menus %d first %s%n", menus.size(), menus.get(0).getName());
    MenuDetail whole = menusApi.getMenu(menus.get(0).getMenuId(), null).getData();
    int items = whole.getCategories().stream().mapToInt(category -> category.getItems().size()).sum();
    System.out.printf("menu %d categories %d items %d%n", whole.getMenuId(), whole.getCategories().size(), items);
    return whole;
  }

  private void changePrice() throws ApiException {
    ItemUpdate change = new ItemUpdate().price(new BigDecimal("12.5"));
    Item changed = itemsApi.updateItem(menu.getMenuId(), item.getItemId(), change, null).getData();
    System.out.printf(
        "updated item %d price %s version %d%n",
        changed.getItemId(), changed.getPrice().setScale(2), changed.getVersion());
  }

  private void toggleTwice() throws ApiException {
    String key = UUID.randomUUID().toString();
    Item first = itemsApi.toggleItem(menu.getMenuId(), item.getItemId(), null, key).getData();
    Item second = itemsApi.toggleItem(menu.getMenuId(), item.getItemId(), null, key).getData();
    System.out.printf(
        "toggled item %d available %b version %d replayed %s%n",
        first.getItemId(), first.getIsAvailable(), first.getVersion(), first.equals(second) ? "same" : "different");
  }

  private void clearPhoto() throws ApiException {
    ItemUpdate change = new ItemUpdate().photoUrl(null);
    Item changed = itemsApi.updateItem(menu.getMenuId(), item.getItemId(), change, null).getData();
    System.out.printf(
        "cleared item %d photo %s version %d%n", changed.getItemId(), changed.getPhotoUrl(), changed.getVersion());
  }

  private void writeItem() throws ApiException {
    ItemCreate wanted =
        new ItemCreate()
            .categoryId(item.getCategoryId())
            .name("🍣 𠮷")
            .price(new BigDecimal("0.07"))
            .externalId("SUSHI-1")
            .unavailableUntil(OffsetDateTime.parse("2030-01-02T02:00:00Z"));
    Item created = itemsApi.createItem(menu.getMenuId(), wanted, null).getData();
    System.out.printf(
        "wrote item %d %s price %s until %d%n",
        created.getItemId(), created.getName(), created.getPrice(), created.getUnavailableUntil().toEpochSecond());
    ItemUpdate change = new ItemUpdate().price(new BigDecimal("4.35"));
    sushi = itemsApi.updateItem(menu.getMenuId(), created.getItemId(), change, null).getData();
    System.out.printf("raised item %d price %s version %d%n", sushi.getItemId(), sushi.getPrice(), sushi.getVersion());
  }

  private void readMissingItem() throws JsonProcessingException {
    try {
      itemsApi.getItem(menu.getMenuId(), 999_999_999L, null);
      throw new IllegalStateException("there is an item 999999999");
    } catch (ApiException refused) {
      Problem problem = problem(refused);
      System.out.printf("%d %s %s%n", problem.getStatus(), problem.getCode(), problem.getTitle());
    }
  }

  private void sendFaultyChange() throws JsonProcessingException {
    ItemUpdate faulty = new ItemUpdate().name("").price(BigDecimal.valueOf(-1));
    try {
      itemsApi.updateItem(menu.getMenuId(), item.getItemId(), faulty, null);
      throw new IllegalStateException("the change was accepted");
    } catch (ApiException refused) {
      Problem problem = problem(refused);
      String faults =
          problem.getErrors().stream()
              .map(fault -> fault.getField() + " " + fault.getCode())
              .collect(Collectors.joining(", "));
      System.out.printf("%d %s %s%n", problem.getStatus(), problem.getCode(), faults);
    }
  }

  private void readPages() throws ApiException {
    int pages = 0;
    int items = 0;
    String cursor = null;
    do {
      ItemList page =
          itemsApi.listItems(menu.getMenuId(), null, null, null, null, null, null, null, 20, cursor, null);
      pages += 1;
      items += page.getData().size();
      cursor = page.getNextCursor();
    } while (cursor != null);
    System.out.printf("pages %d items %d%n", pages, items);
  }

  private void findItems() throws ApiException {
    Set<String> wanted = Set.of(item.getExternalId(), sushi.getExternalId());
    String found =
        itemsApi.searchItems(null, wanted, null, null, null, null, null, null).getData().stream()
            .map(one -> one.getItemId().toString())
            .collect(Collectors.joining(", "));
    System.out.printf("found items %s%n", found);
    Item same = itemsApi.getItemById(sushi.getItemId(), null).getData();
    System.out.printf("item %d external %s menu %d%n", same.getItemId(), same.getExternalId(), same.getMenuId());
  }

  private void setAvailability() throws ApiException {
    LocationAvailabilityUpdate update =
        new LocationAvailabilityUpdate()
            .addItemsItem(new AvailabilityChange().externalId("SUSHI-1").isAvailable(true))
            .addItemsItem(new AvailabilityChange().externalId("SUSHI-2").isAvailable(false));
    String said =
        itemsApi.setLocationAvailability(location.getLocationId(), update, null).getData().stream()
            .map(Scenario::outcome)
            .collect(Collectors.joining(", "));
    System.out.printf("set %s%n", said);
  }

  private static String outcome(AvailabilityResult row) {
    return row.getItem() == null
        ? "%s %s".formatted(row.getExternalId(), row.getResult())
        : "%d %s available %b".formatted(row.getItem().getItemId(), row.getResult(), row.getItem().getIsAvailable());
  }

  private void offerModifiers() throws ApiException {
    ModifierGroup extras = createGroup(new ModifierGroupCreate().name("Extras").addModifiersItem(modifier("Egg", "0.07")));
    ModifierGroup size =
        createGroup(
            new ModifierGroupCreate()
                .name("Size")
                .minSelections(1)
                .maxSelections(1)
                .addModifiersItem(modifier("Small", "0"))
                .addModifiersItem(modifier("Large", "1.5")));
    Long groupId = size.getModifierGroupId();
    egg = extras.getModifiers().get(0);
    small = size.getModifiers().get(0);
    large = size.getModifiers().get(1);
    Modifier nesting =
        modifiersApi
            .setModifierModifierGroups(location.getLocationId(), groupId, large.getModifierId(), usesOf(extras), null)
            .getData();
    System.out.printf(
        "modifier %d offers group %d%n",
        nesting.getModifierId(), nesting.getModifierGroups().get(0).getModifierGroupId());
    Item offering =
        modifiersApi.setItemModifierGroups(menu.getMenuId(), sushi.getItemId(), usesOf(size), null).getData();
    System.out.printf(
        "item %d offers group %d version %d%n",
        offering.getItemId(), offering.getModifierGroups().get(0).getModifierGroupId(), offering.getVersion());
    Modifier toggled =
        modifiersApi.toggleModifier(location.getLocationId(), groupId, small.getModifierId(), null, null).getData();
    System.out.printf(
        "toggled modifier %d available %b version %d%n",
        toggled.getModifierId(), toggled.getIsAvailable(), toggled.getVersion());
  }

  private static ModifierCreate modifier(String name, String price) {
    return new ModifierCreate().name(name).price(new BigDecimal(price));
  }

  private ModifierGroup createGroup(ModifierGroupCreate wanted) throws ApiException {
    ModifierGroup group = modifiersApi.createModifierGroup(location.getLocationId(), wanted, null).getData();
    String modifiers =
        group.getModifiers().stream()
            .map(modifier -> modifier.getName() + " " + modifier.getPrice().setScale(2))
            .collect(Collectors.joining(", "));
    System.out.printf(
        "group %d %s min %d max %s: %s%n",
        group.getModifierGroupId(), group.getName(), group.getMinSelections(), group.getMaxSelections(), modifiers);
    return group;
  }

  private static ModifierGroupUsesUpdate usesOf(ModifierGroup group) {
    ModifierGroupUseInput use = new ModifierGroupUseInput().modifierGroupId(group.getModifierGroupId());
    return new ModifierGroupUsesUpdate().addModifierGroupsItem(use);
  }

  private void priceSelections() throws ApiException {
    ModifierSelection withEgg =
        new ModifierSelection()
            .modifierId(large.getModifierId())
            .addSelectionsItem(new ModifierSelection().modifierId(egg.getModifierId()));
    priceSelection(new ItemSelection().quantity(2).addSelectionsItem(withEgg));
    priceSelection(
        new ItemSelection().addSelectionsItem(new ModifierSelection().modifierId(small.getModifierId())));
  }

  private void priceSelection(ItemSelection selection) throws ApiException {
    selection.setAt("2030-01-05T23:30");
    ItemPrice price = itemsApi.priceSelection(menu.getMenuId(), sushi.getItemId(), selection).getData();
    List<String> said = new ArrayList<>();
    price.getLines()
        .forEach(line -> said.add(line.getPointer() + " " + line.getName() + " " + line.getTotalPrice().setScale(2)));
    price.getProblems().forEach(problem -> said.add(problem.getPointer() + " " + problem.getCode()));
    System.out.printf(
        "price of item %d %s total %s %s orderable %b: %s%n",
        price.getItemId(),
        price.getUnitPrice().setScale(2),
        price.getTotalPrice().setScale(2),
        price.getCurrency(),
        price.getIsOrderable(),
        String.join(", ", said));
  }

  private void setHours() throws ApiException {
    WeeklyWindow nights =
        new WeeklyWindow().addDaysItem(Weekday.FRI).addDaysItem(Weekday.SAT).from("22:00").minutes(240);
    HoursInput hours =
        new HoursInput()
            .addWeeklyItem(nights)
            .addDatesItem(new HoursOfDate().date("2030-01-04").windows(List.of()));
    Menu timed = menusApi.updateMenu(menu.getMenuId(), new MenuUpdate().hours(hours), null).getData();
    String closed =
        timed.getHours().getDates().stream()
            .filter(date -> date.getWindows().isEmpty())
            .map(HoursOfDate::getDate)
            .collect(Collectors.joining(","));
    System.out.printf("hours of menu %d %s, %s closed%n", timed.getMenuId(), firstWindow(timed.getHours()), closed);
    WeeklyWindow late = new WeeklyWindow().addDaysItem(Weekday.SAT).from("23:00").minutes(60);
    ItemUpdate change = new ItemUpdate().hours(new ItemHoursInput().addWeeklyItem(late));
    Item changed = itemsApi.updateItem(menu.getMenuId(), sushi.getItemId(), change, null).getData();
    System.out.printf("hours of item %d %s%n", changed.getItemId(), firstWindow(changed.getHours()));
  }

  private static String firstWindow(Hours hours) {
    WeeklyWindow window = hours.getWeekly().get(0);
    String days = window.getDays().stream().map(Weekday::getValue).collect(Collectors.joining(","));
    return "%s %s for %d min".formatted(days, window.getFrom(), window.getMinutes());
  }

  private void readAvailability() throws ApiException {
    MenuAvailability availability = menusApi.getAvailability(menu.getMenuId(), "2030-01-05T22:30", null).getData();
    ItemAvailability off = of(availability, item);
    ItemAvailability late = of(availability, sushi);
    System.out.printf(
        "orderable menu %d %b, item %d %s by %s, item %d %s until %d%n",
        availability.getMenuId(),
        availability.getIsOrderable(),
        off.getItemId(),
        codes(off),
        off.getReasons().get(0).getUnavailableBy(),
        late.getItemId(),
        codes(late),
        late.getNextChangeAt().toEpochSecond());
  }

  private static ItemAvailability of(MenuAvailability availability, Item item) {
    return availability.getItems().stream()
        .filter(one -> one.getItemId().equals(item.getItemId()))
        .findFirst()
        .orElseThrow();
  }

  private static String codes(ItemAvailability item) {
    return item.getReasons().stream().map(UnavailableReason::getCode).collect(Collectors.joining("+"));
  }

  private void readChanges() throws ApiException {
    System.out.printf("changed menus %d since 2020, %d since 2099%n", changedSince(2020), changedSince(2099));
  }

  private int changedSince(int year) throws ApiException {
    OffsetDateTime since = OffsetDateTime.of(year, 1, 1, 0, 0, 0, 0, ZoneOffset.UTC);
    return menusApi.listMenus(null, null, since, null, null, null, null).getData().size();
  }

  private void readEvents() throws Exception {
    Set<EventTypeFilter> kinds = EnumSet.of(EventTypeFilter.ITEM_UPDATED, EventTypeFilter.ITEM_TOGGLED);
    EventsApi eventsApi = new EventsApi(client);
    List<WebhookPayload> events =
        eventually(
            () -> eventsApi.listEvents(null, null, null, kinds, null, null).getData(), page -> page.size() >= 7);
    List<String> said = new ArrayList<>();
    for (WebhookPayload payload : events) {
      if (payload.getActualInstance() instanceof ItemUpdatedEvent event) {
        Item data = event.getData();
        said.add("%s %d version %d".formatted(event.getType(), data.getItemId(), data.getVersion()));
      } else if (payload.getActualInstance() instanceof ItemToggledEvent event) {
        Item data = event.getData();
        said.add("%s %d available %b".formatted(event.getType(), data.getItemId(), data.getIsAvailable()));
      }
    }
    System.out.println("events " + String.join(", ", said));
    int feed = eventsApi.listEvents(200, null, null, null, null, null).getData().size();
    System.out.printf("feed %d%n", feed);
  }

  private void registerWebhook() throws ApiException {
    WebhookCreate wanted =
        new WebhookCreate()
            .url(URI.create(System.getenv("WEBHOOK_URL")))
            .addEventTypesItem(EventTypeFilter.ITEM_ALL)
            .addEventTypesItem(EventTypeFilter.MENU_TOGGLED);
    WebhookWithSecret webhook = new WebhooksApi(client).createWebhook(wanted, null).getData();
    String kinds = webhook.getEventTypes().stream().map(EventTypeFilter::getValue).collect(Collectors.joining(","));
    System.out.printf("webhook %d events %s%n", webhook.getWebhookId(), kinds);
  }

  private void revokeToken() throws Exception {
    new AuthenticationApi(plain)
        .revokeToken(token, null, System.getenv("CLIENT_ID"), System.getenv("CLIENT_SECRET"));
    AuthenticationApi api = new AuthenticationApi(client);
    Problem problem =
        eventually(
            () -> {
              try {
                api.getCurrentClient();
                return null;
              } catch (ApiException refused) {
                return problem(refused);
              }
            },
            Objects::nonNull);
    System.out.printf("revoked %d %s%n", problem.getStatus(), problem.getCode());
  }

  /** Repeats a call until its answer is as wanted: events and revocations take a moment. */
  private static <T> T eventually(Callable<T> call, Predicate<T> wanted) throws Exception {
    for (int tries = 0; tries < 200; tries++) {
      T answer = call.call();
      if (wanted.test(answer)) {
        return answer;
      }
      Thread.sleep(50);
    }
    throw new IllegalStateException("the answer is not as wanted after ten seconds");
  }

  /** The client throws what it was answered as text; its mapper reads the type. */
  private Problem problem(ApiException refused) throws JsonProcessingException {
    return client.getObjectMapper().readValue(refused.getResponseBody(), Problem.class);
  }
}
