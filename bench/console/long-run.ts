/** Figures of the page of a run of 5,000 iterations. */
import type { Browser } from 'playwright-core';
import { LARGE_RUN, type LargeConsole } from '../../test/console/browser/large-console.ts';
import { openFresh } from '../support/console-stage.ts';
import { figure, median, type Figure } from '../support/figure.ts';
import { paintedMs, paintScript } from '../support/page-scripts.ts';

const LOADS = 5;

/** Time to its newest iteration, and to the outline of all of them. */
export async function longRun(
  browser: Browser,
  large: LargeConsole,
  iterations: number,
): Promise<readonly Figure[]> {
  const scripts = [
    paintScript('content', `#iteration-${iterations}`),
    paintScript('outline', '.overview', 'still being read'),
  ].join('\n');
  const content: number[] = [];
  const outline: number[] = [];
  let articles = 0;
  for (let load = 0; load < LOADS; load++) {
    const page = await openFresh(browser, large.urlOf(`/runs/${LARGE_RUN}`), scripts);
    content.push(await paintedMs(page, 'content'));
    outline.push(await paintedMs(page, 'outline'));
    articles = await page.locator('article.iteration').count();
    await page.context().close();
  }
  return [
    figure('open_5000_ms', median(content), 'ms', '<= 1000'),
    figure('outline_5000_ms', median(outline), 'ms', '<= 3000'),
    figure('iterations_in_dom', articles, '', '<= 200'),
  ];
}
