import type { components } from '../../../generated/api.ts';
import type { Plan } from './plan.ts';

type MenuDiff = components['schemas']['MenuDiff'];

/** The plan as the API shows it. */
export function diffOf(menu_id: number, dry_run: boolean, plan: Plan): MenuDiff {
  const { menu, categories, items } = plan;
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
        ...change,
      })),
      deleted: items.deleted.map(({ item_id, external_id, name }) => ({ item_id, external_id, name })),
      unchanged: items.unchanged,
    },
  };
}
