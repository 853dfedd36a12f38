import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const editions = ['openapi.json', 'openapi-3.0.json'] as const;

export interface Found {
  /** Every `pattern`, once. */
  patterns: string[];
  /** Every text among the examples, once. */
  examples: string[];
}

/** @param folder of both editions */
export function readDocuments(folder: string): Found {
  const patterns = new Set<string>();
  const examples = new Set<string>();
  const walk = (value: unknown, inExample: boolean): void => {
    if (typeof value === 'string' && inExample) examples.add(value);
    if (typeof value !== 'object' || value === null) return;
    for (const [key, child] of Object.entries(value)) {
      if (key === 'pattern' && typeof child === 'string') patterns.add(child);
      else walk(child, inExample || /^(examples?|value)$/.test(key));
    }
  };
  for (const edition of editions) walk(JSON.parse(readFileSync(join(folder, edition), 'utf8')), false);
  return { patterns: [...patterns], examples: [...examples].filter(singleLine) };
}

/** Ruby's `^` and `$` stand at every line's ends, those of Python and PHP before a last line break. */
function singleLine(text: string): boolean {
  return !/[\n\r\u2028\u2029]/.test(text);
}
