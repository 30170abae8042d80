/** Scenes of forks, of what differs, and of evals, with fixed answers. */
import { describe, expect, it } from 'vitest';
import type { RunHeader } from '../../../src/console/api.ts';
import { EVAL_AGENT } from '../../../src/core/evaluation/eval-plan.ts';
import { answerOf } from '../web/fixture-answers.ts';
import { EVAL_ROWS } from '../web/fixture-forks.ts';
import { META } from '../web/fixture-system.ts';
import { AIRLINE, CLERK, expectFits, fixturePages } from './fixture-pages.ts';

const { open, server } = fixturePages();
const RUN = decodeURIComponent(AIRLINE.slice('/runs/'.length));
const OTHER = decodeURIComponent(CLERK.slice('/runs/'.length));

/** The header of the airline's run, changed. */
function header(change: Partial<RunHeader>): object {
  const found = answerOf(AIRLINE, new URLSearchParams(), server().runs) as { run: RunHeader };
  return { run: { ...found.run, ...change } };
}

describe('a fork', () => {
  it('begins at an iteration, with edits, and opens the new run', async () => {
    server().accept('/fork', { run: 'tester-7' });
    const { page, check } = await open(AIRLINE, { mayFail: '/fork' });
    await page.getByRole('button', { name: 'Fork before iteration 2' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/^The conversation: \d+ entr/).click();
    await dialog.getByRole('button', { name: 'Edit entry 0' }).click();
    await dialog.getByLabel('Text of entry 0').fill('Only flights to Vienna.');
    await dialog.getByLabel('An input that it reads first').fill('Think again.');
    await dialog.getByLabel('Cost limit in dollars').fill('0.5');
    await check();
    const message = 'Expected `effects`, got none: refund (once) ×1. Choose one.';
    server().refuse(`/runs/${RUN}/fork`, { code: 'fork_effects', message });
    const fork = dialog.getByRole('button', { name: 'Fork', exact: true });
    await fork.click();
    await dialog.getByRole('alert').getByText('refund (once) ×1').waitFor();
    server().refuse(`/runs/${RUN}/fork`, null);
    await dialog.getByRole('radio', { name: /^Replay only/ }).check();
    await fork.click();
    await expect.poll(() => page.url()).toContain('/runs/tester-7');
    await page.getByText('The fork has begun.').waitFor();

    expect(server().actions.at(-1)?.body).toEqual({
      requestId: expect.any(String),
      at: 2,
      definition: 'recorded',
      edits: [{ entry: 0, text: 'Only flights to Vienna.' }, { append: 'Think again.' }],
      limits: { costUsd: 0.5 },
      effects: 'replay-only',
    });
  });

  it('drops a call with its results, and says when a moment cannot be shown', async () => {
    const { page, check } = await open(AIRLINE, {
      width: 390,
      height: 844,
      scheme: 'dark',
      mayFail: '/moment',
    });
    await page.getByRole('button', { name: 'Fork', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/^The conversation: \d+ entr/).click();
    await dialog.getByRole('button', { name: 'Drop entry 0' }).click();
    await dialog.getByText('dropped', { exact: true }).first().waitFor();
    await expectFits(page);
    await check();
    const message = 'No worker serves the run.';
    server().answer(`/runs/${RUN}/moment`, { code: 'no_worker', message }, 503);
    await dialog.getByLabel('Before iteration').fill('1');
    await dialog.getByLabel('Before iteration').press('Tab');
    await dialog.getByText(message).waitFor();
    expect(await dialog.getByRole('button', { name: 'Fork', exact: true }).isEnabled()).toBe(true);
    server().answer(`/runs/${RUN}/moment`, null);
  });

  it('is not offered to those who may only look', async () => {
    server().answer('/meta', { ...META, role: 'read' });
    const { page } = await open(AIRLINE);
    await page.getByText('read only').waitFor();
    await page.getByRole('article', { name: 'Iteration 1', exact: true }).waitFor();

    expect(await page.getByRole('button', { name: /^Fork/ }).count()).toBe(0);
    server().answer('/meta', null);
  });

  it('says where it comes from, and what differs', async () => {
    server().answer(`/runs/${RUN}`, header({ forkedFrom: { run: OTHER, iteration: 3 } }));
    const { page, check } = await open(AIRLINE);
    await page.getByText(`forked from ${OTHER} at iteration 3`).waitFor();
    await check();
    await page.getByRole('link', { name: 'what differs' }).click();
    await page.getByRole('heading', { name: 'Two runs' }).waitFor();
    await page.getByRole('row', { name: /^Tokens/ }).waitFor();
    await page.getByText('<script>document.title=8</script>').waitFor();
    await page.getByText('U+202E').first().waitFor();

    expect(await page.locator('main img, main script').count()).toBe(0);
    await check();
    await page.setViewportSize({ width: 390, height: 844 });
    await expectFits(page);
    await check();
    server().answer(`/runs/${RUN}`, null);
  });

  it('says of runs that are not there that they cannot be compared', async () => {
    const { page, check } = await open('/diff?a=x&b=y', { mayFail: '/diff' });
    await page.getByRole('alert').waitFor();
    await check();
  });
});

describe('the run of an eval', () => {
  it.each([
    { width: 1360, scheme: 'light' as const },
    { width: 390, scheme: 'dark' as const },
  ])('shows its table, $width px wide', async ({ width, scheme }) => {
    const found = answerOf(`${AIRLINE}/stats`, new URLSearchParams(), server().runs) as {
      readonly step: object;
    };
    const step = { ...found.step, value: { v: 1, rows: EVAL_ROWS } };
    server().answer(`/runs/${RUN}`, header({ agent: EVAL_AGENT }));
    server().answer(`/runs/${RUN}/stats`, { ...found, step });
    const { page, check } = await open(AIRLINE, { width, height: 844, scheme });
    const card = page.getByRole('region', { name: 'How it ended' });
    await card.getByRole('cell', { name: '100 % [44 % to 100 %]' }).waitFor();
    await card.getByRole('table', { name: 'Difference from today' }).waitFor();
    await card.getByText('6 tries').click();
    await card.getByText('<script>document.title=9</script>').first().waitFor();

    expect(await card.getByRole('link').count()).toBe(4);
    expect(await page.locator('main img, main script').count()).toBe(0);
    await expectFits(page);
    await check();
    server().answer(`/runs/${RUN}`, null);
    server().answer(`/runs/${RUN}/stats`, null);
  });
});
