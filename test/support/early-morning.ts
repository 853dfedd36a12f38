// A time zone in which it is now between three and four, hours away from anything the tests schedule.
const ahead = ((new Date().getUTCHours() + 21 + 12) % 24) - 12;
export const timezone = `Etc/GMT${ahead < 0 ? '' : '+'}${ahead}`;
const offset = -ahead * 3_600_000;

/** The next moment at which the local time there is `time`. */
export function next(time: string): string {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  const now = Date.now();
  const today = Math.floor((now + offset) / 86_400_000) * 86_400_000 - offset;
  const moment = today + (hour * 60 + minute) * 60_000;
  return new Date(moment > now ? moment : moment + 86_400_000).toISOString();
}

const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

/** The same hours on every day. */
export function daily(from: string, minutes: number) {
  return { weekly: [{ days, from, minutes }] };
}
