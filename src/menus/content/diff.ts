import type { components } from '../../../generated/api.ts';
import type { Plan } from './plan.ts';
import { type Named, recreated } from './recreated.ts';
import { withDecimals } from './write-json.ts';

type MenuDiff = components['schemas']['MenuDiff'];

/** The plan as the API shows it, ready to be written as JSON. */
export function diffOf(menu_id: number, dry_run: boolean, plan: Plan): MenuDiff {
  const { currency, menu, categories, items, modifier_groups: groups, modifiers } = plan;
  return {
    menu_id,
    dry_run,
    menu: menu && { old: menu.old, new: menu.new },
    categories: {
      created: categories.created.map(({ external_id, name }) => ({
        external_id: external_id as string,
        name,
      })),
      updated: categories.updated.map(({ row, ...change }) => ({
        category_id: row.category_id as number,
        external_id: row.external_id,
        name: row.name,
        ...change,
      })),
      deleted: categories.deleted.map(({ category_id, external_id, name }) => ({
        category_id,
        external_id,
        name,
      })),
      recreated: recreated(categories.deleted, categories.created).map((pair) => ({
        category_id: pair.old.category_id,
        ...renamed(pair),
      })),
      unchanged: categories.unchanged,
    },
    items: {
      created: items.created.map(({ external_id, name, category }) => ({
        external_id: external_id as string,
        name,
        category,
      })),
      updated: items.updated.map(({ row, ...change }) => ({
        item_id: row.item_id as number,
        external_id: row.external_id,
        name: row.name,
        old: withDecimals(change.old, currency),
        new: withDecimals(change.new, currency),
      })),
      deleted: items.deleted.map(({ item_id, external_id, name }) => ({ item_id, external_id, name })),
      recreated: recreated(items.deleted, items.created).map((pair) => ({
        item_id: pair.old.item_id,
        ...renamed(pair),
      })),
      unchanged: items.unchanged,
    },
    modifier_groups: {
      created: groups.created.map(({ external_id, name }) => ({ external_id: external_id as string, name })),
      updated: groups.updated.map(({ row, ...change }) => ({
        modifier_group_id: row.modifier_group_id as number,
        external_id: row.external_id ?? null,
        name: row.name,
        ...change,
      })),
      unchanged: groups.unchanged,
    },
    modifiers: {
      created: modifiers.created.map(({ external_id, name, modifier_group }) => ({
        external_id: external_id as string,
        name,
        modifier_group,
      })),
      updated: modifiers.updated.map(({ row, ...change }) => ({
        modifier_id: row.modifier_id as number,
        external_id: row.external_id,
        name: row.name,
        modifier_group: row.modifier_group,
        old: withDecimals(change.old, currency),
        new: withDecimals(change.new, currency),
      })),
      deleted: modifiers.deleted.map(({ modifier_id, external_id, name, modifier_group }) => ({
        modifier_id,
        external_id,
        name,
        modifier_group,
      })),
      recreated: recreatedModifiers(modifiers),
      unchanged: modifiers.unchanged,
    },
  };
}

// A modifier is identified within its group.
function recreatedModifiers({ deleted, created }: Plan['modifiers']) {
  const createdIn = Map.groupBy(created, ({ modifier_group }) => modifier_group);
  return [...Map.groupBy(deleted, ({ modifier_group }) => modifier_group)].flatMap(([group, gone]) =>
    recreated(gone, createdIn.get(group) ?? []).map((pair) => ({
      modifier_id: pair.old.modifier_id,
      ...renamed(pair),
    })),
  );
}

function renamed(pair: { old: Named; new: Named }) {
  return {
    external_id: pair.old.external_id,
    new_external_id: pair.new.external_id as string,
    name: pair.new.name,
  };
}
