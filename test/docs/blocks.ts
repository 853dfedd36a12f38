import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from '../support/process.ts';
import { runBy } from './run-by.ts';

/** What stands between two fences of a document. */
export interface Block {
  /** The document and the heading above the block: 'docs/webhooks.md > Register an endpoint'. */
  place: string;
  /** The word after the fence: 'sh', 'console', 'yaml'; empty for plain text. */
  kind: string;
  text: string;
}

/** The front door and what it leads to. */
export const documents = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: root }).sort()];

/** The blocks that run-by.ts entrusts to a test, in the order of the documents. @param url its import.meta.url */
export function blocksRunBy(url: string): Block[] {
  const test = relative(root, fileURLToPath(url));
  return documents.flatMap(blocksOf).filter(({ place }) => runBy[place] === test);
}

export function blocksOf(document: string): Block[] {
  const blocks: Block[] = [];
  let heading = '';
  let open: Block | undefined;
  for (const line of textOfDocument(document).split('\n')) {
    const fence = /^```(\w*)$/.exec(line);
    if (open && fence) {
      blocks.push({ ...open, text: open.text.trimEnd() });
      open = undefined;
    } else if (open) open.text += `${line}\n`;
    else if (fence) open = { place: `${document} > ${heading}`, kind: fence[1] ?? '', text: '' };
    else heading = /^#{1,6} (.*)$/.exec(line)?.[1] ?? heading;
  }
  if (open) throw new Error(`${open.place}: a fence is left open`);
  return blocks;
}

export function textOfDocument(document: string): string {
  return readFileSync(join(root, document), 'utf8');
}
