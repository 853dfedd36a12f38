import type { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

/** The formats of the contract that are lists of codes, kept by others and growing. */
export const codeLists: Record<string, { holds(code: string): boolean; message: string }> = {
  'iana-time-zone': { holds: isTimeZone, message: 'is not an IANA time zone' },
  'iso-4217-currency': {
    holds: (code) => currencies.has(code),
    message: 'is not an ISO 4217 currency',
  },
};

/** Teaches a validator the formats of JSON Schema and of the contract. */
export function withFormats<A extends Pick<Ajv2020, 'addFormat'>>(ajv: A): A {
  formats.default(ajv as never);
  for (const [name, { holds }] of Object.entries(codeLists)) ajv.addFormat(name, holds);
  return ajv;
}

const currencies = new Set(Intl.supportedValuesOf('currency'));

// Intl takes names in any case and knows aliases, which it may resolve to another name. Readers of ours may not.
function isTimeZone(name: string): boolean {
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return timeZone === name || timeZone.toLowerCase() !== name.toLowerCase();
  } catch {
    return false;
  }
}
