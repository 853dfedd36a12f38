/** Counts of the assertions of a file. */
export interface FileEnd {
  passed: number;
  failed: number;
}

const mark = '# end of file ';

/** Told by a process after the report of each file, in a line of its own. */
export function fileEnd(end: FileEnd): string {
  return `${mark}${JSON.stringify(end)}`;
}

export function readFileEnd(line: string): FileEnd | undefined {
  return line.startsWith(mark) ? JSON.parse(line.slice(mark.length)) : undefined;
}
