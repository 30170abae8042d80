/** What this process does between two turns of its event loop. */
import { setImmediate } from 'node:timers/promises';

/** The most that `count` grows between two turns until `work` is done. */
export async function mostInATurn(work: Promise<unknown>, count: () => number): Promise<number> {
  let isDone = false;
  const end = (): void => {
    isDone = true;
  };
  work.then(end, end);
  let most = 0;
  for (let last = count(); !isDone;) {
    await setImmediate();
    const now = count();
    most = Math.max(most, now - last);
    last = now;
  }
  return most;
}
