/*
 * Follows the section "Add an operation" of CONTRIBUTING.md on a copy of the repository. A block whose first line names a
 * file is that file, or as `diff` a change to it; a `console` block holds commands and what they print, `…` for any text.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { blocksRunBy, textOfDocument } from '../docs/blocks.ts';
import { runToEnd } from '../support/process.ts';
import { copyOfTheProject } from '../support/project-copy.ts';

// Several times what it takes on a machine with nothing else to do.
t.setTimeout(240_000);

interface Part {
  kind: string;
  /** Named by its first line; undefined for commands. */
  file: string | undefined;
  lines: string[];
}

const section = /^## Add an operation\n(.*?)^## /ms.exec(textOfDocument('CONTRIBUTING.md'))?.[1] ?? '';
const blocks = blocksRunBy(import.meta.url).map(({ kind, text }): Part => {
  const [first = '', ...others] = text.split('\n');
  const file = /^(?:#|\/\/) (\S+\.\w+)$/.exec(first)?.[1];
  return { kind, file, lines: file ? others : [first, ...others] };
});
const files = blocks.filter(({ kind, file }) => file && kind !== 'diff');
const changes = blocks.filter(({ kind }) => kind === 'diff');
const sessions = blocks.filter(({ kind }) => kind === 'console');

t.test('what CONTRIBUTING.md says about adding an operation is true', async (t) => {
  const lines = files.flatMap((file) => file.lines).length;
  const listed = changes.flatMap((change) => change.lines.filter((line) => line.startsWith('+'))).length;
  const commands = sessions.flatMap((session) => session.lines.filter(isCommand)).length;
  t.equal(
    /By hand: [^.]*\./.exec(section)?.[0].replaceAll('\n', ' '),
    `By hand: ${files.length} files of ${lines} lines together, and ${listed} lines in the ${changes.length} files ` +
      `that list the operations; ${commands} commands.`,
  );
  t.equal([...section.matchAll(/^\*\*\d\. /gm)].length, 4, 'four steps');
});

t.test('an operation that is added as CONTRIBUTING.md says works', async (t) => {
  const copy = copyOfTheProject(t);
  const put = (file: string, text: string) => {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    writeFileSync(join(copy, file), text);
  };
  // Beside the gap the compiler is shown a handler that forgets a header; the document's own comes in its place.
  const [handler] = files.filter(({ file }) => file?.startsWith('src/'));
  const forgetful = textOf(handler).replace(', { ETag: row.etag }', '');
  t.not(forgetful, textOf(handler));
  put(handler?.file ?? '', forgetful);

  const printed: string[] = [];
  for (const block of blocks) {
    if (block === sessions[0]) await expectDrift(t, copy);
    if (block.kind === 'console') printed.push(...(await runSession(t, copy, block.lines)));
    else if (block.kind === 'diff') put(block.file ?? '', changed(join(copy, block.file ?? ''), block.lines));
    else put(block.file ?? '', textOf(block));
  }

  const refused = (printed[1] ?? '').match(/^\S+ error TS\d+: .*\n(?: .*\n)*/gm) ?? [];
  const [forgotten, gap, ...others] = refused.toSorted();
  t.match(forgotten, /^src\/categories\/get-category-by-id\.ts.*\n[\s\S]*Property 'ETag' is missing/);
  t.match(gap, /^src\/operations\.ts.*Property 'getCategoryById' is missing/);
  t.same(others, [], 'the compiler refuses nothing else');

  const { callsOnRecords } = await import(join(copy, 'test/contract/example-calls.ts'));
  t.ok(
    callsOnRecords.some(({ id }: { id: string }) => id === 'getCategoryById'),
    'the tests of every operation know it',
  );
});

/** What CI runs finds that generated/ is behind the contract. */
async function expectDrift(t: Test, directory: string): Promise<void> {
  const check = [process.execPath, 'scripts/generate.ts', '--check'];
  const { stderr, ended } = await runToEnd(t, {}, check, directory);
  t.equal(ended, 1, 'drift is found');
  t.match(stderr, /generated\/openapi\.json.*; run make generate/);
}

/** The file after the change. @throws when what the change stands beside is not there exactly once */
function changed(file: string, lines: string[]): string {
  return lines
    .join('\n')
    .split('\n@@\n')
    .reduce(
      (text, hunk) => {
        const side = (other: string) =>
          hunk
            .split('\n')
            .filter((line) => !line.startsWith(other))
            .map((line) => `${line.slice(1)}\n`)
            .join('');
        const parts = `\n${text}`.split(`\n${side('+')}`);
        if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times: ${side('+')}`);
        return parts.join(`\n${side('-')}`).slice(1);
      },
      readFileSync(file, 'utf8'),
    );
}

/** Runs the commands; each prints the lines shown below it, and fails only when that is shown. */
async function runSession(t: Test, directory: string, lines: string[]): Promise<string[]> {
  const printed: string[] = [];
  for (const [at, line] of lines.entries()) {
    if (!isCommand(line)) continue;
    const command = line.slice(2);
    const next = lines.findIndex((other, index) => index > at && isCommand(other));
    const shown = lines.slice(at + 1, next < 0 ? undefined : next);
    const { stdout, stderr, ended } = await runToEnd(t, {}, ['sh', '-c', command], directory);
    const everything = `${stdout}${stderr}`;
    t.equal(ended !== 0, /^make: \*\*\*/m.test(shown.join('\n')), `${command} ends with ${ended}`);
    for (const text of shown) t.match(everything, asPattern(text), `${command} prints: ${text}`);
    printed.push(everything);
  }
  return printed;
}

function isCommand(line: string): boolean {
  return line.startsWith('$ ');
}

function asPattern(shown: string): RegExp {
  const escaped = shown.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('…', '.*')}`, 'm');
}

function textOf(block: Part | undefined): string {
  return `${block?.lines.join('\n')}\n`;
}
