/**
 * Milliseconds of processor time that `work` takes, the best of three runs: on a machine that does
 * other things too, the clock on the wall measures those as well.
 */
export function cpuMsOf(work: () => unknown): number {
  const runs = [1, 2, 3].map(() => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...runs);
}
