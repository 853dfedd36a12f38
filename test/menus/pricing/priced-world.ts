import type { Api } from '../../support/api.ts';
import { makeCategory, makeItem, makeLocation, makeMenu, makeModifierGroup } from '../../support/records.ts';

// biome-ignore lint/suspicious/noExplicitAny: the contract check has validated it; tests look into it freely
export type Resource = any;

/** A location with a menu of one item, and what a test does there. */
export async function makePricedWorld(
  api: Api,
  { location = {}, item = {} }: { location?: object; item?: object } = {},
) {
  const place = await makeLocation(api, location);
  const menu = await makeMenu(api, place.location_id);
  const category = await makeCategory(api, menu.menu_id);
  const own = await makeItem(api, category, item);
  const itemPath = `/menus/${menu.menu_id}/items/${own.item_id}`;
  const groupsPath = `/locations/${place.location_id}/modifier-groups`;
  const use = async (path: string, uses: object[]) => {
    const { status, text } = await api.put(`${path}/modifier-groups`, { modifier_groups: uses });
    if (status !== 200) throw new Error(text);
  };
  const modifierPath = ({ modifier_group_id, modifier_id }: Resource) =>
    `${groupsPath}/${modifier_group_id}/modifiers/${modifier_id}`;
  return {
    location: place,
    menu,
    category,
    item: own,
    itemPath,
    pricePath: `${itemPath}/price`,
    modifierPath,
    /** A group with modifiers of these prices; those of the result are in the same order. */
    group: (prices: number[], fields: object = {}): Promise<Resource> =>
      makeModifierGroup(api, place.location_id, {
        max_per_modifier: 10,
        modifiers: prices.map((price, index) => ({ name: `Modifier ${index}`, price })),
        ...fields,
      }),
    /** What the item offers, or a modifier. */
    offer: (groups: Resource[]) => use(itemPath, groups.map(asUse)),
    offerWithin: (modifier: Resource, groups: Resource[]) => use(modifierPath(modifier), groups.map(asUse)),
    /** The response's `data`. @throws unless it is a 200 */
    price: async (body: object): Promise<Resource> => {
      const { status, text, body: response } = await api.post(`${itemPath}/price`, body);
      if (status !== 200) throw new Error(`${status} ${text}`);
      return response.data;
    },
    /** The body of the response, byte for byte. */
    priceText: async (body: object): Promise<string> => (await api.post(`${itemPath}/price`, body)).text,
  };
}

function asUse({ modifier_group_id, min_selections, max_selections, modifiers }: Resource): object {
  // A group as it is, or a use with numbers of its own.
  return modifiers ? { modifier_group_id } : { modifier_group_id, min_selections, max_selections };
}

/** A use of the group with numbers of its own. */
export function useOf({ modifier_group_id }: Resource, own: object): Resource {
  return { modifier_group_id, min_selections: null, max_selections: null, ...own };
}

/** A selection of the modifier at this place of the group. */
export function select(group: Resource, place: number, quantity?: number, selections?: object[]): object {
  return {
    modifier_id: group.modifiers[place].modifier_id,
    ...(quantity !== undefined && { quantity }),
    ...(selections && { selections }),
  };
}

/** The problems in short: `/selections/0 off`. */
export function told({ problems }: Resource): string[] {
  return problems.map(({ pointer, code }: Resource) => `${pointer} ${code}`);
}
