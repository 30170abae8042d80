/** The console of the demo: the pages of its runs, so that you can watch the kill in a browser. */
import { connect } from '../../src/client/connect.ts';
import { openConsole } from '../../src/console/serve/open-console.ts';
import type { Cleanup } from '../../src/worker/config/cleanup.ts';

/** Where the runs of the demo are. */
export interface DemoPlace {
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly dataDir: string;
}

/** Opens the console; gives the address of the page of a run. */
export async function openRunPages(
  place: DemoPlace,
  cleanup: Cleanup,
): Promise<(runId: string) => string> {
  const everloop = await connect(place);
  cleanup.add(() => everloop.close());
  const opened = await openConsole({ everloop, dataDir: place.dataDir, env: process.env, place });
  cleanup.add(opened.close);
  const { hash } = new URL(opened.address);
  return (runId) => `${opened.url}/runs/${encodeURIComponent(runId)}${hash}`;
}
