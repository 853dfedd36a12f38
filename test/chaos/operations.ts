import type { Known } from './known.ts';
import type { Fields } from './model.ts';
import {
  createCategory,
  createItem,
  createLocation,
  createMenu,
  newCategory,
  newItem,
  newLocation,
  newMenu,
} from './operations/create.ts';
import { importMenu } from './operations/import-menu.ts';
import type { Draw, Operation } from './operations/operation.ts';
import { read } from './operations/read.ts';
import { remove } from './operations/remove.ts';
import { reorderMenu } from './operations/reorder-menu.ts';
import { setAvailability } from './operations/set-availability.ts';
import { toggleItem, toggleMenu } from './operations/toggle.ts';
import { rename, updateItem } from './operations/update.ts';
import type { Random } from './random.ts';

/** Every kind of write, and some reads, with the frequency of each. A new writing operation gets a line here. */
const weighted: readonly [weight: number, draw: Draw][] = [
  [18, updateItem],
  [16, toggleItem],
  [10, setAvailability],
  [9, newItem],
  [4, remove('item', { least: 12 })],
  [4, newCategory],
  [5, rename('category')],
  [2, remove('category', { least: 4 })],
  [3, newMenu],
  [4, rename('menu')],
  [4, toggleMenu],
  [1, remove('menu', { least: 2 })],
  [1, newLocation],
  [3, rename('location')],
  [1, remove('location', { least: 2 })],
  [4, reorderMenu],
  [5, importMenu],
  [6, read('item')],
  [6, read('menu')],
];
const tickets = weighted.flatMap(([weight, draw]) => Array<Draw>(weight).fill(draw));

/** Draws an operation that is possible with the known records. */
export function drawOperation(random: Random, known: Known, mark: number): Operation {
  for (;;) {
    const operation = random.pick(tickets)(random, known, mark);
    if (operation) return operation;
  }
}

/** Creates what the load begins with: a menu at each of two locations, with categories and items. */
export function* firstOperations(known: Known): Generator<Operation> {
  for (const place of [1, 2]) {
    yield createLocation(`Location ${place}`);
    const location = known.all('location').at(-1) as Fields;
    yield createMenu(location, `Menu ${place}`);
    const menu = known.all('menu').at(-1) as Fields;
    for (const name of ['Nigiri', 'Maki']) {
      yield createCategory(menu, name);
      const category = known.all('category').at(-1) as Fields;
      // Prices that no update sets: an update that changes nothing has no event.
      for (const price of [9_001, 9_002, 9_003]) yield createItem(category, `${name} ${price}`, price);
    }
  }
}
