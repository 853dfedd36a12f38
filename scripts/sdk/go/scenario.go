// Command scenario calls the service through the generated client.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/oapi-codegen/nullable"

	"menus.example/client/menus"
)

// api is the generated client, which sends the token, and the records that the scenario works on.
type api struct {
	*menus.ClientWithResponses
	// plain sends none.
	plain                      *menus.ClientWithResponses
	token                      string
	locationID                 int64
	menuID, categoryID, itemID int64
	externalID                 string
	sushiID                    int64
	eggID, smallID, largeID    int64
}

func main() {
	log.SetFlags(0)
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	plain, err := menus.NewClientWithResponses(os.Getenv("API_URL"))
	if err != nil {
		return err
	}
	token, err := getToken(ctx, plain)
	if err != nil {
		return err
	}
	client, err := menus.NewClientWithResponses(os.Getenv("API_URL"), menus.WithRequestEditorFn(
		func(_ context.Context, request *http.Request) error {
			request.Header.Set("Authorization", "Bearer "+token)
			return nil
		}))
	if err != nil {
		return err
	}
	api := &api{ClientWithResponses: client, plain: plain, token: token}
	for _, step := range []func(context.Context) error{
		api.readClient, api.readLocation, api.readMenus, api.changePrice, api.toggleTwice, api.clearPhoto, api.writeItem,
		api.readMissingItem, api.sendFaultyChange, api.readPages, api.findItems, api.setAvailability, api.offerModifiers,
		api.setHours, api.priceSelections, api.readAvailability, api.readChanges, api.readEvents, api.registerWebhook, api.revokeToken,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func getToken(ctx context.Context, client *menus.ClientWithResponses) (string, error) {
	answer, err := client.IssueTokenWithFormdataBodyWithResponse(ctx, menus.TokenRequest{
		GrantType:    menus.TokenRequestGrantTypeClientCredentials,
		ClientID:     pointer(os.Getenv("CLIENT_ID")),
		ClientSecret: pointer(os.Getenv("CLIENT_SECRET")),
	})
	if err != nil {
		return "", err
	}
	if answer.JSON401 != nil {
		return "", fmt.Errorf("no token: %s", answer.JSON401.ErrorDescription)
	}
	if answer.JSON200 == nil {
		return "", unexpected(answer.HTTPResponse, answer.Body)
	}
	fmt.Printf("token %s for %d s\n", answer.JSON200.TokenType, answer.JSON200.ExpiresIn)
	return answer.JSON200.AccessToken, nil
}

func (api *api) readClient(ctx context.Context) error {
	answer, err := api.GetCurrentClientWithResponse(ctx)
	if err != nil {
		return err
	}
	if answer.JSON200 == nil {
		return unexpected(answer.HTTPResponse, answer.Body)
	}
	client := answer.JSON200.Data
	locations := "null"
	if !client.LocationIds.IsNull() {
		locations = fmt.Sprint(client.LocationIds.MustGet())
	}
	fmt.Printf("client %s scopes %s locations %s\n", client.ClientID, joined(client.Scopes, ","), locations)
	return nil
}

func (api *api) readLocation(ctx context.Context) error {
	list, err := api.ListLocationsWithResponse(ctx, nil)
	if err != nil {
		return err
	}
	if list.JSON200 == nil {
		return unexpected(list.HTTPResponse, list.Body)
	}
	location := list.JSON200.Data[0]
	address := "null"
	if !location.Address.IsNull() {
		address = location.Address.MustGet().Line1
	}
	fmt.Printf("location %d %s address %s\n", location.LocationID, location.Name, address)
	api.locationID = location.LocationID
	return nil
}

func (api *api) readMenus(ctx context.Context) error {
	list, err := api.ListMenusWithResponse(ctx, nil)
	if err != nil {
		return err
	}
	if list.JSON200 == nil {
		return unexpected(list.HTTPResponse, list.Body)
	}
	fmt.Printf("menus %d first %s\n", len(list.JSON200.Data), list.JSON200.Data[0].Name)
	whole, err := api.GetMenuWithResponse(ctx, list.JSON200.Data[0].MenuID, nil)
	if err != nil {
		return err
	}
	if whole.JSON200 == nil {
		return unexpected(whole.HTTPResponse, whole.Body)
	}
	menu := whole.JSON200.Data
	var items []menus.Item
	for _, category := range menu.Categories {
		items = append(items, category.Items...)
	}
	fmt.Printf("menu %d categories %d items %d\n", menu.MenuID, len(menu.Categories), len(items))
	api.menuID, api.categoryID, api.itemID = menu.MenuID, items[0].CategoryID, items[0].ItemID
	api.externalID = items[0].ExternalID.MustGet()
	return nil
}

func (api *api) changePrice(ctx context.Context) error {
	answer, err := api.UpdateItemWithResponse(ctx, api.menuID, api.itemID, nil, menus.ItemUpdate{Price: pointer(12.5)})
	if err != nil {
		return err
	}
	if answer.JSON200 == nil {
		return unexpected(answer.HTTPResponse, answer.Body)
	}
	item := answer.JSON200.Data
	fmt.Printf("updated item %d price %.2f version %d\n", item.ItemID, item.Price, item.Version)
	return nil
}

func (api *api) toggleTwice(ctx context.Context) error {
	params := menus.ToggleItemParams{IdempotencyKey: pointer(uuid.NewString())}
	first, err := api.ToggleItemWithResponse(ctx, api.menuID, api.itemID, &params)
	if err != nil {
		return err
	}
	if first.JSON200 == nil {
		return unexpected(first.HTTPResponse, first.Body)
	}
	second, err := api.ToggleItemWithResponse(ctx, api.menuID, api.itemID, &params)
	if err != nil {
		return err
	}
	replayed := "different"
	if reflect.DeepEqual(first.JSON200, second.JSON200) {
		replayed = "same"
	}
	item := first.JSON200.Data
	fmt.Printf("toggled item %d available %t version %d replayed %s\n", item.ItemID, item.IsAvailable, item.Version, replayed)
	return nil
}

func (api *api) clearPhoto(ctx context.Context) error {
	change := menus.ItemUpdate{PhotoURL: nullable.NewNullNullable[string]()}
	answer, err := api.UpdateItemWithResponse(ctx, api.menuID, api.itemID, nil, change)
	if err != nil {
		return err
	}
	if answer.JSON200 == nil {
		return unexpected(answer.HTTPResponse, answer.Body)
	}
	item := answer.JSON200.Data
	photo := "null"
	if !item.PhotoURL.IsNull() {
		photo = item.PhotoURL.MustGet()
	}
	fmt.Printf("cleared item %d photo %s version %d\n", item.ItemID, photo, item.Version)
	return nil
}

func (api *api) writeItem(ctx context.Context) error {
	created, err := api.CreateItemWithResponse(ctx, api.menuID, nil, menus.ItemCreate{
		CategoryID:       api.categoryID,
		Name:             "🍣 𠮷",
		Price:            0.07,
		ExternalID:       nullable.NewNullableWithValue("SUSHI-1"),
		UnavailableUntil: nullable.NewNullableWithValue(time.Date(2030, 1, 2, 2, 0, 0, 0, time.UTC)),
	})
	if err != nil {
		return err
	}
	if created.JSON201 == nil {
		return unexpected(created.HTTPResponse, created.Body)
	}
	item := created.JSON201.Data
	until := item.UnavailableUntil.MustGet().Unix()
	fmt.Printf("wrote item %d %s price %.2f until %d\n", item.ItemID, item.Name, item.Price, until)
	raised, err := api.UpdateItemWithResponse(ctx, api.menuID, item.ItemID, nil, menus.ItemUpdate{Price: pointer(4.35)})
	if err != nil {
		return err
	}
	if raised.JSON200 == nil {
		return unexpected(raised.HTTPResponse, raised.Body)
	}
	item = raised.JSON200.Data
	fmt.Printf("raised item %d price %.2f version %d\n", item.ItemID, item.Price, item.Version)
	api.sushiID = item.ItemID
	return nil
}

func (api *api) readMissingItem(ctx context.Context) error {
	answer, err := api.GetItemWithResponse(ctx, api.menuID, 999_999_999, nil)
	if err != nil {
		return err
	}
	problem := answer.ApplicationProblemJSON404
	if problem == nil {
		return unexpected(answer.HTTPResponse, answer.Body)
	}
	fmt.Println(problem.Status, problem.Code, problem.Title)
	return nil
}

func (api *api) sendFaultyChange(ctx context.Context) error {
	faulty := menus.ItemUpdate{Name: pointer(""), Price: pointer(-1.0)}
	answer, err := api.UpdateItemWithResponse(ctx, api.menuID, api.itemID, nil, faulty)
	if err != nil {
		return err
	}
	problem := answer.ApplicationProblemJSON422
	if problem == nil {
		return unexpected(answer.HTTPResponse, answer.Body)
	}
	var faults []string
	for _, fault := range *problem.Errors {
		faults = append(faults, fault.Field+" "+fault.Code)
	}
	fmt.Println(problem.Status, problem.Code, strings.Join(faults, ", "))
	return nil
}

func (api *api) readPages(ctx context.Context) error {
	params := menus.ListItemsParams{Limit: pointer[int32](20)}
	for pages, items := 1, 0; ; pages++ {
		page, err := api.ListItemsWithResponse(ctx, api.menuID, &params)
		if err != nil {
			return err
		}
		if page.JSON200 == nil {
			return unexpected(page.HTTPResponse, page.Body)
		}
		items += len(page.JSON200.Data)
		cursor := page.JSON200.NextCursor
		if cursor.IsNull() {
			fmt.Printf("pages %d items %d\n", pages, items)
			return nil
		}
		params.Cursor = pointer(cursor.MustGet())
	}
}

func (api *api) findItems(ctx context.Context) error {
	found, err := api.SearchItemsWithResponse(ctx, &menus.SearchItemsParams{ExternalID: &[]string{api.externalID, "SUSHI-1"}})
	if err != nil {
		return err
	}
	if found.JSON200 == nil {
		return unexpected(found.HTTPResponse, found.Body)
	}
	var ids []string
	for _, item := range found.JSON200.Data {
		ids = append(ids, fmt.Sprint(item.ItemID))
	}
	fmt.Printf("found items %s\n", strings.Join(ids, ", "))
	answer, err := api.GetItemByIDWithResponse(ctx, api.sushiID, nil)
	if err != nil {
		return err
	}
	if answer.JSON200 == nil {
		return unexpected(answer.HTTPResponse, answer.Body)
	}
	item := answer.JSON200.Data
	fmt.Printf("item %d external %s menu %d\n", item.ItemID, item.ExternalID.MustGet(), item.MenuID)
	return nil
}

func (api *api) setAvailability(ctx context.Context) error {
	answer, err := api.SetLocationAvailabilityWithResponse(ctx, api.locationID, nil, menus.LocationAvailabilityUpdate{
		Items: []menus.AvailabilityChange{
			{ExternalID: pointer("SUSHI-1"), IsAvailable: true},
			{ExternalID: pointer("SUSHI-2"), IsAvailable: false},
		},
	})
	if err != nil {
		return err
	}
	if answer.JSON200 == nil {
		return unexpected(answer.HTTPResponse, answer.Body)
	}
	var said []string
	for _, row := range answer.JSON200.Data {
		if row.Item.IsNull() {
			said = append(said, fmt.Sprintf("%s %s", row.ExternalID.MustGet(), row.Result))
			continue
		}
		item := row.Item.MustGet()
		said = append(said, fmt.Sprintf("%d %s available %t", item.ItemID, row.Result, item.IsAvailable))
	}
	fmt.Printf("set %s\n", strings.Join(said, ", "))
	return nil
}

func (api *api) offerModifiers(ctx context.Context) error {
	extras, err := api.createGroup(ctx, menus.ModifierGroupCreate{
		Name:      "Extras",
		Modifiers: &[]menus.ModifierCreate{{Name: "Egg", Price: pointer(0.07)}},
	})
	if err != nil {
		return err
	}
	size, err := api.createGroup(ctx, menus.ModifierGroupCreate{
		Name:          "Size",
		MinSelections: pointer[int32](1),
		MaxSelections: nullable.NewNullableWithValue[int32](1),
		Modifiers:     &[]menus.ModifierCreate{{Name: "Small", Price: pointer(0.0)}, {Name: "Large", Price: pointer(1.5)}},
	})
	if err != nil {
		return err
	}
	small, large := size.Modifiers[0], size.Modifiers[1]
	api.eggID, api.smallID, api.largeID = extras.Modifiers[0].ModifierID, small.ModifierID, large.ModifierID
	nesting, err := api.SetModifierModifierGroupsWithResponse(
		ctx, api.locationID, size.ModifierGroupID, large.ModifierID, nil, usesOf(extras))
	if err != nil {
		return err
	}
	if nesting.JSON200 == nil {
		return unexpected(nesting.HTTPResponse, nesting.Body)
	}
	modifier := nesting.JSON200.Data
	fmt.Printf("modifier %d offers group %d\n", modifier.ModifierID, modifier.ModifierGroups[0].ModifierGroupID)
	offering, err := api.SetItemModifierGroupsWithResponse(ctx, api.menuID, api.sushiID, nil, usesOf(size))
	if err != nil {
		return err
	}
	if offering.JSON200 == nil {
		return unexpected(offering.HTTPResponse, offering.Body)
	}
	item := offering.JSON200.Data
	fmt.Printf("item %d offers group %d version %d\n", item.ItemID, item.ModifierGroups[0].ModifierGroupID, item.Version)
	toggled, err := api.ToggleModifierWithResponse(ctx, api.locationID, size.ModifierGroupID, small.ModifierID, nil)
	if err != nil {
		return err
	}
	if toggled.JSON200 == nil {
		return unexpected(toggled.HTTPResponse, toggled.Body)
	}
	modifier = toggled.JSON200.Data
	fmt.Printf("toggled modifier %d available %t version %d\n", modifier.ModifierID, modifier.IsAvailable, modifier.Version)
	return nil
}

func (api *api) createGroup(ctx context.Context, wanted menus.ModifierGroupCreate) (menus.ModifierGroup, error) {
	answer, err := api.CreateModifierGroupWithResponse(ctx, api.locationID, nil, wanted)
	if err != nil {
		return menus.ModifierGroup{}, err
	}
	if answer.JSON201 == nil {
		return menus.ModifierGroup{}, unexpected(answer.HTTPResponse, answer.Body)
	}
	group := answer.JSON201.Data
	most := "null"
	if !group.MaxSelections.IsNull() {
		most = fmt.Sprint(group.MaxSelections.MustGet())
	}
	var modifiers []string
	for _, modifier := range group.Modifiers {
		modifiers = append(modifiers, fmt.Sprintf("%s %.2f", modifier.Name, modifier.Price))
	}
	fmt.Printf("group %d %s min %d max %s: %s\n",
		group.ModifierGroupID, group.Name, group.MinSelections, most, strings.Join(modifiers, ", "))
	return group, nil
}

func usesOf(group menus.ModifierGroup) menus.ModifierGroupUsesUpdate {
	use := menus.ModifierGroupUseInput{ModifierGroupID: group.ModifierGroupID}
	return menus.ModifierGroupUsesUpdate{ModifierGroups: []menus.ModifierGroupUseInput{use}}
}

func (api *api) priceSelections(ctx context.Context) error {
	withEgg := menus.ModifierSelection{
		ModifierID: api.largeID,
		Selections: &[]menus.ModifierSelection{{ModifierID: api.eggID}},
	}
	for _, selection := range []menus.ItemSelection{
		{Quantity: pointer[int32](2), Selections: &[]menus.ModifierSelection{withEgg}},
		{Selections: &[]menus.ModifierSelection{{ModifierID: api.smallID}}},
	} {
		selection.At = pointer("2030-01-05T23:30")
		answer, err := api.PriceSelectionWithResponse(ctx, api.menuID, api.sushiID, selection)
		if err != nil {
			return err
		}
		if answer.JSON200 == nil {
			return unexpected(answer.HTTPResponse, answer.Body)
		}
		price := answer.JSON200.Data
		var said []string
		for _, line := range price.Lines {
			said = append(said, fmt.Sprintf("%s %s %.2f", line.Pointer, line.Name, line.TotalPrice))
		}
		for _, problem := range price.Problems {
			said = append(said, problem.Pointer+" "+problem.Code)
		}
		fmt.Printf("price of item %d %.2f total %.2f %s orderable %t: %s\n",
			price.ItemID, price.UnitPrice, price.TotalPrice, price.Currency, price.IsOrderable, strings.Join(said, ", "))
	}
	return nil
}

func (api *api) setHours(ctx context.Context) error {
	nights := menus.WeeklyWindow{Days: []menus.Weekday{menus.WeekdayFri, menus.WeekdaySat}, From: "22:00", Minutes: 240}
	changed, err := api.UpdateMenuWithResponse(ctx, api.menuID, nil, menus.MenuUpdate{
		Hours: nullable.NewNullableWithValue(menus.HoursInput{
			Weekly: []menus.WeeklyWindow{nights},
			Dates:  &[]menus.HoursOfDate{{Date: "2030-01-04", Windows: []menus.HoursWindow{}}},
		}),
	})
	if err != nil {
		return err
	}
	if changed.JSON200 == nil {
		return unexpected(changed.HTTPResponse, changed.Body)
	}
	menu := changed.JSON200.Data
	var closed []string
	for _, date := range menu.Hours.MustGet().Dates {
		if len(date.Windows) == 0 {
			closed = append(closed, date.Date)
		}
	}
	fmt.Printf("hours of menu %d %s, %s closed\n", menu.MenuID, firstWindow(menu.Hours.MustGet()), strings.Join(closed, ","))
	late := menus.WeeklyWindow{Days: []menus.Weekday{menus.WeekdaySat}, From: "23:00", Minutes: 60}
	answer, err := api.UpdateItemWithResponse(ctx, api.menuID, api.sushiID, nil, menus.ItemUpdate{
		Hours: nullable.NewNullableWithValue(menus.ItemHoursInput{Weekly: []menus.WeeklyWindow{late}}),
	})
	if err != nil {
		return err
	}
	if answer.JSON200 == nil {
		return unexpected(answer.HTTPResponse, answer.Body)
	}
	item := answer.JSON200.Data
	fmt.Printf("hours of item %d %s\n", item.ItemID, firstWindow(item.Hours.MustGet()))
	return nil
}

func firstWindow(hours menus.Hours) string {
	window := hours.Weekly[0]
	return fmt.Sprintf("%s %s for %d min", joined(window.Days, ","), window.From, window.Minutes)
}

func (api *api) readAvailability(ctx context.Context) error {
	answer, err := api.GetAvailabilityWithResponse(ctx, api.menuID, &menus.GetAvailabilityParams{At: pointer("2030-01-05T22:30")})
	if err != nil {
		return err
	}
	if answer.JSON200 == nil {
		return unexpected(answer.HTTPResponse, answer.Body)
	}
	availability := answer.JSON200.Data
	items := map[int64]menus.ItemAvailability{}
	for _, item := range availability.Items {
		items[item.ItemID] = item
	}
	off, late := items[api.itemID], items[api.sushiID]
	fmt.Printf("orderable menu %d %t, item %d %s by %s, item %d %s until %d\n",
		availability.MenuID, availability.IsOrderable,
		off.ItemID, codes(off), off.Reasons[0].UnavailableBy.MustGet(),
		late.ItemID, codes(late), late.NextChangeAt.MustGet().Unix())
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
		list, err := api.ListMenusWithResponse(ctx, &menus.ListMenusParams{UpdatedSince: &since})
		if err != nil {
			return err
		}
		if list.JSON200 == nil {
			return unexpected(list.HTTPResponse, list.Body)
		}
		changed = append(changed, len(list.JSON200.Data))
	}
	fmt.Printf("changed menus %d since 2020, %d since 2099\n", changed[0], changed[1])
	return nil
}

func (api *api) readEvents(ctx context.Context) error {
	page, err := eventually(func() (*menus.ListEventsResponse, bool, error) {
		page, err := api.ListEventsWithResponse(ctx, &menus.ListEventsParams{
			Type: &menus.EventTypesFilter{menus.EventTypeFilterItemUpdated, menus.EventTypeFilterItemToggled},
		})
		if err != nil {
			return nil, false, err
		}
		if page.JSON200 == nil {
			return nil, false, unexpected(page.HTTPResponse, page.Body)
		}
		return page, len(page.JSON200.Data) >= 7, nil
	})
	if err != nil {
		return err
	}
	var said []string
	for _, payload := range page.JSON200.Data {
		value, err := payload.ValueByDiscriminator()
		if err != nil {
			return err
		}
		switch event := value.(type) {
		case menus.ItemUpdatedEvent:
			said = append(said, fmt.Sprintf("%s %d version %d", event.Type, event.Data.ItemID, event.Data.Version))
		case menus.ItemToggledEvent:
			said = append(said, fmt.Sprintf("%s %d available %t", event.Type, event.Data.ItemID, event.Data.IsAvailable))
		}
	}
	fmt.Printf("events %s\n", strings.Join(said, ", "))
	feed, err := api.ListEventsWithResponse(ctx, &menus.ListEventsParams{Limit: pointer[int32](200)})
	if err != nil {
		return err
	}
	if feed.JSON200 == nil {
		return unexpected(feed.HTTPResponse, feed.Body)
	}
	fmt.Printf("feed %d\n", len(feed.JSON200.Data))
	return nil
}

func (api *api) registerWebhook(ctx context.Context) error {
	answer, err := api.CreateWebhookWithResponse(ctx, nil, menus.WebhookCreate{
		URL:        os.Getenv("WEBHOOK_URL"),
		EventTypes: &[]menus.EventTypeFilter{menus.EventTypeFilterItem, menus.EventTypeFilterMenuToggled},
	})
	if err != nil {
		return err
	}
	if answer.JSON201 == nil {
		return unexpected(answer.HTTPResponse, answer.Body)
	}
	webhook := answer.JSON201.Data
	fmt.Printf("webhook %d events %s\n", webhook.WebhookID, joined(webhook.EventTypes, ","))
	return nil
}

func (api *api) revokeToken(ctx context.Context) error {
	revoked, err := api.plain.RevokeTokenWithFormdataBodyWithResponse(ctx, menus.TokenRevocation{
		Token:        api.token,
		ClientID:     pointer(os.Getenv("CLIENT_ID")),
		ClientSecret: pointer(os.Getenv("CLIENT_SECRET")),
	})
	if err != nil {
		return err
	}
	if revoked.StatusCode() != http.StatusOK {
		return unexpected(revoked.HTTPResponse, revoked.Body)
	}
	refused, err := eventually(func() (*menus.GetCurrentClientResponse, bool, error) {
		answer, err := api.GetCurrentClientWithResponse(ctx)
		return answer, err == nil && answer.ApplicationProblemJSON401 != nil, err
	})
	if err != nil {
		return err
	}
	fmt.Println("revoked", refused.ApplicationProblemJSON401.Status, refused.ApplicationProblemJSON401.Code)
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

func unexpected(response *http.Response, body []byte) error {
	return fmt.Errorf("%s %s: %s %s", response.Request.Method, response.Request.URL, response.Status, body)
}

func joined[T ~string](values []T, separator string) string {
	var texts []string
	for _, value := range values {
		texts = append(texts, string(value))
	}
	return strings.Join(texts, separator)
}

// pointer is for optional fields.
func pointer[T any](value T) *T { return &value }
