import java.net.URI
import java.time.OffsetDateTime
import java.util.Locale
import java.util.UUID
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.encodeToJsonElement
import kotlinx.serialization.json.jsonObject
import menus.apis.AuthenticationApi
import menus.apis.EventsApi
import menus.apis.ItemsApi
import menus.apis.LocationsApi
import menus.apis.MenusApi
import menus.apis.ModifiersApi
import menus.apis.WebhooksApi
import menus.infrastructure.ApiClient
import menus.infrastructure.ClientError
import menus.infrastructure.ClientException
import menus.infrastructure.RequestConfig
import menus.infrastructure.Serializer
import menus.infrastructure.ServerException
import menus.infrastructure.Success
import menus.models.AvailabilityChange
import menus.models.EventTypeFilter
import menus.models.Hours
import menus.models.HoursInput
import menus.models.HoursOfDate
import menus.models.Item
import menus.models.ItemAvailability
import menus.models.ItemCreate
import menus.models.ItemHoursInput
import menus.models.ItemResponse
import menus.models.ItemSelection
import menus.models.ItemUpdate
import menus.models.Location
import menus.models.LocationAvailabilityUpdate
import menus.models.MenuDetail
import menus.models.MenuUpdate
import menus.models.Modifier
import menus.models.ModifierCreate
import menus.models.ModifierGroup
import menus.models.ModifierGroupCreate
import menus.models.ModifierGroupUseInput
import menus.models.ModifierGroupUsesUpdate
import menus.models.ModifierSelection
import menus.models.Problem
import menus.models.WebhookCreate
import menus.models.WebhookPayload
import menus.models.Weekday
import menus.models.WeeklyWindow

/** Calls the service through the generated client. */
fun main() {
    // The generated default sends null, which clears a field, for every field that was not set; without it, none.
    Serializer.kotlinxSerializationJsonConfiguration = { encodeDefaults = false }
    ApiClient.accessToken = getToken()
    readClient()
    val location = readLocation()
    val menu = firstMenu()
    Scenario(location, menu, menu.categories.first().items.first()).run {
        changePrice()
        toggleTwice()
        clearPhoto()
        writeItem()
        readMissingItem()
        sendFaultyChange()
        readPages()
        findItems()
        setAvailability()
        offerModifiers()
        setHours()
        priceSelections()
        readAvailability()
    }
    readChanges()
    readEvents()
    registerWebhook()
    revokeToken()
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

private fun readClient() {
    val client = AuthenticationApi(url).getCurrentClient().data
    println("client ${client.clientId} scopes ${client.scopes.joinToString(",") { it.value }} locations ${client.locationIds}")
}

private fun readLocation(): Location {
    val location = LocationsApi(url).listLocations().data.first()
    println("location ${location.locationId} ${location.name} address ${location.address?.line1}")
    return location
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

private class Scenario(val location: Location, val menu: MenuDetail, val item: Item) {
    val api = ClearingItemsApi(url)
    val modifiersApi = ModifiersApi(url)
    lateinit var sushi: Item
    lateinit var egg: Modifier
    lateinit var small: Modifier
    lateinit var large: Modifier

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

    fun writeItem() {
        val wanted = ItemCreate(
            categoryId = item.categoryId,
            name = "🍣 𠮷",
            price = 0.07,
            externalId = "SUSHI-1",
            unavailableUntil = OffsetDateTime.parse("2030-01-02T02:00:00Z"),
        )
        val created = api.createItem(menu.menuId, wanted).data
        val until = created.unavailableUntil?.toEpochSecond()
        println("wrote item ${created.itemId} ${created.name} price ${created.price} until $until")
        sushi = api.updateItem(menu.menuId, created.itemId, ItemUpdate(price = 4.35)).data
        println("raised item ${sushi.itemId} price ${sushi.price} version ${sushi.version}")
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

    fun findItems() {
        val found = api.searchItems(externalId = setOfNotNull(item.externalId, sushi.externalId)).`data`
        println("found items ${found.joinToString { it.itemId.toString() }}")
        val same = api.getItemById(sushi.itemId).data
        println("item ${same.itemId} external ${same.externalId} menu ${same.menuId}")
    }

    fun setAvailability() {
        val update = LocationAvailabilityUpdate(
            items = listOf(
                AvailabilityChange(externalId = "SUSHI-1", isAvailable = true),
                AvailabilityChange(externalId = "SUSHI-2", isAvailable = false),
            ),
        )
        val said = api.setLocationAvailability(location.locationId, update).`data`.joinToString { row ->
            row.item?.run { "$itemId ${row.result.value} available $isAvailable" } ?: "${row.externalId} ${row.result.value}"
        }
        println("set $said")
    }

    fun offerModifiers() {
        val extras = createGroup(
            ModifierGroupCreate(name = "Extras", modifiers = listOf(ModifierCreate(name = "Egg", price = 0.07))),
        )
        val size = createGroup(
            ModifierGroupCreate(
                name = "Size",
                minSelections = 1,
                maxSelections = 1,
                modifiers = listOf(ModifierCreate(name = "Small", price = 0.0), ModifierCreate(name = "Large", price = 1.5)),
            ),
        )
        egg = extras.modifiers.first()
        small = size.modifiers.first()
        large = size.modifiers.last()
        val nesting = modifiersApi.setModifierModifierGroups(
            location.locationId, size.modifierGroupId, large.modifierId, usesOf(extras),
        ).data
        println("modifier ${nesting.modifierId} offers group ${nesting.modifierGroups.first().modifierGroupId}")
        val offering = modifiersApi.setItemModifierGroups(menu.menuId, sushi.itemId, usesOf(size)).data
        val groupId = offering.modifierGroups.first().modifierGroupId
        println("item ${offering.itemId} offers group $groupId version ${offering.version}")
        val toggled = modifiersApi.toggleModifier(location.locationId, size.modifierGroupId, small.modifierId).data
        println("toggled modifier ${toggled.modifierId} available ${toggled.isAvailable} version ${toggled.version}")
    }

    fun createGroup(wanted: ModifierGroupCreate): ModifierGroup {
        val group = modifiersApi.createModifierGroup(location.locationId, wanted).data
        val modifiers = group.modifiers.joinToString { "${it.name} ${"%.2f".format(Locale.ROOT, it.price)}" }
        println("group ${group.modifierGroupId} ${group.name} min ${group.minSelections} max ${group.maxSelections}: $modifiers")
        return group
    }

    fun usesOf(group: ModifierGroup) =
        ModifierGroupUsesUpdate(modifierGroups = listOf(ModifierGroupUseInput(group.modifierGroupId)))

    fun priceSelections() {
        val withEgg = ModifierSelection(large.modifierId, selections = listOf(ModifierSelection(egg.modifierId)))
        priceSelection(ItemSelection(quantity = 2, selections = listOf(withEgg), at = "2030-01-05T23:30"))
        val only = ModifierSelection(small.modifierId)
        priceSelection(ItemSelection(selections = listOf(only), at = "2030-01-05T23:30"))
    }

    fun priceSelection(selection: ItemSelection) {
        val price = api.priceSelection(menu.menuId, sushi.itemId, selection).data
        val said = price.lines.map { "${it.pointer} ${it.name} ${"%.2f".format(Locale.ROOT, it.totalPrice)}" } +
            price.problems.map { "${it.pointer} ${it.code}" }
        val amounts = "%.2f total %.2f".format(Locale.ROOT, price.unitPrice, price.totalPrice)
        println(
            "price of item ${price.itemId} $amounts ${price.currency} orderable ${price.isOrderable}: ${said.joinToString()}",
        )
    }

    fun setHours() {
        val nights = WeeklyWindow(days = linkedSetOf(Weekday.FRI, Weekday.SAT), from = "22:00", minutes = 240)
        val closed = HoursOfDate(date = "2030-01-04", windows = listOf())
        val hours = HoursInput(weekly = listOf(nights), dates = listOf(closed))
        val timed = MenusApi(url).updateMenu(menu.menuId, MenuUpdate(hours = hours)).data
        val dates = timed.hours?.dates.orEmpty().filter { it.windows.isEmpty() }.joinToString(",") { it.date }
        println("hours of menu ${timed.menuId} ${firstWindow(timed.hours)}, $dates closed")
        val late = WeeklyWindow(days = setOf(Weekday.SAT), from = "23:00", minutes = 60)
        val change = ItemUpdate(hours = ItemHoursInput(weekly = listOf(late)))
        val changed = api.updateItem(menu.menuId, sushi.itemId, change).data
        println("hours of item ${changed.itemId} ${firstWindow(changed.hours)}")
    }

    fun firstWindow(hours: Hours?) = hours?.weekly?.first()?.run {
        "${days.joinToString(",") { it.value }} $from for $minutes min"
    }

    fun readAvailability() {
        val availability = MenusApi(url).getAvailability(menu.menuId, at = "2030-01-05T22:30").data
        val (off, late) = listOf(item, sushi).map { wanted -> availability.items.first { it.itemId == wanted.itemId } }
        println(
            listOf(
                "orderable menu ${availability.menuId} ${availability.isOrderable}",
                "item ${off.itemId} ${codes(off)} by ${off.reasons.first().unavailableBy}",
                "item ${late.itemId} ${codes(late)} until ${late.nextChangeAt?.toEpochSecond()}",
            ).joinToString(),
        )
    }

    fun codes(item: ItemAvailability) = item.reasons.joinToString("+") { it.code }
}

private fun readChanges() {
    val (changed, later) = listOf(2020, 2099).map { year ->
        MenusApi(url).listMenus(updatedSince = OffsetDateTime.parse("$year-01-01T00:00:00Z")).`data`.size
    }
    println("changed menus $changed since 2020, $later since 2099")
}

private fun readEvents() {
    val kinds = setOf(EventTypeFilter.ITEM_UPDATED, EventTypeFilter.ITEM_TOGGLED)
    val events = eventually { EventsApi(url).listEvents(type = kinds).`data`.takeIf { it.size >= 7 } }
    val said = events.mapNotNull { event ->
        when (event) {
            is WebhookPayload.ItemupdatedWrapper ->
                event.value.data.run { "item.updated $itemId version $version" }
            is WebhookPayload.ItemtoggledWrapper ->
                event.value.data.run { "item.toggled $itemId available $isAvailable" }
            else -> null
        }
    }
    println("events ${said.joinToString()}")
    println("feed ${EventsApi(url).listEvents(limit = 200).`data`.size}")
}

private fun registerWebhook() {
    val wanted = WebhookCreate(
        url = URI(System.getenv("WEBHOOK_URL")),
        eventTypes = linkedSetOf(EventTypeFilter.ITEM_ALL, EventTypeFilter.MENU_TOGGLED),
    )
    val webhook = WebhooksApi(url).createWebhook(wanted).data
    println("webhook ${webhook.webhookId} events ${webhook.eventTypes.joinToString(",") { it.value }}")
}

private fun revokeToken() {
    val api = AuthenticationApi(url)
    val token = checkNotNull(ApiClient.accessToken)
    api.revokeToken(token, clientId = System.getenv("CLIENT_ID"), clientSecret = System.getenv("CLIENT_SECRET"))
    val problem = eventually { refusalOf { api.getCurrentClient() } }
    println("revoked ${problem.status} ${problem.code}")
}

/** Repeats a call until it gives something: events and revocations take a moment. */
private fun <T : Any> eventually(call: () -> T?): T {
    repeat(200) {
        call()?.let { return it }
        Thread.sleep(50)
    }
    error("the answer is not as wanted after ten seconds")
}

private fun problemOf(call: () -> Unit): Problem = refusalOf(call) ?: error("the call was accepted")

/** The client throws what it was answered as text; its serializer reads the type. */
private fun refusalOf(call: () -> Unit): Problem? {
    try {
        call()
    } catch (refused: ClientException) {
        val body = (refused.response as ClientError<*>).body as String
        return Serializer.kotlinxSerializationJson.decodeFromString(body)
    }
    return null
}
