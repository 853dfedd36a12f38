import { _, type Ajv2020 } from 'ajv/dist/2020.js';

/** A rule for a text or a number, with the message of the error for a value that breaks it. */
export type Check = { code: string; message: string } & (
  | { type: 'string'; holds(text: string): boolean; maxLength?: number }
  | { type: 'number'; holds(value: number): boolean }
);

/**
 * The rules of the contract that JSON Schema has no words for which mean the same to every client's tools: Unicode in
 * patterns, decimals by `multipleOf`, and a narrower `date-time`. A schema names one as `x-check`, and its description
 * says the same in prose. Tools pass the name over; the service refuses what breaks the rule.
 */
export const checks: Record<string, Check> = {
  text: characters(isStorable),
  // Other control characters take six bytes each in an event.
  lines: characters((text) => isStorable(text) && !/[^\P{Cc}\t\n\r\x7f-\x9f]/u.test(text)),
  line: characters(isLine),
  'line-not-blank': characters((text) => isLine(text) && /\S/.test(text)),
  // RFC 3339 of the years 2000 to 2099, to the nanosecond.
  moment: {
    ...characters((text) =>
      /^20\d{2}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-](0\d|1[0-4]):[0-5]\d)$/.test(text),
    ),
    message: 'is not a moment with an offset, in the years 2000 to 2099',
    maxLength: 35,
  },
  'moment-or-local-time': {
    ...characters(
      (text) =>
        isDate(text.slice(0, 10)) &&
        /^.{10}T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d((\.\d{1,9})?(Z|[+-](0\d|1[0-4]):[0-5]\d))?)?$/.test(text),
    ),
    code: 'format',
    message: 'is neither a moment with an offset nor a local time, in the years 2000 to 2099',
  },
  date: {
    ...characters(isDate),
    code: 'format',
    message: 'is not a date',
  },
  // As the service writes it.
  timestamp: {
    ...characters((text) => /^\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d\.\d{3}Z$/.test(text)),
    maxLength: 24,
  },
  thousandths: {
    type: 'number',
    // In binary 0.29 is no multiple of 0.001; with a tolerance 0.290000001 would be one.
    holds: (value) => Math.round(value * 1000) / 1000 === value,
    code: 'precision',
    message: 'must be a multiple of 0.001',
  },
  // Lists of codes, kept by others and growing.
  'iana-time-zone': code(isTimeZone, 'is not an IANA time zone'),
  'iso-4217-currency': code((text) => currencies.has(text), 'is not an ISO 4217 currency'),
};

/** Teaches a validator `x-check`. */
export function withChecks<A extends Pick<Ajv2020, 'addKeyword'>>(ajv: A): A {
  ajv.addKeyword({
    keyword: 'x-check',
    type: ['string', 'number'],
    schemaType: 'string',
    compile(name: string) {
      const check = checks[name];
      if (!check) throw new Error(`there is no check ${name}`);
      return (value: unknown) => typeof value !== check.type || check.holds(value as never);
    },
    // In words it is told from the table.
    error: { message: 'is not valid', params: ({ schemaCode }) => _`{ check: ${schemaCode} }` },
  });
  return ajv;
}

function characters(holds: (text: string) => boolean) {
  const message = 'is blank or contains characters that are not allowed';
  return { type: 'string', holds, code: 'characters', message } as const;
}

function code(holds: (text: string) => boolean, message: string) {
  return { type: 'string', holds, code: 'enum', message } as const;
}

// The database takes neither NUL nor half of a surrogate pair.
function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

// Of the years that moments may have. JavaScript takes 30 February for 2 March.
function isDate(text: string): boolean {
  if (!/^20\d{2}-[01]\d-[0-3]\d$/.test(text)) return false;
  const date = new Date(text);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

function isLine(text: string): boolean {
  return !/\p{Cc}/u.test(text) && text.isWellFormed();
}

// Intl lacks one that ISO 4217 lists beside VES.
const currencies = new Set([...Intl.supportedValuesOf('currency'), 'VED']);

// Intl takes names in any case and knows aliases, which it may resolve to another name. Readers of ours may not.
function isTimeZone(name: string): boolean {
  if (name.length > 64) return false;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return timeZone === name || timeZone.toLowerCase() !== name.toLowerCase();
  } catch {
    return false;
  }
}
