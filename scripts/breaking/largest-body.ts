import { checks } from '../../src/contract/checks.ts';

interface Schema {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  maxLength?: number;
  'x-check'?: string;
  maxItems?: number;
}

interface Operation {
  requestBody?: { content: Record<string, { schema?: Schema }> };
}

// A character of text may be written as two escapes, \ud83c\udf63.
const bytesOfCharacter = 12;
const bytesOfNumber = 24;

/**
 * The length in bytes of the longest body that is valid, white space aside; infinite where the schema has no bound.
 * @param document that the references of the operation lead into
 */
export function largestBody(document: object, { requestBody }: Operation): number {
  const sizes = Object.values(requestBody?.content ?? {}).map(({ schema = {} }) => sizeOf(schema));
  return Math.max(0, ...sizes);

  /** @param within the references that it lies within; one that contains itself has no bound */
  function sizeOf(declared: Schema, within: readonly string[] = []): number {
    if (declared.$ref && within.includes(declared.$ref)) return Number.POSITIVE_INFINITY;
    const inside = declared.$ref ? [...within, declared.$ref] : within;
    const schema = { ...resolve(declared), ...declared };
    if (schema.enum) return Math.max(...schema.enum.map(written));
    if (schema.const !== undefined) return written(schema.const);
    const types = [schema.type ?? []].flat().map((type) => sizeOfType(type, schema, inside));
    return Math.max(0, ...types, ...(schema.anyOf ?? []).map((one) => sizeOf(one, inside)));
  }

  function sizeOfType(
    type: string,
    { properties = {}, items = {}, maxItems, ...schema }: Schema,
    within: readonly string[],
  ): number {
    if (type === 'string') return 2 + bytesOfCharacter * longestText(schema);
    if (type === 'array') return 2 + (1 + sizeOf(items, within)) * (maxItems ?? Number.POSITIVE_INFINITY);
    if (type !== 'object') return bytesOfNumber;
    const fields = Object.entries(properties).map(
      ([name, field]) => written(name) + 2 + sizeOf(field, within),
    );
    return fields.reduce((sum, size) => sum + size, 2);
  }

  function resolve(schema: Schema): Schema {
    if (!schema.$ref) return schema;
    const steps = schema.$ref.slice(2).split('/');
    return resolve(
      steps.reduce((from: unknown, key) => (from as Record<string, unknown>)[key], document) as Schema,
    );
  }
}

function longestText({ maxLength, 'x-check': name = '' }: Schema): number {
  const check = checks[name];
  return maxLength ?? (check?.type === 'string' ? check.maxLength : undefined) ?? Number.POSITIVE_INFINITY;
}

function written(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
