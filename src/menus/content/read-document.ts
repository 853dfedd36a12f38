import type { components } from '../../../generated/api.ts';
import { schemaErrors } from '../../contract/validation.ts';
import { type FieldError, parameterError } from '../../http/errors.ts';
import type { StoredMenu } from '../stored-menu.ts';
import { readCsv } from './csv-document.ts';
import type { MenuContent } from './document.ts';
import { type Matches, matchContent } from './match.ts';

type MenuDocument = components['schemas']['MenuDocument'];

/** A document as it was sent, looked at as far as that goes without the menu. */
export interface SentDocument {
  content: MenuContent;
  /** Whether it is wrong whatever the menu holds. */
  isWrong: boolean;
  /**
   * @param stored undefined when the caller may not see the menu.
   * @throws 422 with every error of the document, in the terms of the body that was sent.
   */
  match(stored: StoredMenu | undefined): Matches;
}

/** Reads a body of either media type. */
export function readDocument(
  body: MenuDocument | string,
  bodyType: 'application/json' | 'text/csv',
): SentDocument {
  const { content, errors, inFile } =
    bodyType === 'text/csv'
      ? readCsv(body as string)
      : {
          content: (body as Partial<MenuDocument> | null)?.data as MenuContent,
          errors: [],
          inFile: undefined,
        };
  const document = bodyType === 'text/csv' ? { data: content } : body;
  const ownErrors: FieldError[] = [...errors, ...schemaErrors('MenuDocument', document)];

  return {
    content,
    isWrong: ownErrors.length > 0 || matchContent(content, undefined).errors.length > 0,
    match(stored) {
      const matches = matchContent(content, stored);
      const all = [...ownErrors, ...matches.errors];
      if (all.length > 0) throw parameterError(inFile ? inFile(all) : all);
      return matches;
    },
  };
}
