import com.fasterxml.jackson.core.JsonProcessingException;
import java.math.BigDecimal;
import java.net.URI;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import menus.ApiClient;
import menus.ApiException;
import menus.api.AuthenticationApi;
import menus.api.EventsApi;
import menus.api.ItemsApi;
import menus.api.MenusApi;
import menus.api.WebhooksApi;
import menus.model.EventTypeFilter;
import menus.model.Item;
import menus.model.ItemList;
import menus.model.ItemToggledEvent;
import menus.model.ItemUpdate;
import menus.model.ItemUpdatedEvent;
import menus.model.Menu;
import menus.model.MenuDetail;
import menus.model.Problem;
import menus.model.TokenResponse;
import menus.model.WebhookCreate;
import menus.model.WebhookPayload;
import menus.model.WebhookWithSecret;

/** Calls the service through the generated client. */
public final class Scenario {
  private final ApiClient client = new ApiClient();
  private final ItemsApi itemsApi;
  private final MenuDetail menu;
  private final Item item;

  public static void main(String[] arguments) throws ApiException, JsonProcessingException {
    Scenario scenario = new Scenario();
    scenario.changePrice();
    scenario.toggleTwice();
    scenario.clearPhoto();
    scenario.readMissingItem();
    scenario.sendFaultyChange();
    scenario.readPages();
    scenario.readEvents();
    scenario.registerWebhook();
  }

  private Scenario() throws ApiException {
    client.updateBaseUri(System.getenv("API_URL"));
    String token = getToken();
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + token));
    itemsApi = new ItemsApi(client);
    menu = firstMenu();
    item = menu.getCategories().get(0).getItems().get(0);
  }

  private String getToken() throws ApiException {
    TokenResponse token =
        new AuthenticationApi(client)
            .issueToken("client_credentials", null, System.getenv("CLIENT_ID"), System.getenv("CLIENT_SECRET"));
    System.out.printf("token %s for %d s%n", token.getTokenType(), token.getExpiresIn());
    return token.getAccessToken();
  }

  private MenuDetail firstMenu() throws ApiException {
    MenusApi menusApi = new MenusApi(client);
    List<Menu> menus = menusApi.listMenus(null, null, null, null).getData();
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
          itemsApi.listItems(menu.getMenuId(), null, null, null, null, null, null, null, 20, cursor);
      pages += 1;
      items += page.getData().size();
      cursor = page.getNextCursor();
    } while (cursor != null);
    System.out.printf("pages %d items %d%n", pages, items);
  }

  private void readEvents() throws ApiException {
    Set<EventTypeFilter> kinds = EnumSet.of(EventTypeFilter.ITEM_UPDATED, EventTypeFilter.ITEM_TOGGLED);
    List<String> said = new ArrayList<>();
    for (WebhookPayload payload : new EventsApi(client).listEvents(null, null, null, kinds, null, null).getData()) {
      if (payload.getActualInstance() instanceof ItemUpdatedEvent event) {
        Item data = event.getData();
        said.add("%s %d version %d".formatted(event.getType(), data.getItemId(), data.getVersion()));
      } else if (payload.getActualInstance() instanceof ItemToggledEvent event) {
        Item data = event.getData();
        said.add("%s %d available %b".formatted(event.getType(), data.getItemId(), data.getIsAvailable()));
      }
    }
    System.out.println("events " + String.join(", ", said));
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

  /** The client throws what it was answered as text; its mapper reads the type. */
  private Problem problem(ApiException refused) throws JsonProcessingException {
    return client.getObjectMapper().readValue(refused.getResponseBody(), Problem.class);
  }
}
