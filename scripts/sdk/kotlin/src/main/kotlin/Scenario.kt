import java.net.URI
import java.util.Locale
import java.util.UUID
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.encodeToJsonElement
import kotlinx.serialization.json.jsonObject
import menus.apis.AuthenticationApi
import menus.apis.EventsApi
import menus.apis.ItemsApi
import menus.apis.MenusApi
import menus.apis.WebhooksApi
import menus.infrastructure.ApiClient
import menus.infrastructure.ClientError
import menus.infrastructure.ClientException
import menus.infrastructure.RequestConfig
import menus.infrastructure.Serializer
import menus.infrastructure.ServerException
import menus.infrastructure.Success
import menus.models.EventTypeFilter
import menus.models.Item
import menus.models.ItemResponse
import menus.models.ItemUpdate
import menus.models.MenuDetail
import menus.models.Problem
import menus.models.WebhookCreate
import menus.models.WebhookPayload

/** Calls the service through the generated client. */
fun main() {
    // The generated default sends null, which clears a field, for every field that was not set; without it, none.
    Serializer.kotlinxSerializationJsonConfiguration = { encodeDefaults = false }
    ApiClient.accessToken = getToken()
    val menu = firstMenu()
    Scenario(menu, menu.categories.first().items.first()).run {
        changePrice()
        toggleTwice()
        clearPhoto()
        readMissingItem()
        sendFaultyChange()
        readPages()
    }
    readEvents()
    registerWebhook()
}

private val url = System.getenv("API_URL")

private fun getToken(): String {
    val token = AuthenticationApi(url).issueToken(
        AuthenticationApi.GrantTypeIssueToken.CLIENT_CREDENTIALS,
        clientId = System.getenv("CLIENT_ID"),
        clientSecret = System.getenv("CLIENT_SECRET"),
    )
    println("token ${token.tokenType.value} for ${token.expiresIn} s")
    return token.accessToken
}

private fun firstMenu(): MenuDetail {
    val api = MenusApi(url)
    val menus = api.listMenus().data
    println("menus ${menus.size} first ${menus.first().name}")
    val menu = api.getMenu(menus.first().menuId).data
    val items = menu.categories.sumOf { it.items.size }
    println("menu ${menu.menuId} categories ${menu.categories.size} items $items")
    return menu
}

/** An [ItemUpdate] leaves every null out; this sends one for each field to clear. */
private class ClearingItemsApi(url: String) : ItemsApi(url) {
    fun updateItem(menuId: Long, itemId: Long, change: ItemUpdate, clear: Set<String>): ItemResponse {
        val fields = Serializer.kotlinxSerializationJson.encodeToJsonElement(change).jsonObject
        val body = JsonObject(fields + clear.associateWith { JsonNull })
        val config = updateItemRequestConfig(menuId, itemId, change, ifMatch = null).run {
            RequestConfig(method, path, headers, params, query, requiresAuthentication, body)
        }
        return when (val answer = request<JsonObject, ItemResponse>(config)) {
            is Success -> checkNotNull(answer.data)
            is ClientError -> throw ClientException(answer.message, answer.statusCode, answer)
            else -> throw ServerException("status ${answer.statusCode}", answer.statusCode, answer)
        }
    }
}

private class Scenario(val menu: MenuDetail, val item: Item) {
    val api = ClearingItemsApi(url)

    fun changePrice() {
        val changed = api.updateItem(menu.menuId, item.itemId, ItemUpdate(price = 12.5)).data
        val price = "%.2f".format(Locale.ROOT, changed.price)
        println("updated item ${changed.itemId} price $price version ${changed.version}")
    }

    fun toggleTwice() {
        val key = UUID.randomUUID().toString()
        val first = api.toggleItem(menu.menuId, item.itemId, idempotencyKey = key).data
        val second = api.toggleItem(menu.menuId, item.itemId, idempotencyKey = key).data
        val replayed = if (first == second) "same" else "different"
        println("toggled item ${first.itemId} available ${first.isAvailable} version ${first.version} replayed $replayed")
    }

    fun clearPhoto() {
        val changed = api.updateItem(menu.menuId, item.itemId, ItemUpdate(), clear = setOf("photo_url")).data
        println("cleared item ${changed.itemId} photo ${changed.photoUrl} version ${changed.version}")
    }

    fun readMissingItem() {
        val problem = problemOf { api.getItem(menu.menuId, 999_999_999) }
        println("${problem.status} ${problem.code} ${problem.title}")
    }

    fun sendFaultyChange() {
        val problem = problemOf { api.updateItem(menu.menuId, item.itemId, ItemUpdate(name = "", price = -1.0)) }
        val faults = problem.errors.orEmpty().joinToString { "${it.`field`} ${it.code}" }
        println("${problem.status} ${problem.code} $faults")
    }

    fun readPages() {
        val pages = generateSequence(api.listItems(menu.menuId, limit = 20)) { page ->
            page.nextCursor?.let { api.listItems(menu.menuId, limit = 20, cursor = it) }
        }.toList()
        println("pages ${pages.size} items ${pages.sumOf { it.`data`.size }}")
    }
}

private fun readEvents() {
    val kinds = setOf(EventTypeFilter.ITEM_UPDATED, EventTypeFilter.ITEM_TOGGLED)
    val said = EventsApi(url).listEvents(type = kinds).`data`.mapNotNull { event ->
        when (event) {
            is WebhookPayload.ItemupdatedWrapper ->
                event.value.data.run { "item.updated $itemId version $version" }
            is WebhookPayload.ItemtoggledWrapper ->
                event.value.data.run { "item.toggled $itemId available $isAvailable" }
            else -> null
        }
    }
    println("events ${said.joinToString()}")
}

private fun registerWebhook() {
    val wanted = WebhookCreate(
        url = URI(System.getenv("WEBHOOK_URL")),
        eventTypes = linkedSetOf(EventTypeFilter.ITEM_ALL, EventTypeFilter.MENU_TOGGLED),
    )
    val webhook = WebhooksApi(url).createWebhook(wanted).data
    println("webhook ${webhook.webhookId} events ${webhook.eventTypes.joinToString(",") { it.value }}")
}

/** The client throws what it was answered as text; its serializer reads the type. */
private fun problemOf(call: () -> Unit): Problem {
    try {
        call()
    } catch (refused: ClientException) {
        val body = (refused.response as ClientError<*>).body as String
        return Serializer.kotlinxSerializationJson.decodeFromString(body)
    }
    error("the call was accepted")
}
