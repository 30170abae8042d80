/** The examples of docs/runs.md; test/docs/runs.test.ts runs them. */
import type { Everloop, Step } from '../../src/index.ts';

/** Looks at a run that another process started, and waits for its end. */
export async function watchRun(
  everloop: Pick<Everloop, 'attach'>,
  id: string,
  log: (text: string) => void,
): Promise<Step> {
  // #region attach
  const run = everloop.attach(id);
  const { state, iteration, waitsFor } = await run.status();
  log(`${state}, turn ${iteration}: ${waitsFor.join(', ')}`);
  await run.send('Leave the prices out.', { kind: 'steer' });
  const step = await run.result();
  // #endregion
  return step;
}
