/** Records that the demo account has; the contract's own examples tell a story of others. */
const demoIds: Record<string, number> = {
  location_id: 1,
  menu_id: 1,
  category_id: 1,
  item_id: 1,
  modifier_group_id: 1,
  modifier_id: 1,
};

/** An example of a request, naming records that the demo account has, with prices in yen: it can be sent as it is. */
export function withDemoIds<T>(example: T): T {
  if (Array.isArray(example)) return example.map(withDemoIds) as T;
  if (example === null || typeof example !== 'object') return example;
  const entries = Object.entries(example).map(([name, value]) => [
    name,
    typeof value === 'number' ? demoNumber(name, value) : withDemoIds(value),
  ]);
  return Object.fromEntries(entries);
}

// The first menu of the demo account is in yen, which have no decimal places.
function demoNumber(name: string, value: number): number {
  return name === 'price' ? Math.round(value * 100) : (demoIds[name] ?? value);
}
