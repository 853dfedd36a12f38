import t from 'tap';
import {
  nextDelayMs,
  parseRetryAfter,
  retryDelaysSeconds,
} from '../../../src/webhooks/delivery/retry-schedule.ts';

const hourMs = 3_600_000;
const middle = () => 0.5;

t.test('ten attempts are made over about 75 hours, then the schedule is over', async (t) => {
  const delays = Array.from({ length: 11 }, (_, n) => nextDelayMs(n + 1, { random: middle }));
  t.same(delays, [...retryDelaysSeconds.map((seconds) => seconds * 1000), null, null]);
  t.equal(Math.floor(retryDelaysSeconds.reduce((sum, seconds) => sum + seconds) / 3600), 75);
});

t.test('each delay is spread by 20 percent both ways', async (t) => {
  for (const [n, seconds] of retryDelaysSeconds.entries()) {
    t.equal(nextDelayMs(n + 1, { random: () => 0 }), seconds * 800);
    t.equal(nextDelayMs(n + 1, { random: () => 1 }), seconds * 1200);
    const drawn = nextDelayMs(n + 1, {}) ?? 0;
    t.ok(drawn >= seconds * 800 && drawn <= seconds * 1200);
  }
});

t.test('Retry-After is a floor under the delay, of at most 24 hours', async (t) => {
  t.equal(nextDelayMs(1, { retryAfterMs: 60_000, random: middle }), 60_000);
  t.equal(nextDelayMs(1, { retryAfterMs: 1_000, random: middle }), 5_000);
  t.equal(nextDelayMs(1, { retryAfterMs: 1_000 * hourMs, random: middle }), 24 * hourMs);
  t.equal(nextDelayMs(1, { retryAfterMs: Number.POSITIVE_INFINITY, random: middle }), 24 * hourMs);
  t.equal(nextDelayMs(10, { retryAfterMs: 1_000 }), null);
});

t.test('Retry-After is read as seconds and as a date in each form of RFC 9110', async (t) => {
  const now = new Date('1994-11-06T08:49:00Z');
  const read = (value: string | undefined) => parseRetryAfter(value, now);
  t.equal(read('0'), 0);
  t.equal(read('120'), 120_000);
  t.equal(read('Sun, 06 Nov 1994 08:49:37 GMT'), 37_000);
  t.equal(read('Sunday, 06-Nov-94 08:49:37 GMT'), 37_000);
  t.equal(read('Sun Nov  6 08:49:37 1994'), 37_000);
  t.equal(read('Sun, 06 Nov 1994 08:00:00 GMT'), 0, 'a past date asks for nothing');
});

t.test('a Retry-After that is absent or malformed asks for nothing', async (t) => {
  const malformed = ['', ' ', 'soon', '-5', '1.5', '5s', '1e3', '0x10', '9'.repeat(400), '5, 10'];
  const almostDates = ['1 item', '2030-01-01T00:00:00Z', 'Sun, 99 Nov 1994 08:49:37 GMT'];
  for (const value of [undefined, ...malformed, ...almostDates]) {
    t.equal(parseRetryAfter(value, new Date()), undefined, String(value).slice(0, 40));
  }
});
