/** What work costs the processor: the clock on the wall measures what else a machine does. */

/** Milliseconds of processor time that `work` takes, the best of three runs. */
export function cpuMsOf(work: () => unknown): number {
  const runs = [1, 2, 3].map(() => {
    const cpuMs = cpuClock();
    work();
    return cpuMs();
  });
  return Math.min(...runs);
}

/** A clock that tells the milliseconds of processor time that this process has had from now on. */
export function cpuClock(): () => number {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
}
