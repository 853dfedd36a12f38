import type { Table } from '../bench.ts';

/** Prints the rows as Markdown tables with their notes, the rows of each table together. */
export function report(results: readonly { table: Table; rows: string[][] }[]): string {
  const tables = [...new Set(results.map(({ table }) => table))];
  return tables
    .map((table) => {
      const rows = results.filter((result) => result.table === table).flatMap((result) => result.rows);
      return [markdown([table.heading, ...rows]), ...table.notes.map((note) => `- ${note}`)].join('\n');
    })
    .join('\n\n');
}

function markdown(rows: string[][]): string {
  const [heading = [], ...body] = rows;
  const widths = heading.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0), 3));
  const numeric = heading.map((_, column) => body.every((row) => /^[\d.,]+$/.test(row[column] ?? '')));
  const line = (row: string[]) =>
    `| ${row.map((cell, column) => pad(cell, widths[column] ?? 0, numeric[column] ?? false)).join(' | ')} |`;
  const rule = widths.map((width, column) =>
    numeric[column] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width),
  );
  return `${[line(heading), line(rule), ...body.map(line)].join('\n')}\n`;
}

function pad(cell: string, width: number, right: boolean): string {
  return right ? cell.padStart(width) : cell.padEnd(width);
}
