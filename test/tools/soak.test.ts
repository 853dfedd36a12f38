import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { retentionDays } from '../chaos/soak/calendar.ts';
import { days, type Moment } from '../chaos/soak/soak.ts';
import { verdicts } from '../chaos/soak/verdicts.ts';
import { runToEnd } from '../support/process.ts';

t.setTimeout(300_000);

const flat = {
  rss_mb: 250,
  heap_mb: 80,
  descriptors: 60,
  queue: 900,
  mb_event: 40,
  requests: 500,
  failed: 0,
};

/** Ten samples a day, as noisy as real ones. */
function run(change: (day: number, sample: number) => Partial<typeof flat>): Moment[] {
  return Array.from({ length: days * 10 }, (_, n) => {
    const day = Math.floor(n / 10);
    const noise = 1 + Math.sin(n) / 20;
    const noisy = Object.entries(flat).map(([name, value]) => [name, value * noise]);
    return { minute: n, day, sample: { ...Object.fromEntries(noisy), ...change(day, n % 10) } };
  });
}

const complaints = (moments: Moment[]) =>
  verdicts(moments)
    .filter(({ isGood }) => !isGood)
    .map(({ line }) => line.split(' ', 1)[0]);

t.test('growth after the retention period is reached is found, through noise and outliers', async (t) => {
  t.same(complaints(run(() => ({}))), []);
  t.same(complaints(run((day) => ({ rss_mb: 250 + 2 * day }))), ['rss_mb'], '2 MiB a day');
  t.same(complaints(run((day) => ({ descriptors: 60 + day }))), ['descriptors']);
  t.same(complaints(run((day) => ({ queue: 900 + 20 * day }))), ['queue']);
  t.same(complaints(run((day) => ({ mb_event: 40 + day }))), ['mb_event']);
  t.same(
    complaints(run((day) => ({ mb_event: 20 * Math.min(day, retentionDays + 1) }))),
    [],
    'what is kept may come',
  );
  t.same(complaints(run((day) => ({ mb_event: day === 9 || day === 20 ? 400 : 40 }))), [], 'outliers');
  t.same(complaints(run(() => ({ failed: 5 }))).length, 1, 'requests that fail');
  t.same(complaints(run(() => ({})).slice(0, 60)).length, 1, 'too short a run tells nothing');
});

t.test(
  'a minute of it lets days pass, and leaves its samples and a plot',
  { skip: globSync('/usr/lib/*/faketime/*').length === 0 && !process.env['CI'] && 'libfaketime is not here' },
  async (t) => {
    const out = mkdtempSync(join(tmpdir(), 'soak-test-'));
    t.teardown(() => rmSync(out, { recursive: true }));
    const { stdout, stderr } = await runToEnd(t, {}, [
      ...[process.execPath, 'test/chaos/soak/main.ts'],
      ...['--minutes', '1', '--out', out],
    ]);
    t.equal(stderr, '');
    t.match(stdout, /^day {2}5 .*healthy [1-9]\d*, slow [1-9]\d*, dead [1-9]/m);
    t.match(stdout, /^rss_mb +median [1-9]/m);
    const [head = '', ...rows] = readFileSync(join(out, 'soak.csv'), 'utf8').trim().split('\n');
    t.match(
      head,
      /^minute,day,rss_mb,heap_mb,descriptors,event_loop_p99_ms,queue,requests,failed,request_p99_ms,/,
    );
    t.ok(rows.length >= 5);
    t.ok(existsSync(join(out, 'soak.svg')));
  },
);

t.test('it lists its options, and names unknown ones in one line', async (t) => {
  const program = [process.execPath, 'test/chaos/soak/main.ts'];
  t.match((await runToEnd(t, {}, [...program, '--help'])).stdout, /^usage: make chaos SOAK=1/);
  const { stderr, ended } = await runToEnd(t, {}, [...program, '--minutes', 'two']);
  t.equal(ended, 1);
  t.match(stderr, /^soak: [^\n]*\n$/);
});
