// Command scenario calls the service through the generated client.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"reflect"
	"strings"

	"github.com/google/uuid"
	"github.com/oapi-codegen/nullable"

	"menus.example/client/menus"
)

// api is the generated client and the item that the scenario works on.
type api struct {
	*menus.ClientWithResponses
	menuID, itemID int64
}

func main() {
	log.SetFlags(0)
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	token, err := getToken(ctx)
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
	api := &api{ClientWithResponses: client}
	for _, step := range []func(context.Context) error{
		api.readMenus, api.changePrice, api.toggleTwice, api.clearPhoto, api.readMissingItem, api.sendFaultyChange,
		api.readPages, api.readEvents, api.registerWebhook,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func getToken(ctx context.Context) (string, error) {
	client, err := menus.NewClientWithResponses(os.Getenv("API_URL"))
	if err != nil {
		return "", err
	}
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
	api.menuID, api.itemID = menu.MenuID, items[0].ItemID
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

func (api *api) readEvents(ctx context.Context) error {
	page, err := api.ListEventsWithResponse(ctx, &menus.ListEventsParams{
		Type: &menus.EventTypesFilter{menus.EventTypeFilterItemUpdated, menus.EventTypeFilterItemToggled},
	})
	if err != nil {
		return err
	}
	if page.JSON200 == nil {
		return unexpected(page.HTTPResponse, page.Body)
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
	var kinds []string
	for _, kind := range webhook.EventTypes {
		kinds = append(kinds, string(kind))
	}
	fmt.Printf("webhook %d events %s\n", webhook.WebhookID, strings.Join(kinds, ","))
	return nil
}

func unexpected(response *http.Response, body []byte) error {
	return fmt.Errorf("%s %s: %s %s", response.Request.Method, response.Request.URL, response.Status, body)
}

// pointer is for optional fields.
func pointer[T any](value T) *T { return &value }
