import java.net.URI
import java.util.Locale
import java.util.UUID
import menus.apis.AuthenticationApi
import menus.apis.ItemsApi
import menus.apis.MenusApi
import menus.apis.WebhooksApi
import menus.infrastructure.ApiClient
import menus.infrastructure.ClientError
import menus.infrastructure.ClientException
import menus.infrastructure.Serializer
import menus.models.EventTypeFilter
import menus.models.Item
import menus.models.ItemUpdate
import menus.models.MenuDetail
import menus.models.Problem
import menus.models.WebhookCreate

/** Calls the service through the generated client. */
fun main() {
    // The generated default sends null, which clears a field, for every field that was not set.
    Serializer.kotlinxSerializationJsonConfiguration = { encodeDefaults = false }
    ApiClient.accessToken = getToken()
    val menu = firstMenu()
    Scenario(menu, menu.categories.first().items.first()).run {
        changePrice()
        toggleTwice()
        readMissingItem()
        sendFaultyChange()
        readPages()
    }
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

private class Scenario(val menu: MenuDetail, val item: Item) {
    val api = ItemsApi(url)

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
