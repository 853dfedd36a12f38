import type { components } from '../../../generated/api.ts';
import { mostValuesOfImport, parseCsvText, parseJson } from '../../contract/bodies.ts';
import { schemaErrors } from '../../contract/validation.ts';
import { ErrorList, type FieldError } from '../../http/errors.ts';
import type { StoredMenu } from '../stored-menu.ts';
import { readCsv } from './csv-document.ts';
import type { MenuContent } from './document.ts';
import { type Matches, matchContent } from './match.ts';

type MenuDocument = components['schemas']['MenuDocument'];

/** A document as it was sent, examined as far as possible without the menu. */
export interface SentDocument {
  content: MenuContent;
  /** Whether it is wrong whatever the menu contains. */
  isWrong: boolean;
  /**
   * @param stored undefined when the caller may not see the menu.
   * @returns also the errors of the document, with places in the body that was sent.
   */
  match(stored: StoredMenu | undefined): Matches & { listed: FieldError[] };
}

/** Reads a body of either media type. @throws 422 when it is not a document. */
export function readDocument(body: Uint8Array, bodyType: 'application/json' | 'text/csv'): SentDocument {
  const { document, errors, inFile } = bodyType === 'text/csv' ? csvDocument(body) : jsonDocument(body);
  const content = (document as Partial<MenuDocument> | null)?.data as MenuContent;
  const ownErrors: FieldError[] = [...errors, ...schemaErrors('MenuDocument', document)];

  return {
    content,
    isWrong: ownErrors.length > 0 || !matchContent(content, undefined).errors.isEmpty,
    match(stored) {
      const matches = matchContent(content, stored);
      const all = [...ownErrors, ...matches.errors];
      return { ...matches, listed: inFile ? inFile(all) : all };
    },
  };
}

function csvDocument(body: Uint8Array) {
  const { content, errors, inFile } = readCsv(parseCsvText(body));
  return { document: { data: content }, errors, inFile };
}

function jsonDocument(body: Uint8Array) {
  return { document: parseJson(body, mostValuesOfImport), errors: new ErrorList(), inFile: undefined };
}
