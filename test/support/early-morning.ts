// A zone in which it is between three and four now, hours away from all that happens in the tests.
const ahead = ((new Date().getUTCHours() + 21 + 12) % 24) - 12;
export const timezone = `Etc/GMT${ahead < 0 ? '' : '+'}${ahead}`;
const offset = -ahead * 3_600_000;

/** The next moment at which it is this time there. */
export function next(time: string): string {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  const now = Date.now();
  const today = Math.floor((now + offset) / 86_400_000) * 86_400_000 - offset;
  const moment = today + (hour * 60 + minute) * 60_000;
  return new Date(moment > now ? moment : moment + 86_400_000).toISOString();
}

const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

/** Hours of every day. */
export function daily(from: string, minutes: number) {
  return { weekly: [{ days, from, minutes }] };
}
