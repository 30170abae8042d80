/** Scenes in which a person steers runs from their page. */
import { expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { shownForKeys } from '../opened-page.ts';
import { pageOf, type SceneStage } from './scene-stage.ts';

/** Opens a dialog of the run's page, fills it, and sends it. */
async function act(
  page: Page,
  button: string,
  verb: string,
  fill: () => Promise<void>,
): Promise<void> {
  await page.locator('.run-head').getByRole('button', { name: button }).first().click();
  await fill();
  await page.getByRole('dialog').getByRole('button', { name: verb, exact: true }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

/** Adds the scenes. */
export function steeringScenes(stage: () => SceneStage): void {
  it('starts a run, sends, pauses, resumes, changes limits and cancels from the page', async () => {
    const { everloop, open } = stage();
    const { page, check } = await open('/');
    await page.getByRole('button', { name: /Start a run/ }).click();
    await page.getByLabel('Agent', { exact: true }).fill('patient');
    await page.getByLabel('Task', { exact: true }).fill('Wait to be steered.');
    const files = page.getByLabel('Images and files');
    await files.setInputFiles({
      name: 'large.txt',
      mimeType: 'text/plain',
      buffer: Buffer.alloc(1_000_001),
    });
    await page.getByText('Expected files of at most 1000000 bytes together').waitFor();
    await files.setInputFiles({
      name: 'photo',
      mimeType: '',
      buffer: Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAE=', 'base64'),
    });
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByRole('heading', { name: 'patient' }).waitFor();
    const run = everloop.attach(decodeURIComponent(page.url().split('/').at(-1) ?? ''));
    const { task } = await run.startedWith();
    expect(task?.media).toMatchObject([{ mediaType: 'image/png' }]);
    const head = page.locator('.run-head');
    await page.getByText('nap').first().waitFor();
    await shownForKeys(page);
    await page.keyboard.press('p');
    await head.getByText('paused', { exact: true }).waitFor();
    await shownForKeys(page);
    await page.keyboard.press('p');
    await head.getByText('running', { exact: true }).waitFor();

    await act(page, 'Send', 'Send', async () => {
      await page.getByLabel('Text').fill('plan B');
      await page.getByRole('radio', { name: /Interrupt/ }).check();
      await check();
    });
    await page.getByText('Accepted at place 1.').waitFor();
    await page.getByText('On to the other.').waitFor();
    await page.getByText('canceled').first().waitFor();

    await act(page, 'Limits', 'Change', async () => {
      await page.getByLabel('New limit: Cost, in dollars').fill('0.25');
      await page.getByText(/^Cost \$0\.25 leaves \$0\.2\d* free\.$/).waitFor();
      await check();
    });
    await head.getByText('/ $0.25').waitFor();

    await act(page, 'Cancel', 'Cancel the run', () =>
      page.getByLabel('Reason').fill('It has waited enough.'),
    );
    await head.getByText('canceled', { exact: true }).waitFor();
    await head.getByText('It has waited enough.').waitFor();
    expect((await run.result()).status).toBe('canceled');
    await check();
  });

  it('lowers the limit of a tree: says what it does, marks where it was, and the tree ends', async () => {
    const { start, open } = stage();
    const run = await start('top', 'Look at both branches.');
    const { page, check } = await open(pageOf(run, '?tab=tree'));
    const head = page.locator('.run-head');
    await expect
      .poll(() => page.getByRole('link', { name: 'leaf' }).count(), { timeout: 30_000 })
      .toBe(2);
    await head.getByText(/\/ 1.000/).waitFor();
    await act(page, 'Limits', 'Change', async () => {
      await page.getByLabel('New limit: Tokens').fill('600');
      await page.getByText(/^Tokens 600 (leaves|is below)/).waitFor();
    });
    await head.getByText('/ 600').waitFor();
    await act(page, 'Limits', 'Change', async () => {
      await page.getByLabel('New limit: Tokens').fill('800');
      await page.getByText(/^Tokens 800 leaves/).waitFor();
    });
    await head.getByText('/ 800').waitFor();
    await head.locator('.tick-at').first().waitFor();
    await check();
    await act(page, 'Limits', 'Change', async () => {
      await page.getByLabel('New limit: Tokens').fill('50');
      await page.getByText(/the run ends at its next check/).waitFor();
    });
    await head.getByText('limit', { exact: true }).waitFor();
    await check();
  });
}
