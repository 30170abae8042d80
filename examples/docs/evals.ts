/** The example of docs/evals.md; test/e2e/forks.test.ts runs it. */
import { evalResult, evalTable, type Everloop } from '../../src/index.ts';

/** Compares two models on moments of runs. */
export async function compare(
  everloop: Pick<Everloop, 'evaluate'>,
  ids: readonly string[],
  log: (line: string) => void,
): Promise<void> {
  // #region evaluate
  const run = await everloop.evaluate(
    {
      moments: ids.map((id) => ({ run: id, at: { iteration: 2 } })),
      variants: [{ name: 'today' }, { name: 'large', model: 'large' }],
      times: 2,
    },
    { limits: { costUsd: 5 } },
  );
  const { rows } = evalResult(await run.result());
  for (const { variant, passed, tries } of evalTable(rows)) {
    log(`${variant}: ${passed} of ${tries}`);
  }
  // #endregion
}
