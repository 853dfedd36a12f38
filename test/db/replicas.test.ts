import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { Lag } from '../../src/db/replicas/lag.ts';
import { endOfRecords, type Lsn, laterOf, readLsn } from '../../src/db/replicas/lsn.ts';
import { shareLooks } from '../../src/db/replicas/share-looks.ts';

t.test('positions of the log are in order as text', async (t) => {
  const inOrder = ['0/0', '0/A', '0/10', '0/FFFFFFFF', '1/0', '9/FF', 'A/0', '10/0', 'FFFFFFFF/FFFFFFFF'];
  const read = inOrder.map(readLsn);
  t.strictSame(read.toSorted(), read);
  t.equal(laterOf(readLsn('0/9'), readLsn('0/10')), readLsn('0/10'));
  t.equal(laterOf(undefined, readLsn('0/9')), readLsn('0/9'));
  t.equal(laterOf(readLsn('0/9'), undefined), readLsn('0/9'));
});

t.test('behind the header of a page that holds nothing yet, a log ends where its page begins', async (t) => {
  const cases: [string, string][] = [
    ['3/2000018', '3/2000018'],
    ['3/2000028', '3/2000000'],
    ['3/2002018', '3/2002000'],
    ['3/2002028', '3/2002028'],
    ['3/2002080', '3/2002080'],
    ['A/18', 'A/18'],
    ['A/28', 'A/0'],
  ];
  for (const [insert, end] of cases) t.equal(endOfRecords(readLsn(insert)), readLsn(end), insert);
});

t.test('a replica is behind for as long as the primary has been ahead', async (t) => {
  const lag = new Lag();
  const at = (n: number) => readLsn(`0/${n}`);
  t.equal(lag.behindMs(at(1), 0), 0, 'nothing is known of the primary');
  lag.note(at(1), 100);
  lag.note(at(1), 300);
  lag.note(at(3), 500);
  lag.note(at(5), 700);
  t.equal(lag.behindMs(at(5), 10_000), 0, 'however long nobody has written');
  t.equal(lag.behindMs(at(4), 1_000), 300);
  t.equal(lag.behindMs(at(2), 1_000), 500);
  for (let n = 1; n <= 2_000; n += 1) lag.note(readLsn(`1/${n.toString(16)}`), 700 + n * 200);
  t.ok(lag.behindMs(at(1) as Lsn, 400_700) >= 119_000, 'what is long past is forgotten, not the distance');
});

t.test('a look is shared by those who asked before it began', async (t) => {
  let begun = 0;
  let release = Promise.withResolvers<void>();
  const look = shareLooks(async () => {
    begun += 1;
    const own = begun;
    await release.promise;
    return own;
  });
  const first = look();
  const [second, third] = [look(), look()];
  t.equal(begun, 1);
  const passed = release;
  release = Promise.withResolvers();
  passed.resolve();
  t.equal(await first, 1);
  await setImmediate();
  t.equal(begun, 2);
  const fourth = look();
  release.resolve();
  t.strictSame(await Promise.all([second, third, fourth]), [2, 2, 3]);
  t.equal(await look(), 4);
});

t.test('a look that fails fails those who share it alone', async (t) => {
  let begun = 0;
  const look = shareLooks(async () => {
    begun += 1;
    if (begun === 1) throw new Error('away');
    return begun;
  });
  const [first, second] = [look(), look()];
  await t.rejects(first, { message: 'away' });
  t.equal(await second, 2);
});
