// Command scenario calls the service through the generated client.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"reflect"
	"strings"
	"time"

	menus "menus.example/client/generated"
)

// api is the generated client, which sends the token, and the records that the scenario works on.
type api struct {
	*menus.APIClient
	// plain sends none.
	plain      *menus.APIClient
	token      string
	locationID int64
	item       menus.Item
	sushi      menus.Item
	// eggID and the like are those of modifiers.
	eggID, smallID, largeID int64
}

func main() {
	log.SetFlags(0)
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	api := &api{APIClient: newClient(), plain: newClient()}
	for _, step := range []func(context.Context) error{
		api.getToken, api.readClient, api.readLocation, api.readMenus, api.changePrice, api.toggleTwice, api.clearPhoto,
		api.writeItem, api.readMissingItem, api.sendFaultyChange, api.readPages, api.findItems, api.setAvailability,
		api.offerModifiers, api.setHours, api.priceSelections, api.readAvailability, api.readChanges, api.readEvents, api.registerWebhook,
		api.revokeToken,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func newClient() *menus.APIClient {
	configuration := menus.NewConfiguration()
	configuration.Servers = menus.ServerConfigurations{{URL: os.Getenv("API_URL")}}
	return menus.NewAPIClient(configuration)
}

func (api *api) getToken(ctx context.Context) error {
	token, _, err := api.plain.AuthenticationAPI.IssueToken(ctx).
		GrantType("client_credentials").
		ClientId(os.Getenv("CLIENT_ID")).
		ClientSecret(os.Getenv("CLIENT_SECRET")).
		Execute()
	if err != nil {
		return err
	}
	fmt.Printf("token %s for %d s\n", token.TokenType, token.ExpiresIn)
	api.token = token.AccessToken
	api.GetConfig().AddDefaultHeader("Authorization", "Bearer "+token.AccessToken)
	return nil
}

func (api *api) readClient(ctx context.Context) error {
	current, _, err := api.AuthenticationAPI.GetCurrentClient(ctx).Execute()
	if err != nil {
		return err
	}
	client := current.Data
	locations := "null"
	if client.LocationIds != nil {
		locations = fmt.Sprint(client.LocationIds)
	}
	fmt.Printf("client %s scopes %s locations %s\n", client.ClientId, joined(client.Scopes, ","), locations)
	return nil
}

func (api *api) readLocation(ctx context.Context) error {
	list, _, err := api.LocationsAPI.ListLocations(ctx).Execute()
	if err != nil {
		return err
	}
	location := list.Data[0]
	address := "null"
	if given := location.Address.Get(); given != nil {
		address = given.Line1
	}
	fmt.Printf("location %d %s address %s\n", location.LocationId, location.Name, address)
	api.locationID = location.LocationId
	return nil
}

func (api *api) readMenus(ctx context.Context) error {
	list, _, err := api.MenusAPI.ListMenus(ctx).Execute()
	if err != nil {
		return err
	}
	fmt.Printf("menus %d first %s\n", len(list.Data), list.Data[0].Name)
	whole, _, err := api.MenusAPI.GetMenu(ctx, list.Data[0].MenuId).Execute()
	if err != nil {
		return err
	}
	menu := whole.Data
	var items []menus.Item
	for _, category := range menu.Categories {
		items = append(items, category.Items...)
	}
	fmt.Printf("menu %d categories %d items %d\n", menu.MenuId, len(menu.Categories), len(items))
	api.item = items[0]
	return nil
}

func (api *api) update(ctx context.Context, itemID int64, change menus.ItemUpdate) (menus.Item, error) {
	updated, _, err := api.ItemsAPI.UpdateItem(ctx, api.item.MenuId, itemID).ItemUpdate(change).Execute()
	if err != nil {
		return menus.Item{}, err
	}
	return updated.Data, nil
}

func (api *api) changePrice(ctx context.Context) error {
	item, err := api.update(ctx, api.item.ItemId, menus.ItemUpdate{Price: menus.PtrFloat64(12.5)})
	if err != nil {
		return err
	}
	fmt.Printf("updated item %d price %.2f version %d\n", item.ItemId, item.Price, item.Version)
	return nil
}

func (api *api) toggleTwice(ctx context.Context) error {
	toggle := api.ItemsAPI.ToggleItem(ctx, api.item.MenuId, api.item.ItemId).IdempotencyKey(rand.Text())
	first, _, err := toggle.Execute()
	if err != nil {
		return err
	}
	second, _, err := toggle.Execute()
	if err != nil {
		return err
	}
	replayed := "different"
	if reflect.DeepEqual(first, second) {
		replayed = "same"
	}
	item := first.Data
	fmt.Printf("toggled item %d available %t version %d replayed %s\n", item.ItemId, item.IsAvailable, item.Version, replayed)
	return nil
}

func (api *api) clearPhoto(ctx context.Context) error {
	var change menus.ItemUpdate
	change.SetPhotoUrlNil()
	item, err := api.update(ctx, api.item.ItemId, change)
	if err != nil {
		return err
	}
	photo := "null"
	if given := item.PhotoUrl.Get(); given != nil {
		photo = *given
	}
	fmt.Printf("cleared item %d photo %s version %d\n", item.ItemId, photo, item.Version)
	return nil
}

func (api *api) writeItem(ctx context.Context) error {
	wanted := menus.NewItemCreate(api.item.CategoryId, "🍣 𠮷", 0.07)
	wanted.SetExternalId("SUSHI-1")
	wanted.SetUnavailableUntil(time.Date(2030, 1, 2, 2, 0, 0, 0, time.UTC))
	created, _, err := api.ItemsAPI.CreateItem(ctx, api.item.MenuId).ItemCreate(*wanted).Execute()
	if err != nil {
		return err
	}
	item := created.Data
	until := item.UnavailableUntil.Get().Unix()
	fmt.Printf("wrote item %d %s price %.2f until %d\n", item.ItemId, item.Name, item.Price, until)
	if item, err = api.update(ctx, item.ItemId, menus.ItemUpdate{Price: menus.PtrFloat64(4.35)}); err != nil {
		return err
	}
	fmt.Printf("raised item %d price %.2f version %d\n", item.ItemId, item.Price, item.Version)
	api.sushi = item
	return nil
}

func (api *api) readMissingItem(ctx context.Context) error {
	_, _, err := api.ItemsAPI.GetItem(ctx, api.item.MenuId, 999_999_999).Execute()
	problem, err := problemOf(err)
	if err != nil {
		return err
	}
	fmt.Println(problem.Status, problem.Code, problem.Title)
	return nil
}

func (api *api) sendFaultyChange(ctx context.Context) error {
	_, err := api.update(ctx, api.item.ItemId, menus.ItemUpdate{Name: menus.PtrString(""), Price: menus.PtrFloat64(-1)})
	problem, err := problemOf(err)
	if err != nil {
		return err
	}
	var faults []string
	for _, fault := range problem.Errors {
		faults = append(faults, fault.Field+" "+fault.Code)
	}
	fmt.Println(problem.Status, problem.Code, strings.Join(faults, ", "))
	return nil
}

func (api *api) readPages(ctx context.Context) error {
	request := api.ItemsAPI.ListItems(ctx, api.item.MenuId).Limit(20)
	for pages, items := 1, 0; ; pages++ {
		page, _, err := request.Execute()
		if err != nil {
			return err
		}
		items += len(page.Data)
		cursor := page.NextCursor.Get()
		if cursor == nil {
			fmt.Printf("pages %d items %d\n", pages, items)
			return nil
		}
		request = request.Cursor(*cursor)
	}
}

func (api *api) findItems(ctx context.Context) error {
	wanted := []string{api.item.GetExternalId(), api.sushi.GetExternalId()}
	found, _, err := api.ItemsAPI.SearchItems(ctx).ExternalId(wanted).Execute()
	if err != nil {
		return err
	}
	var ids []string
	for _, item := range found.Data {
		ids = append(ids, fmt.Sprint(item.ItemId))
	}
	fmt.Printf("found items %s\n", strings.Join(ids, ", "))
	answer, _, err := api.ItemsAPI.GetItemById(ctx, api.sushi.ItemId).Execute()
	if err != nil {
		return err
	}
	item := answer.Data
	fmt.Printf("item %d external %s menu %d\n", item.ItemId, item.GetExternalId(), item.MenuId)
	return nil
}

func (api *api) setAvailability(ctx context.Context) error {
	on, off := menus.NewAvailabilityChange(true), menus.NewAvailabilityChange(false)
	on.SetExternalId("SUSHI-1")
	off.SetExternalId("SUSHI-2")
	update := menus.NewLocationAvailabilityUpdate([]menus.AvailabilityChange{*on, *off})
	answer, _, err := api.ItemsAPI.SetLocationAvailability(ctx, api.locationID).LocationAvailabilityUpdate(*update).Execute()
	if err != nil {
		return err
	}
	var said []string
	for _, row := range answer.Data {
		if item := row.Item.Get(); item != nil {
			said = append(said, fmt.Sprintf("%d %s available %t", item.ItemId, row.Result, item.IsAvailable))
		} else {
			said = append(said, fmt.Sprintf("%s %s", row.GetExternalId(), row.Result))
		}
	}
	fmt.Printf("set %s\n", strings.Join(said, ", "))
	return nil
}

func (api *api) offerModifiers(ctx context.Context) error {
	wanted := menus.NewModifierGroupCreate("Extras")
	wanted.Modifiers = []menus.ModifierCreate{{Name: "Egg", Price: menus.PtrFloat64(0.07)}}
	extras, err := api.createGroup(ctx, *wanted)
	if err != nil {
		return err
	}
	wanted = menus.NewModifierGroupCreate("Size")
	wanted.SetMinSelections(1)
	wanted.SetMaxSelections(1)
	wanted.Modifiers = []menus.ModifierCreate{
		{Name: "Small", Price: menus.PtrFloat64(0)}, {Name: "Large", Price: menus.PtrFloat64(1.5)},
	}
	size, err := api.createGroup(ctx, *wanted)
	if err != nil {
		return err
	}
	small, large := size.Modifiers[0], size.Modifiers[1]
	api.eggID, api.smallID, api.largeID = extras.Modifiers[0].ModifierId, small.ModifierId, large.ModifierId
	nesting, _, err := api.ModifiersAPI.
		SetModifierModifierGroups(ctx, api.locationID, size.ModifierGroupId, large.ModifierId).
		ModifierGroupUsesUpdate(usesOf(extras)).
		Execute()
	if err != nil {
		return err
	}
	modifier := nesting.Data
	fmt.Printf("modifier %d offers group %d\n", modifier.ModifierId, modifier.ModifierGroups[0].ModifierGroupId)
	offering, _, err := api.ModifiersAPI.
		SetItemModifierGroups(ctx, api.sushi.MenuId, api.sushi.ItemId).
		ModifierGroupUsesUpdate(usesOf(size)).
		Execute()
	if err != nil {
		return err
	}
	item := offering.Data
	fmt.Printf("item %d offers group %d version %d\n", item.ItemId, item.ModifierGroups[0].ModifierGroupId, item.Version)
	toggled, _, err := api.ModifiersAPI.ToggleModifier(ctx, api.locationID, size.ModifierGroupId, small.ModifierId).Execute()
	if err != nil {
		return err
	}
	modifier = toggled.Data
	fmt.Printf("toggled modifier %d available %t version %d\n", modifier.ModifierId, modifier.IsAvailable, modifier.Version)
	return nil
}

func (api *api) createGroup(ctx context.Context, wanted menus.ModifierGroupCreate) (menus.ModifierGroup, error) {
	created, _, err := api.ModifiersAPI.CreateModifierGroup(ctx, api.locationID).ModifierGroupCreate(wanted).Execute()
	if err != nil {
		return menus.ModifierGroup{}, err
	}
	group := created.Data
	most := "null"
	if limit := group.MaxSelections.Get(); limit != nil {
		most = fmt.Sprint(*limit)
	}
	var modifiers []string
	for _, modifier := range group.Modifiers {
		modifiers = append(modifiers, fmt.Sprintf("%s %.2f", modifier.Name, modifier.Price))
	}
	fmt.Printf("group %d %s min %d max %s: %s\n",
		group.ModifierGroupId, group.Name, group.MinSelections, most, strings.Join(modifiers, ", "))
	return group, nil
}

func usesOf(group menus.ModifierGroup) menus.ModifierGroupUsesUpdate {
	use := menus.NewModifierGroupUseInput(group.ModifierGroupId)
	return *menus.NewModifierGroupUsesUpdate([]menus.ModifierGroupUseInput{*use})
}

func (api *api) priceSelections(ctx context.Context) error {
	egg, small, large := menus.NewModifierSelection(api.eggID), menus.NewModifierSelection(api.smallID), menus.NewModifierSelection(api.largeID)
	large.SetSelections([]menus.ModifierSelection{*egg})
	two, one := menus.NewItemSelection(), menus.NewItemSelection()
	two.SetQuantity(2)
	two.SetSelections([]menus.ModifierSelection{*large})
	one.SetSelections([]menus.ModifierSelection{*small})
	for _, selection := range []*menus.ItemSelection{two, one} {
		selection.SetAt("2030-01-05T23:30")
		answer, _, err := api.ItemsAPI.PriceSelection(ctx, api.sushi.MenuId, api.sushi.ItemId).ItemSelection(*selection).Execute()
		if err != nil {
			return err
		}
		price := answer.Data
		var said []string
		for _, line := range price.Lines {
			said = append(said, fmt.Sprintf("%s %s %.2f", line.Pointer, line.Name, line.TotalPrice))
		}
		for _, problem := range price.Problems {
			said = append(said, problem.Pointer+" "+problem.Code)
		}
		fmt.Printf("price of item %d %.2f total %.2f %s orderable %t: %s\n",
			price.ItemId, price.UnitPrice, price.TotalPrice, price.Currency, price.IsOrderable, strings.Join(said, ", "))
	}
	return nil
}

func (api *api) setHours(ctx context.Context) error {
	nights := menus.NewWeeklyWindow([]menus.Weekday{menus.WEEKDAY_FRI, menus.WEEKDAY_SAT}, "22:00", 240)
	hours := menus.NewHoursInput([]menus.WeeklyWindow{*nights})
	hours.Dates = []menus.HoursOfDate{*menus.NewHoursOfDate("2030-01-04", []menus.HoursWindow{})}
	var change menus.MenuUpdate
	change.SetHours(*hours)
	changed, _, err := api.MenusAPI.UpdateMenu(ctx, api.item.MenuId).MenuUpdate(change).Execute()
	if err != nil {
		return err
	}
	menu := changed.Data
	var closed []string
	for _, date := range menu.Hours.Get().Dates {
		if len(date.Windows) == 0 {
			closed = append(closed, date.Date)
		}
	}
	fmt.Printf("hours of menu %d %s, %s closed\n", menu.MenuId, firstWindow(menu.Hours.Get()), strings.Join(closed, ","))
	late := menus.NewWeeklyWindow([]menus.Weekday{menus.WEEKDAY_SAT}, "23:00", 60)
	var itemChange menus.ItemUpdate
	itemChange.SetHours(*menus.NewItemHoursInput([]menus.WeeklyWindow{*late}))
	item, err := api.update(ctx, api.sushi.ItemId, itemChange)
	if err != nil {
		return err
	}
	fmt.Printf("hours of item %d %s\n", item.ItemId, firstWindow(item.Hours.Get()))
	return nil
}

func firstWindow(hours *menus.Hours) string {
	window := hours.Weekly[0]
	return fmt.Sprintf("%s %s for %d min", joined(window.Days, ","), window.From, window.Minutes)
}

func (api *api) readAvailability(ctx context.Context) error {
	answer, _, err := api.MenusAPI.GetAvailability(ctx, api.item.MenuId).At("2030-01-05T22:30").Execute()
	if err != nil {
		return err
	}
	availability := answer.Data
	items := map[int64]menus.ItemAvailability{}
	for _, item := range availability.Items {
		items[item.ItemId] = item
	}
	off, late := items[api.item.ItemId], items[api.sushi.ItemId]
	fmt.Printf("orderable menu %d %t, item %d %s by %s, item %d %s until %d\n",
		availability.MenuId, availability.IsOrderable,
		off.ItemId, codes(off), off.Reasons[0].GetUnavailableBy(),
		late.ItemId, codes(late), late.NextChangeAt.Get().Unix())
	return nil
}

func codes(item menus.ItemAvailability) string {
	var codes []string
	for _, reason := range item.Reasons {
		codes = append(codes, reason.Code)
	}
	return strings.Join(codes, "+")
}

func (api *api) readChanges(ctx context.Context) error {
	var changed []int
	for _, year := range []int{2020, 2099} {
		since := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		list, _, err := api.MenusAPI.ListMenus(ctx).UpdatedSince(since).Execute()
		if err != nil {
			return err
		}
		changed = append(changed, len(list.Data))
	}
	fmt.Printf("changed menus %d since 2020, %d since 2099\n", changed[0], changed[1])
	return nil
}

func (api *api) readEvents(ctx context.Context) error {
	kinds := []menus.EventTypeFilter{menus.EVENTTYPEFILTER_ITEM_UPDATED, menus.EVENTTYPEFILTER_ITEM_TOGGLED}
	page, err := eventually(func() (*menus.EventList, bool, error) {
		page, _, err := api.EventsAPI.ListEvents(ctx).Type_(kinds).Execute()
		return page, err == nil && len(page.Data) >= 7, err
	})
	if err != nil {
		return err
	}
	var said []string
	for _, payload := range page.Data {
		switch event := payload.GetActualInstance().(type) {
		case *menus.ItemUpdatedEvent:
			said = append(said, fmt.Sprintf("%s %d version %d", event.Type, event.Data.ItemId, event.Data.Version))
		case *menus.ItemToggledEvent:
			said = append(said, fmt.Sprintf("%s %d available %t", event.Type, event.Data.ItemId, event.Data.IsAvailable))
		}
	}
	fmt.Printf("events %s\n", strings.Join(said, ", "))
	feed, _, err := api.EventsAPI.ListEvents(ctx).Limit(200).Execute()
	if err != nil {
		return err
	}
	fmt.Printf("feed %d\n", len(feed.Data))
	return nil
}

func (api *api) registerWebhook(ctx context.Context) error {
	wanted := menus.NewWebhookCreate(os.Getenv("WEBHOOK_URL"))
	wanted.EventTypes = []menus.EventTypeFilter{menus.EVENTTYPEFILTER_ITEM, menus.EVENTTYPEFILTER_MENU_TOGGLED}
	created, _, err := api.WebhooksAPI.CreateWebhook(ctx).WebhookCreate(*wanted).Execute()
	if err != nil {
		return err
	}
	fmt.Printf("webhook %d events %s\n", created.Data.WebhookId, joined(created.Data.EventTypes, ","))
	return nil
}

func (api *api) revokeToken(ctx context.Context) error {
	_, err := api.plain.AuthenticationAPI.RevokeToken(ctx).
		Token(api.token).
		ClientId(os.Getenv("CLIENT_ID")).
		ClientSecret(os.Getenv("CLIENT_SECRET")).
		Execute()
	if err != nil {
		return err
	}
	problem, err := eventually(func() (menus.Error, bool, error) {
		_, _, err := api.AuthenticationAPI.GetCurrentClient(ctx).Execute()
		if err == nil {
			return menus.Error{}, false, nil
		}
		problem, err := problemOf(err)
		return problem, err == nil, err
	})
	if err != nil {
		return err
	}
	fmt.Println("revoked", problem.Status, problem.Code)
	return nil
}

// eventually repeats a call until its answer is as wanted: events and revocations take a moment.
func eventually[T any](call func() (answer T, wanted bool, err error)) (T, error) {
	for range 200 {
		answer, wanted, err := call()
		if wanted || err != nil {
			return answer, err
		}
		time.Sleep(50 * time.Millisecond)
	}
	var none T
	return none, errors.New("the answer is not as wanted after ten seconds")
}

func joined[T ~string](values []T, separator string) string {
	var texts []string
	for _, value := range values {
		texts = append(texts, string(value))
	}
	return strings.Join(texts, separator)
}

// problemOf is the problem document that a call was refused with.
func problemOf(err error) (menus.Error, error) {
	var refused *menus.GenericOpenAPIError
	if !errors.As(err, &refused) {
		return menus.Error{}, fmt.Errorf("%s expected, not %w", http.StatusText(http.StatusUnprocessableEntity), err)
	}
	problem, ok := refused.Model().(menus.Error)
	if !ok {
		return menus.Error{}, err
	}
	return problem, nil
}
