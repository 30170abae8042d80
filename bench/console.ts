/**
 * `console`: how fast the pages of the console are, and what the console costs beside them.
 *
 * A real server, a worker process, a console process and a Chromium, all on this machine. Loads are
 * cold: each has a browser context of its own, without a cache, and the figure is the median.
 *
 * - `first_paint_ms`: from the navigation to the first rows of a list of 200 runs of the server. The
 *   baseline is a page of one word. `first_paint_10000_ms` is the same with 10,000 runs.
 * - `filter_10000_ms`: from a key in the filter to the row that it finds, with all of 10,000 rows
 *   loaded; `heap_10000_mb` is the page's heap then.
 * - `open_5000_ms`: from the navigation to the newest of 5,000 iterations; `outline_5000_ms`: to the
 *   strip of all of them. The 10,000 runs and 5,000 iterations are prepared answers of the client:
 *   playing them takes minutes. Console, API and pages are the real ones.
 * - `event_to_pixels_p95_ms`: from the time of an event, which is that of its workflow task, to the
 *   frame after the page shows it; of beginnings of iterations and ends of calls of a run that works.
 * - `text_to_pixels_p95_ms`: the same of pieces of text, from the moment when the model function
 *   gives one; of those that it gives while the page shows text.
 * - `queries_per_second_open`: queries that the console asks, with a run of 8 events a second open in
 *   three tabs; `…_idle`: with the inbox open, and no run.
 * - `torrent_…`: a page that is open while 300 pieces of text come each second, for 30 s; with
 *   `EVERLOOP_BENCH_LONG=1` for 10 minutes.
 * - `dev_start_added_ms`, `dev_added_mb`: time until `everloop dev` is ready and its resident memory,
 *   less those with `--no-console`; medians of differences of seven pairs of the built program.
 * - `calibration_ms`: a fixed loop in the page. On a machine with nothing else to do it takes a third
 *   of what it takes beside two busy processes, and so do the other times.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildWeb } from '../src/console/build-web.ts';
import { openLargeConsole } from '../test/console/browser/large-console.ts';
import { webSizes } from '../test/console/web/web-sizes.ts';
import { devStart } from './console/dev-start.ts';
import { firstPaint, largeList } from './console/lists.ts';
import { load, torrent, toPixels } from './console/live.ts';
import { longRun } from './console/long-run.ts';
import { withConsole } from './support/console-stage.ts';
import { figure, type Bench, type Figure } from './support/figure.ts';

const ITERATIONS = 5_000;
const RUNS = 10_000;

/** The benchmark `console`. */
export const consoleBench: Bench = {
  name: 'console',
  about: 'paint, filter, live updates and sizes of the pages; what the console costs',
  run: async () => {
    const torrentS = process.env['EVERLOOP_BENCH_LONG'] === '1' ? 600 : 30;
    const measured = await withConsole(async (stage) => [
      ...(await firstPaint(stage)),
      ...(await prepared(stage.browser)),
      ...(await toPixels(stage)),
      ...(await load(stage)),
      ...(await torrent(stage, torrentS)),
    ]);
    return [...measured, ...(await sizes()), ...(await devStart())];
  },
};

async function prepared(browser: Parameters<typeof longRun>[0]): Promise<readonly Figure[]> {
  const large = await openLargeConsole(ITERATIONS, RUNS);
  try {
    return [
      ...(await largeList(browser, large, RUNS)),
      ...(await longRun(browser, large, ITERATIONS)),
    ];
  } finally {
    await large.close();
  }
}

async function sizes(): Promise<readonly Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'everloop-bench-web-'));
  try {
    await buildWeb(folder);
    const { firstScripts, styles, largestLater, folder: all } = await webSizes(folder);
    return [
      figure('js_gzip_bytes', firstScripts, 'B', '<= 45000'),
      figure('css_gzip_bytes', styles, 'B', '<= 8000'),
      figure('later_js_gzip_bytes', largestLater, 'B', '<= 30000'),
      figure('folder_bytes', all, 'B', '<= 400000'),
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
