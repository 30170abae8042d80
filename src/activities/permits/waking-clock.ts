/** A difference of the clocks that is no rounding, in milliseconds. */
const SLEPT_MS = 1_000;

/**
 * Milliseconds since some moment. It never goes back, and it goes on while the machine sleeps, which
 * the steady clock of a process may not.
 */
export function wakingClock(): () => number {
  let steady = performance.now();
  let wall = Date.now();
  let slept = 0;
  return () => {
    const [nextSteady, nextWall] = [performance.now(), Date.now()];
    const ahead = nextWall - wall - (nextSteady - steady);
    if (ahead > SLEPT_MS) slept += ahead;
    [steady, wall] = [nextSteady, nextWall];
    return steady + slept;
  };
}
