# frozen_string_literal: true

require 'menus'
require 'securerandom'
require 'uri'

# Calls the service through the generated client.
class Scenario
  def initialize
    url = URI(ENV.fetch('API_URL'))
    config = Menus::Configuration.default
    config.scheme = url.scheme
    config.host = "#{url.host}:#{url.port}"
    config.base_path = url.path
    # Otherwise the URL of the document is called.
    config.server_index = nil
    # Otherwise a list of values is sent as type[0]=….
    config.params_encoding = :multi
    config.access_token = token
    @authentication = Menus::AuthenticationApi.new
    @items = Menus::ItemsApi.new
    @menus = Menus::MenusApi.new
    @modifiers = Menus::ModifiersApi.new
  end

  def run
    read_client
    @location = read_location
    @menu = first_menu
    @item = @menu.categories.first.items.first
    change_price
    toggle_twice
    clear_photo
    @sushi = write_item
    read_missing_item
    send_faulty_change
    read_pages
    find_items
    set_availability
    offered = offer_modifiers
    set_hours
    price_selections(*offered)
    read_availability
    read_changes
    read_events
    register_webhook
    revoke_token
  end

  private

  def credentials
    { client_id: ENV.fetch('CLIENT_ID'), client_secret: ENV.fetch('CLIENT_SECRET') }
  end

  def token
    token = Menus::AuthenticationApi.new.issue_token('client_credentials', credentials)
    puts "token #{token.token_type} for #{token.expires_in} s"
    token.access_token
  end

  def read_client
    client = @authentication.get_current_client.data
    puts "client #{client.client_id} scopes #{client.scopes.join(',')} locations #{client.location_ids || 'null'}"
  end

  def read_location
    location = Menus::LocationsApi.new.list_locations.data.first
    puts "location #{location.location_id} #{location.name} address #{location.address&.line1 || 'null'}"
    location
  end

  def first_menu
    menus = @menus.list_menus.data
    puts "menus #{menus.size} first #{menus.first.name}"
    menu = @menus.get_menu(menus.first.menu_id).data
    items = menu.categories.sum { |category| category.items.size }
    puts "menu #{menu.menu_id} categories #{menu.categories.size} items #{items}"
    menu
  end

  def change_price
    item = update(@item, Menus::ItemUpdate.new(price: 12.5))
    puts "updated item #{item.item_id} price #{format('%.2f', item.price)} version #{item.version}"
  end

  def toggle_twice
    key = SecureRandom.uuid
    first, again = Array.new(2) { @items.toggle_item(@item.menu_id, @item.item_id, idempotency_key: key).data }
    replayed = first == again ? 'same' : 'different'
    puts "toggled item #{first.item_id} available #{first.is_available} version #{first.version} replayed #{replayed}"
  end

  def clear_photo
    item = update(@item, Menus::ItemUpdate.new(photo_url: nil))
    puts "cleared item #{item.item_id} photo #{item.photo_url || 'null'} version #{item.version}"
  end

  def write_item
    wanted = Menus::ItemCreate.new(
      category_id: @item.category_id, name: '🍣 𠮷', price: 0.07, external_id: 'SUSHI-1',
      unavailable_until: DateTime.new(2030, 1, 2, 2)
    )
    item = @items.create_item(@item.menu_id, wanted).data
    price = format('%.2f', item.price)
    puts "wrote item #{item.item_id} #{item.name} price #{price} until #{item.unavailable_until.to_i}"
    raised = update(item, Menus::ItemUpdate.new(price: 4.35))
    puts "raised item #{raised.item_id} price #{format('%.2f', raised.price)} version #{raised.version}"
    raised
  end

  def read_missing_item
    error = error_of { @items.get_item(@menu.menu_id, 999_999_999) }
    puts "#{error.status} #{error.code} #{error.title}"
  end

  def send_faulty_change
    # The model refuses both; its own class is not asked here.
    error = error_of do
      @items.update_item(@item.menu_id, @item.item_id, Menus::ItemUpdate.new, debug_body: { name: '', price: -1 }.to_json)
    end
    faults = error.errors.map { |fault| "#{fault.field} #{fault.code}" }
    puts "#{error.status} #{error.code} #{faults.join(', ')}"
  end

  def read_pages
    pages = items = 0
    cursor = nil
    loop do
      page = @items.list_items(@menu.menu_id, { limit: 20, cursor: cursor }.compact)
      pages += 1
      items += page.data.size
      cursor = page.next_cursor
      break if cursor.nil?
    end
    puts "pages #{pages} items #{items}"
  end

  def find_items
    found = @items.search_items(external_id: [@item.external_id, @sushi.external_id]).data
    puts "found items #{found.map(&:item_id).join(', ')}"
    item = @items.get_item_by_id(@sushi.item_id).data
    puts "item #{item.item_id} external #{item.external_id} menu #{item.menu_id}"
  end

  def set_availability
    rows = { 'SUSHI-1' => true, 'SUSHI-2' => false }.map do |external_id, is_available|
      Menus::AvailabilityChange.new(external_id: external_id, is_available: is_available)
    end
    update = Menus::LocationAvailabilityUpdate.new(items: rows)
    results = @items.set_location_availability(@location.location_id, update).data
    said = results.map do |row|
      row.item ? "#{row.item.item_id} #{row.result} available #{row.item.is_available}" : "#{row.external_id} #{row.result}"
    end
    puts "set #{said.join(', ')}"
  end

  def offer_modifiers
    egg, small, large = { 'Egg' => 0.07, 'Small' => 0, 'Large' => 1.5 }.map do |name, price|
      Menus::ModifierCreate.new(name: name, price: price)
    end
    extras = create_group(name: 'Extras', modifiers: [egg])
    size = create_group(name: 'Size', min_selections: 1, max_selections: 1, modifiers: [small, large])
    small, large = size.modifiers
    path = [@location.location_id, size.modifier_group_id]
    modifier = @modifiers.set_modifier_modifier_groups(*path, large.modifier_id, uses_of(extras)).data
    puts "modifier #{modifier.modifier_id} offers group #{modifier.modifier_groups.first.modifier_group_id}"
    item = @modifiers.set_item_modifier_groups(@sushi.menu_id, @sushi.item_id, uses_of(size)).data
    group_id = item.modifier_groups.first.modifier_group_id
    puts "item #{item.item_id} offers group #{group_id} version #{item.version}"
    toggled = @modifiers.toggle_modifier(*path, small.modifier_id).data
    puts "toggled modifier #{toggled.modifier_id} available #{toggled.is_available} version #{toggled.version}"
    [small, large, extras.modifiers.first]
  end

  def create_group(fields)
    group = @modifiers.create_modifier_group(@location.location_id, Menus::ModifierGroupCreate.new(fields)).data
    bounds = "min #{group.min_selections} max #{group.max_selections || 'null'}"
    modifiers = group.modifiers.map { |modifier| "#{modifier.name} #{format('%.2f', modifier.price)}" }
    puts "group #{group.modifier_group_id} #{group.name} #{bounds}: #{modifiers.join(', ')}"
    group
  end

  def uses_of(group)
    use = Menus::ModifierGroupUseInput.new(modifier_group_id: group.modifier_group_id)
    Menus::ModifierGroupUsesUpdate.new(modifier_groups: [use])
  end

  def price_selections(small, large, egg)
    with_egg = Menus::ModifierSelection.new(
      modifier_id: large.modifier_id, selections: [Menus::ModifierSelection.new(modifier_id: egg.modifier_id)]
    )
    price_selection(quantity: 2, selections: [with_egg])
    price_selection(selections: [Menus::ModifierSelection.new(modifier_id: small.modifier_id)])
  end

  def price_selection(fields)
    selection = Menus::ItemSelection.new(at: '2030-01-05T23:30', **fields)
    price = @items.price_selection(@sushi.menu_id, @sushi.item_id, selection).data
    said = price.lines.map { |line| "#{line.pointer} #{line.name} #{format('%.2f', line.total_price)}" }
    said += price.problems.map { |problem| "#{problem.pointer} #{problem.code}" }
    amounts = format('%.2f total %.2f %s', price.unit_price, price.total_price, price.currency)
    puts "price of item #{price.item_id} #{amounts} orderable #{price.is_orderable}: #{said.join(', ')}"
  end

  def set_hours
    nights = Menus::WeeklyWindow.new(days: [Menus::Weekday::FRI, Menus::Weekday::SAT], from: '22:00', minutes: 240)
    closed = Menus::HoursOfDate.new(date: '2030-01-04', windows: [])
    hours = Menus::HoursInput.new(weekly: [nights], dates: [closed])
    menu = @menus.update_menu(@menu.menu_id, Menus::MenuUpdate.new(hours: hours)).data
    dates = menu.hours.dates.select { |date| date.windows.empty? }.map(&:date)
    puts "hours of menu #{menu.menu_id} #{first_window(menu.hours)}, #{dates.join(',')} closed"
    late = Menus::WeeklyWindow.new(days: [Menus::Weekday::SAT], from: '23:00', minutes: 60)
    item = update(@sushi, Menus::ItemUpdate.new(hours: Menus::ItemHoursInput.new(weekly: [late])))
    puts "hours of item #{item.item_id} #{first_window(item.hours)}"
  end

  def first_window(hours)
    window = hours.weekly.first
    "#{window.days.join(',')} #{window.from} for #{window.minutes} min"
  end

  def read_availability
    availability = @menus.get_availability(@menu.menu_id, at: '2030-01-05T22:30').data
    off, late = [@item, @sushi].map do |wanted|
      availability.items.find { |item| item.item_id == wanted.item_id }
    end
    puts [
      "orderable menu #{availability.menu_id} #{availability.is_orderable}",
      "item #{off.item_id} #{codes(off)} by #{off.reasons.first.unavailable_by}",
      "item #{late.item_id} #{codes(late)} until #{late.next_change_at.to_i}"
    ].join(', ')
  end

  def codes(item)
    item.reasons.map(&:code).join('+')
  end

  def read_changes
    changed, later = [2020, 2099].map { |year| @menus.list_menus(updated_since: DateTime.new(year)).data.size }
    puts "changed menus #{changed} since 2020, #{later} since 2099"
  end

  def read_events
    api = Menus::EventsApi.new
    kinds = [Menus::EventTypeFilter::ITEM_UPDATED, Menus::EventTypeFilter::ITEM_TOGGLED]
    events = eventually do
      page = api.list_events(type: kinds).data
      page if page.size >= 7
    end
    said = events.map do |event|
      case event
      when Menus::ItemUpdatedEvent then "#{event.type} #{event.data.item_id} version #{event.data.version}"
      when Menus::ItemToggledEvent then "#{event.type} #{event.data.item_id} available #{event.data.is_available}"
      end
    end
    puts "events #{said.join(', ')}"
    puts "feed #{api.list_events(limit: 200).data.compact.size}"
  end

  def register_webhook
    wanted = Menus::WebhookCreate.new(
      url: ENV.fetch('WEBHOOK_URL'),
      event_types: [Menus::EventTypeFilter::ITEM, Menus::EventTypeFilter::MENU_TOGGLED]
    )
    webhook = Menus::WebhooksApi.new.create_webhook(wanted).data
    puts "webhook #{webhook.webhook_id} events #{webhook.event_types.join(',')}"
  end

  def revoke_token
    token = Menus::Configuration.default.access_token
    @authentication.revoke_token(token, credentials)
    error = eventually do
      @authentication.get_current_client
      nil
    rescue Menus::ApiError => e
      problem_of(e)
    end
    puts "revoked #{error.status} #{error.code}"
  end

  # Events and revocations take a moment.
  def eventually
    200.times do
      found = yield
      return found if found

      sleep 0.05
    end
    raise 'the answer is not as wanted after ten seconds'
  end

  def update(item, change)
    @items.update_item(item.menu_id, item.item_id, change).data
  end

  def error_of
    yield
    raise 'the call was accepted'
  rescue Menus::ApiError => e
    problem_of(e)
  end

  # The client raises what it received as text; its model reads the type.
  def problem_of(error)
    Menus::Error.build_from_hash(JSON.parse(error.response_body))
  end
end

Scenario.new.run
