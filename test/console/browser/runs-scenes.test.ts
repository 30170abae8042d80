/** Scenes of the list of runs with fixed answers. */
import { describe, expect, it } from 'vitest';
import type { RunRow } from '../../../src/console/api.ts';
import { FIXTURE_NOW } from '../web/fixture-data.ts';
import { fixturePages } from './fixture-pages.ts';

const { open, server } = fixturePages();

function row(id: string): RunRow {
  const place = { id, agent: 'clerk', task: `Task of ${id}`, state: 'running' as const };
  return { ...place, parent: null, root: id, startedAt: FIXTURE_NOW - 1_000, closedAt: null };
}

describe('the list of runs', () => {
  it('shows the runs below a row when it is opened, level by level', async () => {
    const { page, check } = await open('/');
    const below = (id: string): ReturnType<typeof page.getByRole> =>
      page.getByRole('button', { name: `2 runs below ${id}`, exact: true });

    await below('top-31').click();
    await below('top-31/1.1').click();
    await expect.poll(() => page.locator('.runs tr.nested').count()).toBe(4);
    await check();
    await below('top-31').click();
    await expect.poll(() => page.locator('.runs tr.nested').count()).toBe(0);
  });

  it('counts the runs that ended at a limit, and lists them alone', async () => {
    const { page, check } = await open('/');
    await page.getByRole('button', { name: /^At a limit \d+\+$/ }).click();

    await expect
      .poll(async () => [...new Set(await page.locator('.runs .pill').allTextContents())])
      .toEqual(['limit: tokens']);
    expect(page.url()).toContain('state%3Alimit');
    await check();
  });

  it('keeps new runs back while the pointer is over it', async () => {
    const { page, check } = await open('/');
    await page.getByText('Refund the late orders of May.').hover();
    for (const id of ['clerk-a', 'clerk-b', 'clerk-c'])
      server().push({ kind: 'row', row: row(id) });
    const held = page.getByRole('button', { name: '3 new' });

    await held.waitFor();
    expect(await page.getByText('Task of clerk-a').count()).toBe(0);
    await check();
    await held.click();
    await page.getByText('Task of clerk-a').waitFor();
  });

  it('opens the run that was chosen by keys, also when new ones come above it', async () => {
    const { page } = await open('/');
    await page.getByText('Refund the late orders of May.').waitFor();
    await page.keyboard.press('j');
    const chosen = page.locator('.runs tbody tr.current');
    const name = await chosen.getByRole('link').first().getAttribute('href');
    server().push({ kind: 'row', row: row('clerk-newest') });
    await page.getByText('Task of clerk-newest').waitFor();
    await page.keyboard.press('Enter');

    await page.locator('.run-head').waitFor();
    expect(name).toBeTruthy();
    expect(page.url()).toContain(name ?? '');
  });

  it('pauses and cancels those that are chosen, and says which refused', async () => {
    const { page, check } = await open('/');
    await page.getByText('Refund the late orders of May.').waitFor();
    const before = server().actions.length;
    server().refuse('/runs/clerk-9999/cancel', { code: 'run_ended', message: 'It has ended.' });
    for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key);
    await page.getByRole('checkbox', { name: 'Choose clerk-9999' }).check({ force: true });
    const chosen = page.getByRole('region', { name: 'Chosen runs' });
    await chosen.getByText('3 runs chosen').waitFor();
    await check();
    await chosen.getByRole('button', { name: 'Cancel' }).click();
    await page.getByLabel('Reason').fill('not needed');
    await page.getByRole('button', { name: 'Cancel 3 runs' }).click();

    await chosen.getByText('It has ended.').waitFor();
    await chosen.getByText('1 run chosen').waitFor();
    await page.getByText('2 runs were told to end.').waitFor();
    const sent = server().actions.slice(before);
    expect(sent.map(({ body }) => body['reason'])).toEqual(Array(3).fill('not needed'));
    await page.keyboard.press('Escape');
  });

  it('offers to search on where a search stopped, and says when the service was slow', async () => {
    const slow = { part: 'page', code: 'busy', message: 'The service was slow.' };
    const nothing = { rows: [], counts: null };
    server().answer('/runs', { ...nothing, cursor: null, partial: [slow] });
    try {
      const { page, check } = await open('/');
      await page.getByRole('alert').getByText('The service was slow.').waitFor();
      expect(await page.getByText('No agent has run').count()).toBe(0);
      server().answer('/runs', { ...nothing, cursor: '60' });
      await page.getByRole('button', { name: 'Try again' }).click();
      const further = page.getByRole('button', { name: 'Search older runs' });
      await further.waitFor();
      await check();
      server().answer('/runs', null);
      await further.click();
      await page.locator('.runs tbody tr').first().waitFor();
      expect(await further.count()).toBe(0);
    } finally {
      server().answer('/runs', null);
    }
  });

  it('keeps ten thousand runs out of the page, and filters them by each key', async () => {
    const { page } = await open('/');
    await page.getByText('Refund the late orders of May.').waitFor();
    const height = (): Promise<number> =>
      page.evaluate<number>('document.documentElement.scrollHeight');
    for (let turn = 0; turn < 3; turn++) {
      const before = await height();
      await page.keyboard.press('End');
      await expect.poll(height).toBeGreaterThan(before);
    }

    expect(await page.locator('.runs tbody tr').count()).toBeLessThan(120);
    await page.keyboard.press('/');
    await page.keyboard.type('agent:research since:400d');
    await expect
      .poll(async () => [...new Set(await page.locator('.runs td.agent').allTextContents())])
      .toEqual(['research']);
    await page.getByRole('searchbox').fill('agent:nobody');
    await page.getByText('No run fits this filter.').waitFor();
  });
});
