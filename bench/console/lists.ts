/** Figures of the page of all runs. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { keyToPaint } from '../../test/console/browser/key-to-paint.ts';
import type { LargeConsole } from '../../test/console/browser/large-console.ts';
import { WRITER } from '../support/console-orders.ts';
import { openFresh, type ConsoleStage } from '../support/console-stage.ts';
import { figure, median, type Figure } from '../support/figure.ts';
import { calibrationMs, heapMb, paintedMs, paintScript } from '../support/page-scripts.ts';

/** Runs of the real list: one page of it. */
const LISTED = 200;
const AT_ONCE = 10;
const LOADS = 9;
const FILTERS = 5;
const FIRST_ROW = 'section[aria-label=Runs] tbody a';

/** Time to the first rows of a list of real runs, in a browser that has nothing of the page yet. */
export async function firstPaint(stage: ConsoleStage): Promise<readonly Figure[]> {
  const { everloop, browser, urlOf } = stage;
  for (let run = 0; run < LISTED; run += AT_ONCE) {
    const started = Array.from({ length: AT_ONCE }, () => everloop.start(WRITER, { task: '1' }));
    await Promise.all(started.map(async (each) => (await each).result()));
  }
  const bare = await bareSite();
  try {
    const times = await loads(browser, urlOf('/'), FIRST_ROW);
    const bareTimes = await loads(browser, bare.url, 'p');
    return [figure('first_paint_ms', median(times), 'ms', '<= 300', median(bareTimes))];
  } finally {
    bare.close();
  }
}

/** Figures of 10,000 runs, of which all rows are loaded. */
export async function largeList(
  browser: Browser,
  large: LargeConsole,
  runs: number,
): Promise<readonly Figure[]> {
  const first = await loads(browser, large.urlOf('/'), FIRST_ROW);
  const page = await openFresh(browser, large.urlOf('/'));
  const times: number[] = [];
  let heap = 0;
  for (let turn = 1; turn <= FILTERS; turn++) {
    await loadAll(page, runs);
    heap = Math.max(heap, await heapMb(page));
    const number = runs - turn * 7;
    times.push(await keyToPaint(page, String(number), `number ${number}`));
    await keyToPaint(page, '', 'a');
  }
  const calibration = await calibrationMs(page);
  await page.context().close();
  return [
    figure('first_paint_10000_ms', median(first), 'ms', '<= 300'),
    figure('filter_10000_ms', median(times), 'ms', '<= 50'),
    figure('heap_10000_mb', heap, 'MB', '<= 80'),
    figure('calibration_ms', calibration, 'ms'),
  ];
}

async function loads(browser: Browser, url: string, selector: string): Promise<readonly number[]> {
  const times: number[] = [];
  for (let load = 0; load < LOADS; load++) {
    const page = await openFresh(browser, url, paintScript('painted', selector));
    times.push(await paintedMs(page, 'painted'));
    await page.context().close();
  }
  return times;
}

/** Scrolls until all rows are loaded. */
async function loadAll(page: Page, runs: number): Promise<void> {
  await page.evaluate(`(async () => {
    const enough = ${runs} * 34;
    const pause = () => new Promise((resolve) => requestAnimationFrame(resolve));
    for (let turn = 0; document.documentElement.scrollHeight < enough; turn++) {
      if (turn > 20_000) throw new Error('Expected all rows of the list.');
      scrollTo(0, document.documentElement.scrollHeight);
      await pause();
    }
    scrollTo(0, 0);
    await pause();
    await pause();
  })()`);
}

/** A page of one word, as the floor of what this browser can do here. */
async function bareSite(): Promise<{ readonly url: string; readonly close: () => void }> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>bare</title><p>bare');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, close: () => server.close() };
}
