/**
 * Records of the contract's examples, which tell a story of others, as those that the demo account has. Those that are
 * not listed are its first ones; where an example names two of a kind, they stay two.
 */
const demoIds: Record<string, Record<number, number>> = {
  location_id: {},
  menu_id: {},
  category_id: { 13: 2 },
  item_id: { 43: 2, 44: 3 },
  modifier_group_id: { 6: 2 },
  modifier_id: { 32: 2 },
  // What the samples before them create.
  webhook_id: {},
  replay_id: {},
};

// Arrays of ids.
const listed: Record<string, string> = { items: 'item_id' };

/** An example of a request, naming records that the demo account has, with prices in yen: it can be sent as it is. */
export function withDemoIds<T>(example: T): T {
  if (Array.isArray(example)) return example.map(withDemoIds) as T;
  if (example === null || typeof example !== 'object') return example;
  const entries = Object.entries(example).map(([name, value]) => [name, demoValue(name, value)]);
  return Object.fromEntries(entries);
}

function demoValue(name: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => demoValue(listed[name] ?? name, one));
  return typeof value === 'number' ? demoNumber(name, value) : withDemoIds(value);
}

// The first menu of the demo account is in yen, which have no decimal places.
function demoNumber(name: string, value: number): number {
  if (name === 'price') return Math.round(value * 100);
  const ids = demoIds[name];
  return ids ? (ids[value] ?? 1) : value;
}

/** Prose of the contract, with the commands in it naming records of the demo account. */
export function withDemoIdsInText(text: string): string {
  return text.replaceAll(/\/(menus|items)\/\d+/g, '/$1/1').replaceAll(/("modifier_id": )\d+/g, '$11');
}
