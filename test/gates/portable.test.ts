import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { root } from '../../scripts/generate/tool.ts';
import { comparePatterns } from '../../scripts/portable/patterns.ts';
import { refusedPrices } from '../../scripts/portable/validators.ts';

t.test('the patterns of both editions mean the same in every engine at hand', async (t) => {
  const { faults, compared } = comparePatterns(join(root, 'generated'));
  t.strictSame(faults, [], compared);
  t.match(compared, /^\d{2,} patterns on \d{3,} texts in ECMAScript with u, ECMAScript without u, Python re/);
});

/** What made a tool of some language fail once, and what is then said. */
const planted: Record<string, { pattern: string; fault: RegExp }> = {
  'surrogates, which no UTF-8 text has': {
    pattern: '^[^\\u0000\\ud800-\\udfff]*$',
    fault: /^ECMAScript without u and ECMAScript differ in .* on "🍣", "𠮷"/,
  },
  'digits of every script': {
    pattern: '^\\d$',
    fault: /^Python re and ECMAScript differ in \^\\d\$ on "١", "४"/,
  },
  'white space, of which each engine has its own list': {
    pattern: '^\\s$',
    fault: /^Python re and ECMAScript differ in \^\\s\$ on /,
  },
  'letters by property': { pattern: '^\\p{L}$', fault: /^Python re refuses a pattern: / },
  'an escape that the flag u refuses': { pattern: '^\\-$', fault: /Invalid escape/ },
};

for (const [what, { pattern, fault }] of Object.entries(planted)) {
  t.test(`the comparison finds ${what}`, async (t) => {
    const folder = await editionsWith(t, (document) => {
      document.components.schemas.Error.properties.title.pattern = pattern;
    });
    const { faults } = comparePatterns(folder);
    t.ok(
      faults.some((line) => fault.test(line)),
      faults.join('\n'),
    );
  });
}

t.test('Ajv as it comes takes every price, and not with multipleOf', async (t) => {
  for (const edition of ['openapi.json', 'openapi-3.0.json'])
    t.strictSame(refusedPrices(edition, join(root, 'generated', edition)), [], edition);
  const folder = await editionsWith(t, ({ components: { schemas } }) => {
    (schemas.Price ?? schemas.Item.properties.price).multipleOf = 0.01;
  });
  for (const edition of ['openapi.json', 'openapi-3.0.json'])
    t.match(
      refusedPrices(edition, join(folder, edition)),
      [/^Ajv refuses 1363 prices of .*: 0\.07, /],
      edition,
    );
});

/** A folder with both editions, changed. */
// biome-ignore lint/suspicious/noExplicitAny: an OpenAPI document
async function editionsWith(t: Test, change: (document: any) => void): Promise<string> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'portable-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  for (const edition of ['openapi.json', 'openapi-3.0.json']) {
    const document = JSON.parse(await readFile(join(root, 'generated', edition), 'utf8'));
    change(document);
    await writeFile(join(folder, edition), JSON.stringify(document));
  }
  return folder;
}
