/** The examples of docs/inspecting.md; test/docs/inspecting.server.test.ts runs them. */
import type { AgentEvent, Everloop } from '../../src/index.ts';

/** Reads a run of any length, page by page. */
export async function readPages(
  everloop: Pick<Everloop, 'attach'>,
  id: string,
  show: (events: readonly AgentEvent[]) => void,
): Promise<void> {
  // #region pages
  const run = everloop.attach(id);
  const { events = 0 } = await run.status();
  for (let from = 0; from < events; from += 200) {
    show(await run.events({ from, limit: 200 }));
  }
  // #endregion
}
