import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { readDocuments } from './documents.ts';

interface Engine {
  name: string;
  /** Reads `[patterns, texts]` from its standard input and writes, for each pattern, which texts it matches. */
  command: string[];
  /** What to install when the program is not there. */
  package: string;
}

const file = (name: string) => join(import.meta.dirname, 'engines', name);
const engines: Engine[] = [
  { name: 'Python re', command: ['python3', file('match.py')], package: 'python3' },
  { name: 'Ruby', command: ['ruby', file('match.rb')], package: 'ruby' },
  { name: 'PHP PCRE', command: ['php', file('match.php')], package: 'php-cli' },
  { name: 'Go RE2', command: ['go', 'run', file('match.go')], package: 'Go' },
];

/** What differs between engines: other scripts, digits, letters and white space, four-byte and composed characters. */
const awkward = [
  ...[
    '',
    ' ',
    'a',
    'A',
    'z9',
    'AB',
    'ABC',
    'ab',
    'a b',
    ' a',
    'a ',
    '-',
    '_',
    '.',
    '/',
    '"',
    '\\',
    '[',
    ']',
    '^',
    '$',
  ],
  ...[
    '🍣',
    '𠮷',
    '🍣 𠮷',
    'é',
    'e\u0301',
    'ß',
    'İ',
    '\u212a',
    '\u017f',
    'ＡＢ',
    '١',
    '४',
    '\u00a0',
    '\u3000',
    '\u200b',
  ],
  ...['\t', '\u0001', '\u001f', '\u007f', '\u0080', '\u009f', '\ufeff', '\ufffd', '\u{10ffff}', 'a\u0000'],
  ...[
    '٢٠٢٦-03-14 18:05:12',
    '2026-03-14 18:05:12',
    'https://a',
    'HTTPS://a',
    'http://ü/',
    'https://a@b/#c',
    '"1-a"',
    'W/"1"',
  ],
];

export interface Compared {
  /** A line for each pattern that an engine refuses or that two engines do not agree on. */
  faults: string[];
  compared: string;
  /** What to install for engines that are not there. */
  missing: string[];
}

/** Runs each pattern of both editions in each engine over the awkward texts and the examples of the documents. */
export function comparePatterns(folder: string): Compared {
  const { patterns, examples } = readDocuments(folder);
  const texts = [...new Set([...awkward, ...examples])];
  const faults: string[] = [];
  const expected = ecmaScript(patterns, texts, 'u', faults);
  const others = [{ name: 'ECMAScript without u', matches: ecmaScript(patterns, texts, '', faults) }];
  const missing: string[] = [];
  for (const { name, command, package: what } of engines) {
    const [program = '', ...args] = command;
    const { error, status, stdout, stderr } = spawnSync(program, args, {
      input: JSON.stringify([patterns, texts]),
      encoding: 'utf8',
      maxBuffer: 64 << 20,
    });
    if ((error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') missing.push(what);
    else if (status !== 0)
      faults.push(`${name} refuses a pattern: ${(stderr || stdout).trim().slice(0, 400)}`);
    else others.push({ name, matches: JSON.parse(stdout) });
  }
  for (const { name, matches } of others) {
    for (const [row, pattern] of patterns.entries()) {
      const differing = texts.filter((_, column) => matches[row]?.[column] !== expected[row]?.[column]);
      if (differing.length > 0)
        faults.push(`${name} and ECMAScript differ in ${pattern} on ${shown(differing)}`);
    }
  }
  const names = ['ECMAScript with u', ...others.map(({ name }) => name)];
  return {
    faults,
    missing,
    compared: `${patterns.length} patterns on ${texts.length} texts in ${names.join(', ')}`,
  };
}

function ecmaScript(patterns: string[], texts: string[], flags: string, faults: string[]): boolean[][] {
  return patterns.map((pattern) => {
    try {
      const expression = new RegExp(pattern, flags);
      return texts.map((text) => expression.test(text));
    } catch (error) {
      faults.push((error as Error).message);
      return [];
    }
  });
}

function shown(texts: string[]): string {
  return `${texts
    .slice(0, 3)
    .map((text) => JSON.stringify(text))
    .join(', ')}${texts.length > 3 ? ', …' : ''}`;
}
