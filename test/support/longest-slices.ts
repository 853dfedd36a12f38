import type { Test } from 'tap';

/**
 * Watches the event loop of this thread. It measures the CPU time that the thread used between two moments at which a
 * timer could have run; on a busy machine, wall-clock time would include the work of other processes.
 */
export function longestSlices(t: Test): { takeLongest(): number } {
  let longest = 0;
  let last = process.threadCpuUsage();
  const look = () => {
    const { user, system } = process.threadCpuUsage(last);
    last = process.threadCpuUsage();
    longest = Math.max(longest, (user + system) / 1000);
  };
  const timer = setInterval(look, 2);
  t.teardown(() => clearInterval(timer));
  return {
    takeLongest() {
      look();
      const taken = longest;
      longest = 0;
      return taken;
    },
  };
}
