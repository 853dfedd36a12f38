import fc from 'fast-check';
import t from 'tap';
import { startTestService } from '../../support/service.ts';
import { type ModelGroup, type ModelSelection, type ModelUse, modelPrice } from './price-model.ts';
import { makePricedWorld, type Resource } from './priced-world.ts';

const seed = Number(process.env['PRICE_SEED'] ?? Date.now() % 2_147_483_647);
const { api } = await startTestService(t);

type World = Awaited<ReturnType<typeof makePricedWorld>>;

/** The smallest step of a currency, in thousandths. */
const steps = { JPY: 1000, EUR: 10, KWD: 1 };

/** A use of a group that many places further on. */
interface Offer {
  skip: number;
  min: number | null;
  max: number | null;
}

interface GroupPlan {
  min: number;
  max: number | null;
  each: number;
  free: number;
  modifiers: { price: number; isOn: boolean; offers: Offer[] }[];
}

interface Plan {
  currency: keyof typeof steps;
  price: number;
  /** Each may offer those after it. */
  groups: GroupPlan[];
  offers: Offer[];
  orders: Order[][];
}

interface Order {
  pick: number;
  quantity: number;
  within: Order[];
}

const few = (max: number, min = 0) => fc.integer({ min, max });
const offersOf = (most: number) =>
  fc.array(
    fc.record<Offer>({
      skip: few(3, 1),
      min: fc.option(fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, few(2, 1))),
      max: fc.option(few(5, 1)),
    }),
    { maxLength: most },
  );
const groupPlan = fc.record<GroupPlan>({
  min: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, few(2, 1)),
  max: fc.option(few(6, 2)),
  each: few(3, 1),
  free: few(3),
  modifiers: fc.array(
    fc.record({
      price: few(50),
      isOn: few(5).map((one) => one > 0),
      offers: offersOf(2),
    }),
    { minLength: 1, maxLength: 4 },
  ),
});
const orders = fc.letrec<{ list: Order[] }>((tie) => ({
  list: fc.array(
    fc.record({
      pick: few(999),
      quantity: few(3, 1),
      within: fc.oneof({ maxDepth: 3 }, fc.constant<Order[]>([]), tie('list')),
    }),
    { maxLength: 3 },
  ),
})).list;
const plans = fc.record<Plan>({
  currency: fc.constantFrom('JPY', 'EUR', 'KWD'),
  price: few(2_000),
  groups: fc.array(groupPlan, { minLength: 2, maxLength: 5 }),
  offers: offersOf(4),
  orders: fc.array(orders, { minLength: 12, maxLength: 20 }),
});

/** What cannot be left to chance: one order without a problem, and one with each. */
const oneOfEach: Plan = {
  currency: 'EUR',
  price: 450,
  groups: [
    {
      ...{ min: 1, max: 2, each: 1, free: 1 },
      modifiers: [
        { price: 10, isOn: true, offers: [] },
        { price: 20, isOn: false, offers: [] },
      ],
    },
    { min: 0, max: null, each: 1, free: 0, modifiers: [{ price: 5, isOn: true, offers: [] }] },
  ],
  offers: [{ skip: 1, min: null, max: null }],
  orders: [
    [{ pick: 2, quantity: 1, within: [] }],
    [{ pick: 2, quantity: 3, within: [] }],
    [{ pick: 1, quantity: 1, within: [] }],
    [{ pick: 11, quantity: 1, within: [] }],
  ],
};

t.test(`randomly nested groups cost what a plain model says (PRICE_SEED=${seed})`, async (t) => {
  let orderable = 0;
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(plans, async ({ currency, price, groups, offers, orders }) => {
      const step = steps[currency];
      const world = await makePricedWorld(api, {
        location: { currency },
        item: { price: (price * step) / 1000 },
      });
      const made = await makeGroups(world, groups, step);
      const uses = usesAmong(made, offers);
      await world.offer(uses.map(asUse));
      for (const order of orders) {
        const selections = selectionsOf(order, uses, made);
        const expected = modelPrice(price * step, uses, selections);
        const found = await world.price({ quantity: 3, selections });
        const lines = found.lines.map(({ total_price }: Resource) => Math.round(total_price * 1000));
        t.same(
          {
            unit: found.unit_price,
            total: found.total_price,
            lines: lines.reduce((sum: number, one: number) => sum + one, price * step),
            problems: found.problems.map(inShort).sort(),
            is_orderable: found.is_orderable,
          },
          {
            unit: expected.unit / 1000,
            total: (expected.unit * 3) / 1000,
            lines: expected.unit,
            problems: expected.problems,
            is_orderable: expected.problems.length === 0,
          },
          JSON.stringify(selections),
        );
        for (const problem of expected.problems) seen.add(problem.split(' ')[1] ?? '');
        if (expected.problems.length === 0 && lines.length > 0) orderable += 1;
      }
    }),
    { seed, numRuns: 15, endOnFailure: true, examples: [[oneOfEach]] },
  );
  t.ok(orderable > 0, `${orderable} selections without a problem`);
  t.same([...seen].sort(), ['not_in_group', 'off', 'too_few', 'too_many', 'too_many_of_modifier']);
});

function inShort({ pointer, code, modifier_group_id }: Resource): string {
  return [pointer, code, ...(modifier_group_id ? [modifier_group_id] : [])].join(' ');
}

/** Makes the groups, the innermost first, so that there is what modifiers offer. */
async function makeGroups(world: World, wanted: GroupPlan[], step: number): Promise<ModelGroup[]> {
  const made: ModelGroup[] = [];
  for (const { min, max, each, free, modifiers } of wanted.toReversed()) {
    const least = Math.min(min, modifiers.length * each);
    const group = await world.group(
      modifiers.map(({ price }) => (price * step) / 1000),
      { min_selections: least, max_selections: max, max_per_modifier: each, free_selections: free },
    );
    const model: ModelGroup = { id: group.modifier_group_id, min: least, max, each, free, modifiers: [] };
    for (const [place, { price, isOn, offers }] of modifiers.entries()) {
      const modifier = group.modifiers[place];
      const uses = usesAmong(made, offers);
      if (uses.length > 0) await world.offerWithin(modifier, uses.map(asUse));
      if (!isOn) await api.post(`${world.modifierPath(modifier)}/toggle`);
      model.modifiers.push({ id: modifier.modifier_id, price: price * step, isOn, offers: uses });
    }
    made.unshift(model);
  }
  return made;
}

/** Uses of some of these groups, each once; numbers that cannot be met are left to the group. */
function usesAmong(groups: ModelGroup[], offers: Offer[]): ModelUse[] {
  const uses = new Map<ModelGroup, ModelUse>();
  for (const { skip, min, max } of offers) {
    const group = groups[skip - 1];
    if (!group) continue;
    const least = min ?? group.min;
    const most = max ?? group.max ?? Infinity;
    const canBeMet = least <= most && least <= group.modifiers.length * group.each;
    uses.set(group, canBeMet ? { group, min, max } : { group, min: null, max: null });
  }
  return [...uses.values()];
}

function asUse({ group, min, max }: ModelUse): Resource {
  return { modifier_group_id: group.id, min_selections: min, max_selections: max };
}

/** Most of what is ordered is offered there; some is not. */
function selectionsOf(order: Order[], uses: ModelUse[], groups: ModelGroup[]): ModelSelection[] {
  const offered = uses.flatMap(({ group }) => group.modifiers);
  const all = groups.flatMap(({ modifiers }) => modifiers);
  return order.flatMap(({ pick, quantity, within }) => {
    const among = pick % 11 === 0 ? all : offered;
    const modifier = among[pick % among.length];
    if (!modifier) return [];
    return [
      { modifier_id: modifier.id, quantity, selections: selectionsOf(within, modifier.offers, groups) },
    ];
  });
}
