import type { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

// The longest text that any field of a request may hold; a longer one is refused by its maxLength.
const longestText = 4096;

/** Teaches a validator the formats of JSON Schema. Text beyond any maxLength is not looked at. */
export function withFormats<A extends Pick<Ajv2020, 'addFormat' | 'formats'>>(ajv: A): A {
  formats.default(ajv as never);
  for (const [name, format] of Object.entries(ajv.formats)) {
    const holds = checkOf(format);
    if (holds) ajv.addFormat(name, (text: string) => text.length > longestText || holds(text));
  }
  return ajv;
}

type AddedFormat = NonNullable<Ajv2020['formats'][string]>;

// Undefined for a format of numbers, and for one that any text has.
function checkOf(format: AddedFormat | undefined): ((text: string) => boolean) | undefined {
  if (format instanceof RegExp) return (text) => format.test(text);
  if (typeof format === 'function') return format as (text: string) => boolean;
  if (typeof format !== 'object' || format.type === 'number' || format.async) return undefined;
  return checkOf(format.validate as AddedFormat);
}
