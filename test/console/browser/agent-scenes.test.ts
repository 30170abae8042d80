/** Scenes of an agent's page with fixed answers: its day, and a form. */
import { describe, expect, it } from 'vitest';
import { fixturePages } from './fixture-pages.ts';

const { open, server } = fixturePages();

describe('the page of an agent', () => {
  it('starts a run from a form of its parameters, and says what it spent in a day', async () => {
    const { page, check } = await open('/agents/clerk');
    await page.getByText(/runs in the last day · .* tokens · \$/).waitFor();
    await page.getByLabel('Task').fill('Refund them.');
    await page.getByLabel('month').selectOption('may');
    await page.getByLabel('most').fill('many');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByText('Expected a number in most, got many.').waitFor();
    await check();
    await page.getByLabel('most').fill('300');
    await page.getByLabel('except').fill('["A-1001"]');
    await page.getByRole('button', { name: 'Start', exact: true }).click();

    await expect.poll(() => page.url()).toContain('/runs/');
    expect(server().actions.at(-1)?.body).toMatchObject({
      agent: 'clerk',
      task: 'Refund them.',
      context: { month: 'may', most: 300, except: ['A-1001'] },
    });
  });
});
