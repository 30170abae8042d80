/**
 * Scenes of a run of 5,000 iterations and of 10,000 runs, whose data is prepared behind the real
 * console. How fast they are, `npm run bench -- console` says.
 */
import { expect, it } from 'vitest';
import { withinMs } from '../../../support/extent.ts';
import { keyToPaint } from '../key-to-paint.ts';
import { LARGE_RUN, openLargeConsole } from '../large-console.ts';
import { openPage } from '../opened-page.ts';
import type { SceneStage } from './scene-stage.ts';

/** Adds the scenes. */
export function largeScenes(stage: () => SceneStage): void {
  it('opens a run of 5,000 iterations at its end, and lists and filters 10,000 runs', async () => {
    const large = await openLargeConsole(5_000, 10_000);
    try {
      const { page, context, check } = await openPage(stage().browser, large.urlOf('/'));
      await page.getByRole('link', { name: 'Go on and on.' }).waitFor();
      await page.getByText('10 000 in this namespace').waitFor();
      expect(await page.locator('.runs tbody tr').count()).toBeLessThan(120);
      await check();
      const filterMs = await keyToPaint(page, '9995', 'number 9995');
      expect(filterMs).toBeLessThan(withinMs(3 * 50));
      await page.getByRole('link', { name: 'Task number 9995.' }).waitFor();

      const openedAt = performance.now();
      await page.goto(large.urlOf(`/runs/${LARGE_RUN}`));
      await page.getByRole('article', { name: 'Iteration 5000', exact: true }).waitFor();
      expect(performance.now() - openedAt).toBeLessThan(withinMs(3 * 1_000));
      expect(await page.locator('article.iteration').count()).toBeLessThanOrEqual(200);
      await page.getByRole('button', { name: 'Show iterations before 4\u2009951' }).click();
      await page.getByRole('article', { name: 'Iteration 4950', exact: true }).waitFor();
      expect(await page.locator('article.iteration').count()).toBeLessThanOrEqual(200);
      await check();
      await context.close();
    } finally {
      await large.close();
    }
  });
}
