import { parseStored, type StoredText } from '../stored-menu.ts';
import { contentOf } from './document.ts';
import { writeCsv } from './write-csv.ts';
import { writeJson } from './write-json.ts';

/** The form of an export. */
export interface Form {
  mediaType: 'application/json' | 'text/csv';
  /** Also what staff switch during service. */
  withAvailability: boolean;
}

/** The menu as one document, in UTF-8. */
export function writeDocument(
  stored: StoredText,
  { mediaType, withAvailability }: Form,
): Uint8Array<ArrayBuffer> {
  const content = contentOf(parseStored(stored), { withAvailability });
  const { currency } = stored;
  const text =
    mediaType === 'text/csv'
      ? writeCsv(content, { currency, withAvailability })
      : writeJson(content, currency);
  return new TextEncoder().encode(text);
}
