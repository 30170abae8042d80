/** The examples of docs/forks.md; test/e2e/forks.test.ts runs them. */
import type { Entry, Everloop, RunHandle, StateView } from '../../src/index.ts';

/** Looks at a run before one of its iterations. */
export async function lookBack(
  everloop: Pick<Everloop, 'attach'>,
  id: string,
  show: (entry: Entry) => void,
): Promise<StateView> {
  // #region at
  const then = await everloop.attach(id).at({ iteration: 2 });
  for (const entry of then.entries) show(entry);
  const mayRepeat = then.callsAfter.filter(({ effect }) => effect !== 'read');
  // #endregion
  return { ...then, callsAfter: mayRepeat };
}

/** Takes a run up again before its mistake, with other words. */
export async function correct(everloop: Pick<Everloop, 'fork'>, id: string): Promise<RunHandle> {
  // #region fork
  const fork = await everloop.fork(
    { run: id, at: { iteration: 2 } },
    {
      edits: [{ entry: 0, text: 'The invoice says 10, not 100.' }, { append: 'Pay the invoice.' }],
      limits: { costUsd: 1 },
      effects: 'replay-only',
    },
  );
  // #endregion
  return fork;
}
