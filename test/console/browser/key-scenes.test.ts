/** Scenes of keys, and of what a finger, a magnifier and a reader of screens need. */
import { describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { AIRLINE, CLERK, fixturePages } from './fixture-pages.ts';
import { shownForKeys } from './opened-page.ts';

const { open, server } = fixturePages();

/** The path and query of the page. */
const placeOf = (page: Page): string => page.url().slice(server().url.length);

describe('the keys of the console', () => {
  it('lead through runs, iterations and their parts, and back', async () => {
    const { page, check } = await open('/');
    await page.getByText('Refund the late orders of May.').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await page.keyboard.press('Enter');
    await expect.poll(() => placeOf(page)).toBe(CLERK);
    await page.getByRole('article', { name: 'Iteration 1', exact: true }).waitFor();
    await page.keyboard.press(']');
    await expect.poll(() => placeOf(page)).toBe(AIRLINE);
    await page.getByRole('article', { name: 'Iteration 2', exact: true }).waitFor();
    await page.keyboard.press('j');
    await expect.poll(() => placeOf(page)).toContain('iteration=');
    await page.keyboard.press('Escape');
    await expect.poll(() => placeOf(page)).toBe(AIRLINE);
    await page.keyboard.press('[');
    await expect.poll(() => placeOf(page)).toBe(CLERK);
    await page.getByRole('article', { name: 'Iteration 1', exact: true }).waitFor();
    await page.keyboard.press('[');
    await page.getByText('There is no run before this one.').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => placeOf(page)).toBe('/');
    await check();
  });

  it('keep the chosen run in the view, also in a magnified window', async () => {
    const { page } = await open('/', { width: 680, height: 640 });
    await page.getByText('Refund the late orders of May.').waitFor();
    for (let count = 0; count < 15; count++) await page.keyboard.press('j');
    await expect
      .poll(() =>
        page
          .locator('.runs tr.current')
          .boundingBox()
          .then((box) => box?.y),
      )
      .toBeLessThan(600);
  });

  it('do nothing in a field, and can be switched off, which hides their hints', async () => {
    const { page, check } = await open(CLERK);
    await page.getByRole('article', { name: 'Iteration 1', exact: true }).waitFor();
    await shownForKeys(page);
    await page.keyboard.press('s');
    await page.getByLabel('Text').pressSequentially('pause? g i');
    expect(await page.getByLabel('Text').inputValue()).toBe('pause? g i');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('?');
    const keys = page.getByRole('dialog', { name: 'Keys' });
    await keys.getByText('This list').waitFor();
    for (const key of ['?', 'Ctrl', 's', 'p', 'l', 'P', 'T', '[', ']', 't', '0', '8']) {
      expect(await keys.getByText(key, { exact: true }).count(), key).toBeGreaterThan(0);
    }
    await check();
    await keys.getByRole('checkbox').uncheck();
    await page.keyboard.press('Escape');
    await keys.waitFor({ state: 'detached' });
    const hint = page.getByRole('button', { name: 'Send' }).locator('kbd');
    await hint.waitFor({ state: 'hidden' });
    await page.keyboard.press('s');
    await page.keyboard.press('3');
    expect(placeOf(page)).toBe(CLERK);
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Find' }).waitFor();
  });
});

/** What can be pressed and is less than 24 px high or wide, and not a word in a sentence. */
const SMALL = `[...document.querySelectorAll('button,summary,input,select,main a')]
  .map((element) => {
    const target = element.matches('.runs .task a') ? element.closest('td') : element;
    const { width, height } = target.getBoundingClientRect();
    const around = getComputedStyle(target, '::after');
    const reach = around.position === 'absolute' ? -parseFloat(around.top) || 0 : 0;
    return { element, width, height: height + 2 * reach };
  })
  .filter(({ width, height }) => width > 0 && height > 0 && (width < 24 || height < 23.5))
  .filter(({ element }) => !element.matches('.span, p a, .crumbs a, label input, li a, dd a, td.mono a'))
  .map(({ element, width, height }) => element.outerHTML.slice(0, 90) + ' ' + width + ' x ' + height)`;

describe('the pages of the console', () => {
  it.each(['/', AIRLINE, `${CLERK}?tab=program`, `${AIRLINE}?tab=events`, '/inbox', '/system'])(
    'are easy to press, and fit 360 px and a magnified window: %s',
    async (path) => {
      const { page } = await open(path);
      await page.locator('h1').first().waitFor();
      await page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' });
      expect(await page.evaluate<readonly string[]>(SMALL)).toEqual([]);
      const levels = await page.evaluate<readonly number[]>(
        `[...document.querySelectorAll('h1,h2,h3')].map(({ tagName }) => Number(tagName[1]))`,
      );
      expect(levels[0]).toBe(1);
      for (const [index, level] of levels.entries()) {
        expect(level - (levels[index - 1] ?? 0), levels.join(' ')).toBeLessThanOrEqual(1);
      }
      // 680 px: a window of 1360 px at 200 %.
      for (const width of [680, 360]) {
        await page.setViewportSize({ width, height: 640 });
        const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
        expect(wide, String(width)).toBeLessThanOrEqual(width);
      }
    },
  );
});
