import type { ErrorList, FieldError } from '../../http/errors.ts';
import type { MenuContent } from './document.ts';
import { type CsvRow, cellName, readCsvRows } from './read-csv.ts';

/** A document that was sent as CSV. If it has errors, it may violate its schema. */
export interface CsvDocument {
  content: MenuContent;
  /** Errors of the file as CSV. */
  errors: ErrorList;
  /** Translates pointers into the document to lines and columns of the file; returns the errors ordered by line. */
  inFile(errors: FieldError[]): FieldError[];
}

/** Assembles the rows: items go into the categories that they name, in the order of the rows. */
export function readCsv(text: string): CsvDocument {
  const { rows, errors } = readCsvRows(text);
  const [menu, ...moreMenus] = rows.filter(({ record }) => record === 'menu');
  for (const { line } of moreMenus) {
    errors.add({ field: cellName(line, 'record'), code: 'duplicate', message: 'is a second menu row' });
  }
  const categories = gather(rows, errors);
  const content = {
    ...menu?.fields,
    categories: categories.map(({ row, items }) => ({
      ...row?.category,
      ...row?.fields,
      items: items.map(({ fields }) => fields),
    })),
  };
  const lineAt = (category?: string, item?: string) => {
    if (category === undefined) return menu?.line ?? 1;
    const { row, items } = categories[Number(category)] ?? {};
    return item === undefined ? row?.line : items?.[Number(item)]?.line;
  };
  return { content: content as MenuContent, errors, inFile: (found) => inFile(found, lineAt) };
}

interface Gathered {
  row: CsvRow | undefined;
  items: CsvRow[];
}

function gather(rows: CsvRow[], errors: ErrorList): Gathered[] {
  const categories: Gathered[] = rows
    .filter(({ record }) => record === 'category')
    .map((row) => ({ row, items: [] }));
  const byName = new Map<unknown, Gathered>();
  for (const category of categories.toReversed()) {
    const { external_id, category_id } = category.row?.category ?? {};
    for (const name of [external_id, category_id]) if (name !== undefined) byName.set(name, category);
  }
  // Items without a category are checked too, in a category without a row, which itself is not checked.
  const homeless: CsvRow[] = [];
  for (const item of rows) {
    if (item.record !== 'item') continue;
    const { external_id, category_id } = item.category;
    const home = byName.get(external_id ?? category_id);
    if (!home) errors.add(homeError(item));
    (home?.items ?? homeless).push(item);
  }
  return homeless.length > 0 ? [...categories, { row: undefined, items: homeless }] : categories;
}

function homeError({ line, category: { external_id, category_id } }: CsvRow): FieldError {
  const column =
    external_id === undefined && category_id !== undefined ? 'category_id' : 'category_external_id';
  return external_id === undefined && category_id === undefined
    ? { field: cellName(line, column), code: 'required', message: 'must name the category of the item' }
    : { field: cellName(line, column), code: 'not_found', message: 'names a category that has no row' };
}

const pointer = /^\/data(?:\/categories\/(\d+)(?:\/items\/(\d+))?)?(?:\/([^/]+))?/;

function inFile(
  errors: FieldError[],
  lineAt: (category?: string, item?: string) => number | undefined,
): FieldError[] {
  const located = errors.flatMap((error): (FieldError & { line: number })[] => {
    const [found, category, item, name] = pointer.exec(error.field) ?? [];
    if (found === undefined) return [{ ...error, line: lineOf(error.field) }];
    const line = lineAt(category, item);
    if (line === undefined) return [];
    const isKey = category !== undefined && item === undefined && name === 'external_id';
    return [{ ...error, field: cellName(line, isKey ? 'category_external_id' : name), line }];
  });
  return located.sort((a, b) => a.line - b.line).map(({ line: _, ...error }) => error);
}

function lineOf(field: string): number {
  return Number(/^line (\d+)/.exec(field)?.[1] ?? 0);
}
