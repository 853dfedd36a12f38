import assert from 'node:assert/strict';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import type { Api, ApiResponse } from '../support/api.ts';
import {
  itemsOf,
  type ModelItem,
  type ModelMenu,
  newCategory,
  newItem,
  type Switch,
  setSwitch,
} from './model.ts';

/** One call: how it is sent, and what it makes of the model. */
export interface Step {
  send: (api: Api) => Promise<ApiResponse>;
  status: number;
  /** The service gives records their positions; otherwise only those of new ones. */
  choosesPlaces?: boolean;
  apply: (menu: ModelMenu) => void;
  /** Looks into the answer, with the model before the call and after it. */
  check?: (response: ApiResponse, before: ModelMenu, after: ModelMenu) => void;
}

/** Decides on a call by what the menu is at that moment; undefined when there is nothing to do it with. */
export type Plan = (menu: ModelMenu) => Step | undefined;

/** Every operation that changes a menu, each as a generator of plans. A new operation gets its line here. */
export function plans(): fc.Arbitrary<Plan> {
  return fc.oneof(
    { arbitrary: importMenu, weight: 2 },
    updateItem,
    toggleItem,
    createItem,
    deleteItem,
    setAvailability,
    createCategory,
    updateCategory,
    deleteCategory,
    updateMenu,
    toggleMenu,
    reorderMenu,
  );
}

const place = fc.nat({ max: 20 });
const name = fc.constantFrom('Salmon', '鮪 tuna', '=eel', "d'or", 'a, "b"; c');
const price = fc.nat({ max: 999 }).map((cents) => cents / 100);
const allergens = fc.uniqueArray(fc.constantFrom('fish', 'soy', 'a;b', ' eggs'), { maxLength: 3 });
const until = fc.constantFrom('2098-01-01T00:00:00.000Z', '2099-06-01T12:30:00.000Z', null);
const itemKey = fc.constantFrom('I1', 'I2', 'I3', 'I4', 'I5', 'I6');
const categoryKey = fc.constantFrom('A', 'B', 'C');
/** A switch as a body may hold it: with a time of return only when it is not turned on. */
const aSwitch = fc.oneof(
  fc.constantFrom({}, { is_available: true }),
  fc.record({ is_available: fc.constant(false), unavailable_until: until }, { requiredKeys: [] }),
);
const optional = { requiredKeys: [] };

const updateItem = operation(
  'updateItem',
  fc.record({
    at: place,
    to: place,
    fields: fc.record({ name, price, allergens, sort_order: fc.nat({ max: 9 }) }, optional),
    flip: aSwitch,
    moves: fc.boolean(),
  }),
  (menu, { at, to, fields, flip, moves }) => {
    const item = pickOf(itemsOf(menu), at);
    const target = moves ? pickOf(menu.categories, to) : undefined;
    const body = { ...fields, ...flip, ...(target && { category_id: target.category_id }) };
    if (!item || Object.keys(body).length === 0) return undefined;
    return {
      send: (api) => api.put(`/menus/${menu.menu_id}/items/${item.item_id}`, body),
      status: 200,
      apply: (menu) => {
        const own = same(itemsOf(menu), 'item_id', item.item_id);
        Object.assign(own, fields);
        setSwitch(own, flip);
        const home = target && same(menu.categories, 'category_id', target.category_id);
        if (home && !home.items.includes(own)) {
          for (const category of menu.categories)
            category.items = category.items.filter((one) => one !== own);
          home.items.push(own);
        }
        for (const { items } of menu.categories)
          items.sort((a, b) => a.sort_order - b.sort_order || a.item_id - b.item_id);
      },
    };
  },
);

const toggleItem = operation('toggleItem', place, (menu, at) => {
  const item = pickOf(itemsOf(menu), at);
  return (
    item && {
      send: (api) => api.post(`/menus/${menu.menu_id}/items/${item.item_id}/toggle`),
      status: 200,
      apply: (menu) => {
        const own = same(itemsOf(menu), 'item_id', item.item_id);
        setSwitch(own, { is_available: !own.is_available, unavailable_until: null });
      },
    }
  );
});

const createItem = operation(
  'createItem',
  fc.record({ at: place, fields: fc.record({ name, price, allergens }), flip: aSwitch }),
  (menu, { at, fields, flip }) => {
    const category = pickOf(menu.categories, at);
    return (
      category && {
        send: (api) =>
          api.post(`/menus/${menu.menu_id}/items`, { category_id: category.category_id, ...fields, ...flip }),
        status: 201,
        apply: (menu) => {
          const item = newItem(fields);
          setSwitch(item, flip);
          same(menu.categories, 'category_id', category.category_id).items.push(item);
        },
      }
    );
  },
);

const deleteItem = operation('deleteItem', place, (menu, at) => {
  const item = pickOf(itemsOf(menu), at);
  return (
    item && {
      send: (api) => api.delete(`/menus/${menu.menu_id}/items/${item.item_id}`),
      status: 204,
      apply: (menu) => {
        for (const category of menu.categories)
          category.items = category.items.filter(({ item_id }) => item_id !== item.item_id);
      },
    }
  );
});

const setAvailability = operation(
  'setAvailability',
  fc.uniqueArray(
    fc.record({
      at: place,
      flip: fc.oneof(
        fc.constant({ is_available: true }),
        fc.record(
          { is_available: fc.constant(false), unavailable_until: until },
          { requiredKeys: ['is_available'] },
        ),
      ),
    }),
    { minLength: 1, maxLength: 5, selector: ({ at }) => at },
  ),
  (menu, rows) => {
    const chosen = new Map(
      rows.flatMap(({ at, flip }) => {
        const item = pickOf(itemsOf(menu), at);
        return item ? [[item.item_id, flip]] : [];
      }),
    );
    if (chosen.size === 0) return undefined;
    return {
      send: (api) => {
        const items = [...chosen].map(([item_id, flip]) => ({ item_id, ...flip }));
        return api.post(`/menus/${menu.menu_id}/availability`, { items });
      },
      status: 200,
      apply: (menu) => {
        for (const item of itemsOf(menu)) setSwitch(item, chosen.get(item.item_id) ?? {});
      },
    };
  },
);

const createCategory = operation('createCategory', name, (menu, name) => ({
  send: (api) => api.post(`/menus/${menu.menu_id}/categories`, { name }),
  status: 201,
  apply: (menu) => void menu.categories.push(newCategory({ name })),
}));

const updateCategory = operation('updateCategory', fc.record({ at: place, name }), (menu, { at, name }) => {
  const category = pickOf(menu.categories, at);
  return (
    category && {
      send: (api) => api.put(`/menus/${menu.menu_id}/categories/${category.category_id}`, { name }),
      status: 200,
      apply: (menu) => {
        same(menu.categories, 'category_id', category.category_id).name = name;
      },
    }
  );
});

const deleteCategory = operation('deleteCategory', place, (menu, at) => {
  const category = pickOf(menu.categories, at);
  return (
    category && {
      send: (api) => api.delete(`/menus/${menu.menu_id}/categories/${category.category_id}`),
      status: 204,
      apply: (menu) => {
        menu.categories = menu.categories.filter(({ category_id }) => category_id !== category.category_id);
      },
    }
  );
});

const updateMenu = operation(
  'updateMenu',
  fc.oneof(fc.record({ name }), fc.record({ name, is_active: fc.boolean() })),
  (menu, fields) => ({
    send: (api) => api.put(`/menus/${menu.menu_id}`, fields),
    status: 200,
    apply: (menu) => void Object.assign(menu, fields),
  }),
);

const toggleMenu = operation('toggleMenu', fc.constant(null), (menu) => ({
  send: (api) => api.post(`/menus/${menu.menu_id}/toggle`),
  status: 200,
  apply: (menu) => {
    menu.is_active = !menu.is_active;
  },
}));

const reorderMenu = operation(
  'reorderMenu',
  fc.record({ homes: fc.array(place, { minLength: 1, maxLength: 12 }), turn: place, flip: fc.boolean() }),
  (menu, { homes, turn, flip }) => {
    if (menu.categories.length === 0) return undefined;
    const categories = turned(menu.categories, turn).map((category) => ({
      ...category,
      items: [] as ModelItem[],
    }));
    turned(itemsOf(menu), flip ? turn : 0).forEach((item, index) => {
      const home = menu.categories.find(({ items }) => items.includes(item));
      const same = categories.find(({ category_id }) => category_id === home?.category_id);
      const other = pickOf(categories, homes[index % homes.length] ?? 0);
      (flip ? other : same)?.items.push(item);
    });
    const order = categories.map(({ category_id, items }) => ({
      category_id,
      items: items.map(({ item_id }) => item_id),
    }));
    return {
      send: (api) => api.put(`/menus/${menu.menu_id}/order`, { categories: order }),
      status: 200,
      choosesPlaces: true,
      apply: (menu) => {
        const items = itemsOf(menu);
        menu.categories = order.map(({ category_id, items: ids }) => ({
          ...same(menu.categories, 'category_id', category_id),
          items: ids.map((item_id) => same(items, 'item_id', item_id)),
        }));
      },
    };
  },
);

const importMenu = operation(
  'importMenu',
  fc.record({
    fields: fc.record({ name, is_active: fc.boolean() }, optional),
    named: fc.uniqueArray(fc.record({ key: categoryKey, name }), {
      selector: ({ key }) => key,
      maxLength: 3,
    }),
    items: fc.uniqueArray(
      fc.record({ key: itemKey, home: place, fields: fc.record({ name, price, allergens }), flip: aSwitch }),
      { selector: ({ key }) => key, maxLength: 6 },
    ),
    keeps: fc.constantFrom('all', 'half', 'none'),
    form: fc.constantFrom('json', 'csv'),
  }),
  (menu, { fields, named, items, keeps, form }) => {
    const stays = ({ external_id }: { external_id: string | null }, index: number) =>
      external_id === null && (keeps === 'all' || (keeps === 'half' && index % 2 === 0));
    const categories: DocumentCategory[] = [
      ...named.map(({ key, name }) => ({ external_id: key, name, items: [] })),
      ...menu.categories.filter(stays).map(({ category_id, name }) => ({ category_id, name, items: [] })),
    ];
    for (const { key, home, fields, flip } of items) {
      const written = form === 'csv' ? flipInCsv(flip) : flip;
      pickOf(categories, home)?.items.push({ external_id: key, ...fields, ...written });
    }
    itemsOf(menu)
      .filter(stays)
      .forEach(({ item_id, name, price, allergens }, index) => {
        pickOf(categories, index)?.items.push({ item_id, name, price, allergens });
      });
    const document = { ...fields, categories };
    const put = (api: Api, query: string) => {
      const path = `/menus/${menu.menu_id}/content${query}`;
      const headers = { 'content-type': 'text/csv' };
      return form === 'csv'
        ? api.call('PUT', path, { headers, body: csvOf({ name: menu.name, ...document }) })
        : api.put(path, { data: document });
    };
    let promised: object = {};
    return {
      send: async (api) => {
        promised = (await put(api, '?dry_run=true')).body.data;
        return put(api, '');
      },
      status: 200,
      choosesPlaces: true,
      apply: (menu) => applyDocument(menu, document),
      check: ({ body: { data } }, before, after) => {
        assert.deepEqual({ ...data }, { ...promised, dry_run: false });
        assert.deepEqual(countsOf(data.items), difference(itemsOf(before), itemsOf(after), 'item_id'));
        assert.deepEqual(
          countsOf(data.categories),
          difference(before.categories, after.categories, 'category_id'),
        );
      },
    };
  },
);

interface DocumentCategory {
  external_id?: string;
  category_id?: number;
  name: string;
  items: DocumentItem[];
}

type DocumentItem = Pick<ModelItem, 'name' | 'price' | 'allergens'> &
  Switch & { external_id?: string; item_id?: number };
type Document = { name?: string; is_active?: boolean; categories: DocumentCategory[] };

function applyDocument(menu: ModelMenu, { categories, ...fields }: Document): void {
  const items = itemsOf(menu);
  const old = menu.categories;
  Object.assign(menu, fields);
  menu.categories = categories.map(({ items: given, external_id, category_id, name }) => {
    const found = old.find((one) =>
      external_id ? one.external_id === external_id : one.category_id === category_id,
    );
    return {
      ...(found ?? newCategory({ external_id: external_id ?? null })),
      name,
      items: given.map(({ external_id, item_id, is_available, unavailable_until, ...fields }) => {
        const found = items.find((one) =>
          external_id ? one.external_id === external_id : one.item_id === item_id,
        );
        const item = { ...(found ?? newItem({ external_id: external_id ?? null })), ...fields };
        setSwitch(item, {
          ...(is_available !== undefined && { is_available }),
          ...(unavailable_until !== undefined && { unavailable_until }),
        });
        return item;
      }),
    };
  });
}

// An empty time of return means "no plan" beside a switch, and nothing without one.
function flipInCsv({ is_available, unavailable_until }: Switch): Switch {
  if (is_available !== undefined) return { is_available, unavailable_until: unavailable_until ?? null };
  return unavailable_until ? { unavailable_until } : {};
}

function csvOf({ name, is_active, categories }: Document): string {
  const rows: object[] = [{ record: 'menu', name, is_active }];
  for (const { external_id: category_external_id, category_id, name, items } of categories) {
    const category = { category_external_id, category_id };
    rows.push({ record: 'category', ...category, name });
    for (const { allergens, ...item } of items) {
      const cell = stringify([allergens], { delimiter: ';', eof: false, quoted_match: /^ / });
      rows.push({ record: 'item', ...category, ...item, allergens: cell });
    }
  }
  const columns = [
    'record',
    'category_external_id',
    'category_id',
    'external_id',
    'item_id',
    'name',
    'price',
  ];
  const cast = { boolean: String };
  return stringify(rows, {
    header: true,
    columns: [...columns, 'allergens', 'is_active', 'is_available', 'unavailable_until'],
    cast,
  });
}

function countsOf(part: {
  created: object[];
  deleted: object[];
  updated: object[];
  unchanged: number;
}): number[] {
  return [part.created.length, part.deleted.length, part.updated.length + part.unchanged];
}

function difference<Id extends string>(
  before: { [I in Id]: number }[],
  after: { [I in Id]: number }[],
  id: Id,
): number[] {
  const [old, now] = [new Set(before.map((one) => one[id])), new Set(after.map((one) => one[id]))];
  return [now.difference(old).size, old.difference(now).size, now.intersection(old).size];
}

function operation<Draw>(
  name: string,
  draw: fc.Arbitrary<Draw>,
  plan: (menu: ModelMenu, draw: Draw) => Step | undefined,
): fc.Arbitrary<Plan> {
  return draw.map((drawn) => {
    const planned: Plan = (menu) => plan(menu, drawn);
    return Object.assign(planned, { [fc.toStringMethod]: () => `${name} ${fc.stringify(drawn)}` });
  });
}

function pickOf<T>(list: T[], at: number): T | undefined {
  return list[at % list.length];
}

function same<Id extends string, T extends { [I in Id]: number }>(list: T[], id: Id, value: number): T {
  const found = list.find((one) => one[id] === value);
  if (!found) throw new Error(`the model has no ${id} ${value}`);
  return found;
}

function turned<T>(list: T[], by: number): T[] {
  const at = by % (list.length || 1);
  return [...list.slice(at), ...list.slice(0, at)];
}
