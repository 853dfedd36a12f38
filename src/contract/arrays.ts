import { _, type Ajv2020, type KeywordCxt } from 'ajv/dist/2020.js';
import names from 'ajv/dist/compile/names.js';
import { listedErrors } from '../http/errors.ts';

// Of one value there may be several errors of which one is ours; see ownErrors in validation.ts.
const collectedErrors = listedErrors * 4;

/**
 * Makes the cost of validating an array linear and its errors few. Ajv's own `items` looks at the elements of an
 * array that is too long, and copies all earlier errors for each element with errors; its `uniqueItems` compares
 * every element with every other if it does not know their type, as behind a `$ref`.
 */
export function withBoundedArrays<A extends Ajv2020>(ajv: A): A {
  ajv.removeKeyword('items').addKeyword({
    keyword: 'items',
    type: 'array',
    schemaType: ['object', 'boolean'],
    code: checkItems,
  });
  ajv.removeKeyword('uniqueItems').addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    errors: true,
    compile: (wanted: boolean, { maxItems = Number.POSITIVE_INFINITY }) => {
      const check = (array: unknown[]): boolean => {
        const twice = wanted && array.length <= maxItems ? firstRepeat(array) : undefined;
        check.errors = twice ? [repeatError(twice)] : [];
        return twice === undefined;
      };
      check.errors = [] as object[];
      return check;
    },
  });
  return ajv;
}

/** Stops at the end of an array, or at the element that brings the last error that is collected. */
function checkItems(cxt: KeywordCxt): void {
  const { gen, data, keyword, parentSchema } = cxt;
  const length = gen.const('length', _`${data}.length`);
  const valid = gen.let('valid', true);
  const each = () =>
    gen.forRange('i', 0, length, (i) => {
      const itemValid = gen.name('itemValid');
      cxt.subschema({ keyword, dataProp: i, dataPropType: 0 }, itemValid);
      gen.if(_`!${itemValid}`, () => gen.assign(valid, false));
      gen.if(_`${names.default.errors} >= ${collectedErrors}`, () => gen.break());
    });
  if (parentSchema['maxItems'] === undefined) each();
  else gen.if(_`${length} <= ${parentSchema['maxItems']}`, each);
  cxt.ok(valid);
}

// Elements that are lists or objects differ; the contract has unique elements only where they are numbers or text.
function firstRepeat(array: unknown[]): [number, number] | undefined {
  const places = new Map<unknown, number>();
  for (const [index, value] of array.entries()) {
    const earlier = places.get(value);
    if (earlier !== undefined) return [index, earlier];
    places.set(value, index);
  }
  return undefined;
}

function repeatError([i, j]: [number, number]): object {
  return {
    keyword: 'uniqueItems',
    params: { i, j },
    message: `must NOT have duplicate items (items ## ${j} and ${i} are identical)`,
  };
}
