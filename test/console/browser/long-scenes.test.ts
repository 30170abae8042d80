/** Scenes of long runs with fixed answers: 5,000 iterations, 15,000 spans. */
import { describe, expect, it } from 'vitest';
import { marathonAnswer, MARATHON } from '../web/fixture-marathon.ts';
import { fixturePages } from './fixture-pages.ts';
import type { IterationView } from '../../../src/console/view/iteration-view.ts';

const { open, server } = fixturePages();
const PATH = `/runs/${MARATHON}`;

describe('a run of 5,000 iterations', () => {
  it('shows its end first and its whole length, and goes to any place of it', async () => {
    const { page, check } = await open(PATH);
    const overview = page.getByRole('region', { name: 'Overview' });
    await overview.getByText('Shown: 4\u2009951 to 5\u2009000').waitFor();
    await overview.getByText(/5\u2009000 iterations in 1 d/).waitFor();
    expect(await page.getByRole('article').count()).toBe(50);
    await check();

    const strip = overview.getByRole('slider', { name: 'Show the iterations around' });
    await strip.click({ position: { x: 300, y: 20 } });
    await expect.poll(() => page.url()).toMatch(/iteration=13\d\d/);
    await overview.getByText(/^Shown: 1\u2009\d+ to 1\u2009\d+$/).waitFor();
    for (let turn = 0; turn < 5; turn++) {
      const before = await page.getByRole('article').last().getAttribute('id');
      await page.getByRole('button', { name: /^Show iterations after/ }).click();
      await expect.poll(() => page.getByRole('article').last().getAttribute('id')).not.toBe(before);
    }
    expect(await page.getByRole('article').count()).toBeLessThanOrEqual(200);
    await page.keyboard.press('j');
    await page.getByRole('button', { name: 'Go to the end' }).click();
    await page.getByRole('article', { name: 'Iteration 5000', exact: true }).waitFor();
    await overview.getByText('Shown: 4\u2009951 to 5\u2009000').waitFor();
    await check();
  });

  it('paints thousands of spans in their colours, and opens the one that is pressed', async () => {
    const query = new URLSearchParams({ count: '200' });
    const { iterations } = marathonAnswer('iterations', query) as {
      readonly iterations: readonly IterationView[];
    };
    const many = iterations.map((view) => ({
      ...view,
      calls: Array.from({ length: 75 }, (_, place) => ({
        ...view.calls[0],
        callId: `${view.number}.${place + 1}`,
        tool: `tool_${place % 12}`,
      })),
    }));
    server().answer(`${PATH}/iterations`, { iterations: many, lastSeq: 50_009 });
    const { page, check } = await open(`${PATH}?tab=timeline`);
    const canvas = page.getByRole('img', { name: /15200 spans/ });
    await canvas.waitFor();
    const isModel = (): Promise<boolean> =>
      page.evaluate<boolean>(`(() => {
      const canvas = document.querySelector('canvas.spans');
      const { data } = canvas.getContext('2d').getImageData(1, 10, 1, 1);
      return data[3] === 255 && data[2] > 150;
    })()`);
    await expect.poll(isModel).toBe(true);
    await canvas.click({ position: { x: 1, y: 10 } });
    await expect.poll(() => page.url()).toContain('span=model');
    await page.getByRole('button', { name: 'Table' }).click();
    await page.getByRole('cell', { name: 'tool_3' }).first().waitFor();
    expect(await page.getByRole('row').count()).toBeLessThan(500);
    await check();
    server().answer(`${PATH}/iterations`, null);
  });
});
