import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import t from 'tap';
import { root } from '../support/process.ts';
import { blocksOf, documents, textOfDocument } from './blocks.ts';
import { notRun, runBy } from './run-by.ts';

t.test('the front door stays short', async (t) => {
  t.ok(textOfDocument('README.md').split('\n').length <= 170);
  for (const document of documents.filter((one) => one.startsWith('docs/decisions/'))) {
    const text = textOfDocument(document);
    t.ok(text.split('\n').length <= 60, `${document} is a page`);
    const headings = [...text.matchAll(/^##? (.*)$/gm)].map(([, heading]) => heading);
    t.same(headings.slice(1), ['Context', 'Decision', 'Consequence'], document);
  }
});

t.test('every relative link leads to a file and a heading', async (t) => {
  for (const document of documents) {
    for (const [link, path = '', anchor] of proseOf(document).matchAll(
      /\]\((?!https?:)([^)#]*)#?([^)]*)\)/g,
    )) {
      const target = path === '' ? document : relative(root, join(root, dirname(document), path));
      t.ok(existsSync(join(root, target)), `${document}: ${link}`);
      if (anchor) t.ok(anchorsOf(target).includes(anchor), `${document}: ${link}`);
    }
  }
});

t.test('every file, target and script that they name exists', async (t) => {
  const makefile = readFileSync(join(root, 'Makefile'), 'utf8');
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const document of documents) {
    const text = textOfDocument(document);
    for (const [path] of text.matchAll(
      /(?<=[`\s])(?:src|test|scripts|openapi|generated|examples)\/[\w./-]*\w/g,
    ))
      if (!addedByTheWalk.includes(path)) t.ok(existsSync(join(root, path)), `${document}: ${path}`);
    // Only in code: "make sure" is prose.
    for (const [, target] of codeOf(document).matchAll(/(?<![\w-])make ([a-z]+)(?![\w.=-])/g))
      t.ok(makefile.includes(`\n${target}:`), `${document}: make ${target}`);
    for (const [, script = ''] of text.matchAll(/npm run (?:--silent )?([\w:-]+)/g))
      t.ok(script in scripts, `${document}: npm run ${script}`);
  }
});

t.test('every block is run by a test, or there is a reason why not', async (t) => {
  const blocks = documents.flatMap(blocksOf).filter(({ kind }) => kind !== '');
  const places = new Set(blocks.map(({ place }) => place));
  for (const place of places) t.ok(place in runBy !== place in notRun, place);
  t.same(
    Object.keys({ ...runBy, ...notRun }).filter((place) => !places.has(place)),
    [],
    'nothing is named that is not there',
  );
  for (const test of new Set(Object.values(runBy)))
    t.match(readFileSync(join(root, test), 'utf8'), 'blocksRunBy(import.meta.url)', test);
});

const addedByTheWalk = [
  'openapi/paths/category-by-id.yaml',
  'src/categories/get-category-by-id.ts',
  'test/categories/get-category-by-id.test.ts',
];

/** The document without its blocks. */
function proseOf(document: string): string {
  return textOfDocument(document).replaceAll(/^```.*?^```$/gms, '');
}

/** What stands in the spans and blocks of code of a document, a piece a line. */
function codeOf(document: string): string {
  const spans = [...proseOf(document).matchAll(/(`+)(.+?)\1/gs)].map(([, , code = '']) => code);
  return [...blocksOf(document).map(({ text }) => text), ...spans].join('\n');
}

/** As GitHub makes them of headings. */
function anchorsOf(document: string): string[] {
  return [...proseOf(document).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-'),
  );
}
