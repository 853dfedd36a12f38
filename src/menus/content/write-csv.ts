import { stringify } from 'csv-stringify/sync';
import { priceText } from '../../locations/currency.ts';
import { availabilityColumns, type Column, columns, guarded, type Kind } from './csv-columns.ts';
import type { ItemContent, MenuContent } from './document.ts';

/** The document as CSV, in the form that schemas/MenuCsv.yaml of the contract describes. */
export function writeCsv(
  content: MenuContent,
  { currency, withAvailability }: { currency: string; withAvailability: boolean },
): string {
  const written = (Object.keys(columns) as Column[]).filter(
    (column) => withAvailability || !availabilityColumns.includes(column),
  );
  const rows = [...rowsOf(content, currency)].map((row) => written.map((column) => row[column] ?? ''));
  return stringify([written, ...rows], { bom: true, record_delimiter: '\r\n', quoted_match: /[\r\n]/ });
}

type Row = { record: Kind } & { [C in Column]?: string };

function* rowsOf({ name, description, is_active, categories }: MenuContent, currency: string): Iterable<Row> {
  yield { record: 'menu', ...texts({ name, description }), ...texts({ is_active }) };
  for (const { external_id, category_id, name, description, items } of categories) {
    const category = texts({ category_external_id: external_id, category_id });
    yield { record: 'category', ...category, ...texts({ name, description }) };
    for (const item of items) yield { record: 'item', ...category, ...itemCells(item, currency) };
  }
}

// Hours and modifier groups are only in the JSON document.
function itemCells(
  { price, allergens = [], dietary_tags = [], hours: _, modifier_groups: _uses, ...rest }: ItemContent,
  currency: string,
): Partial<Row> {
  const amount = price === undefined ? undefined : priceText(price, currency);
  const cells = { price: amount, allergens: list(allergens), dietary_tags: list(dietary_tags) };
  return { ...texts(rest), ...texts(cells) };
}

type Value = string | number | boolean | null | undefined;

function texts(values: { [C in Column]?: Value }): Partial<Row> {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(given.map(([column, value]) => [column, guarded(String(value))]));
}

// A row of CSV within the cell: a label may hold the separator, too.
function list(labels: string[]): string {
  return labels.length === 0
    ? ''
    : stringify([labels], { delimiter: ';', eof: false, quoted_match: /^\s|\s$/ });
}
