/** A position in the write-ahead log, as text whose order is that of the log. */
export type Lsn = string & { readonly lsn: unique symbol };

/** @param text as PostgreSQL writes it: two hexadecimal numbers of up to 8 digits with a slash between. */
export function readLsn(text: string): Lsn {
  return text
    .split('/')
    .map((half) => half.padStart(8, '0'))
    .join('')
    .toUpperCase() as Lsn;
}

/**
 * Where the last record before an insert position ends, which is as far as a replica can get: the primary names the
 * place of the next record, which at the start of a page comes after the page's header.
 * Source: PostgreSQL's xlog.c, XLogBytePosToRecPtr and XLogBytePosToEndRecPtr; pages of 8 kB, segments of 16 MB.
 */
export function endOfRecords(insert: Lsn): Lsn {
  const low = Number.parseInt(insert.slice(8), 16);
  const header = low % segmentBytes < pageBytes ? longHeader : shortHeader;
  if (low % pageBytes !== header) return insert;
  return `${insert.slice(0, 8)}${(low - header).toString(16).padStart(8, '0').toUpperCase()}` as Lsn;
}

const pageBytes = 8_192;
const segmentBytes = 16 * 1024 * 1024;
const shortHeader = 24;
const longHeader = 40;

/** The later one; undefined where there is none. */
export function laterOf(a: Lsn | undefined, b: Lsn | undefined): Lsn | undefined {
  return a === undefined || (b !== undefined && b > a) ? b : a;
}
