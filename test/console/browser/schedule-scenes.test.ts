/** Scenes of the page of schedules with fixed answers. */
import { describe, expect, it } from 'vitest';
import { META } from '../web/fixture-system.ts';
import { expectFits, fixturePages } from './fixture-pages.ts';

const { open, server } = fixturePages();

describe('the page of schedules', () => {
  it('says when each starts runs, how the last one ended, and what holds it up', async () => {
    const { page, check } = await open('/schedules');
    const nightly = page.getByRole('region', { name: 'Schedule nightly-digest' });
    await nightly.getByText('0 6 * * MON-FRI (Europe/Vienna)').waitFor();
    await nightly.getByText(/^in 20 h, /).waitFor();
    await nightly.getByText('The last 3 starts were skipped, because a run has waited').waitFor();
    const runs = nightly.getByRole('link', { name: '12 started, 3 skipped, 1 missed' });
    const hostile = page.getByRole('region').nth(1);
    await hostile.getByText('U+202E').first().waitFor();

    expect(await page.locator('main img, main script').count()).toBe(0);
    expect(await hostile.getByText('Next, which passes').count()).toBe(1);
    await check();
    await runs.click();
    await expect.poll(() => page.url()).toContain('q=schedule%3Anightly-digest');
  });

  it('pauses with a note, starts a run and deletes only after asking', async () => {
    server().accept('/trigger', { started: null });
    const { page, check } = await open('/schedules', { scheme: 'dark', mayFail: '/delete' });
    const nightly = page.getByRole('region', { name: 'Schedule nightly-digest' });
    await nightly.getByRole('button', { name: 'Pause' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/^Note/).fill('holidays');
    await check();
    await dialog.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('The schedule is paused.').waitFor();
    await nightly.getByRole('button', { name: 'Start a run now' }).click();
    await dialog.getByRole('button', { name: 'Start a run now' }).click();
    await page.getByText('No run was started').waitFor();
    const message = 'Expected a schedule that exists, got none.';
    server().refuse('/schedules/nightly-digest/delete', { code: 'schedule_not_found', message });
    await nightly.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('alert').getByText(message).waitFor();

    expect(server().actions.map(({ path, body }) => [path, body['note']])).toEqual([
      ['/schedules/nightly-digest/pause', 'holidays'],
      ['/schedules/nightly-digest/trigger', undefined],
      ['/schedules/nightly-digest/delete', undefined],
    ]);
    await check();
  });

  it('offers nothing to do to those who may only look, and fits a phone', async () => {
    server().answer('/meta', { ...META, role: 'read' });
    const { page, check } = await open('/schedules', { width: 390, height: 844 });
    await page.getByRole('region', { name: 'Schedule nightly-digest' }).waitFor();
    await page.getByText('read only').waitFor();

    expect(await page.locator('main').getByRole('button').count()).toBe(0);
    await expectFits(page);
    await check();
    server().answer('/meta', null);
  });

  it('says how to create one where there is none', async () => {
    server().answer('/schedules', { schedules: [], unread: [], hasMore: false });
    const { page, check } = await open('/schedules');
    await page.getByText('No schedule starts runs of agents.').waitFor();
    await check();
    server().answer('/schedules', null);
  });
});
