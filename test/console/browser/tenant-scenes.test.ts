/** Scenes of the page of tenants with fixed answers. */
import { describe, expect, it } from 'vitest';
import { META } from '../web/fixture-system.ts';
import { expectFits, fixturePages } from './fixture-pages.ts';

const { open, server } = fixturePages();

describe('the page of tenants', () => {
  it('says what each does now, what it has spent today, and what waits', async () => {
    const { page, check } = await open('/tenants', { scheme: 'dark' });
    const acme = page.getByRole('region', { name: 'Tenant acme' });
    await acme.getByText('20 of 20').waitFor();
    await acme.getByText('2 for their turn, 1 for the budget of the day').waitFor();
    await acme.getByText('2026-03-10 in Europe/Vienna, ends in 3 h').waitFor();
    await acme.getByRole('meter', { name: 'Cost' }).waitFor();
    await acme.getByText('$46.00 of $50.00, $2.00 reserved for live runs').waitFor();
    await page.getByText('No worker serves tenant').waitFor();
    await page.getByText('U+202E').first().waitFor();

    expect(await page.locator('main img, main script').count()).toBe(0);
    await check();
    await page.getByLabel('Filter tenants').fill('glob');
    await acme.waitFor({ state: 'detached' });
    await page.getByRole('region', { name: 'Tenant globex' }).getByText('silent').waitFor();
    await page.getByRole('link', { name: 'Runs', exact: true }).last().click();
    await expect.poll(() => page.url()).toContain('q=tenant%3Aglobex');
  });

  it('sets what changes and nothing else, and shows a refusal in place', async () => {
    const { page, check } = await open('/tenants', { mayFail: '/tenants/new' });
    const acme = page.getByRole('region', { name: 'Tenant acme' });
    await acme.getByRole('button', { name: 'Set' }).click();
    const dialog = page.getByRole('dialog');
    const set = dialog.getByRole('button', { name: 'Set' });
    expect(await set.isDisabled()).toBe(true);
    await dialog.getByLabel('Runs at once').fill('many');
    await dialog.getByRole('alert').getByText('Expected a number, got “many”.').waitFor();
    await dialog.getByLabel('Runs at once').fill('');
    await dialog.getByLabel('Tokens in a day', { exact: true }).fill('5000');
    await check();
    await set.click();
    await page.getByText('It holds for runs that begin from now on.').waitFor();
    const message = 'Expected a tenant of 1 to 63 letters, got another name.';
    server().refuse('/tenants/new one', { code: 'invalid_input', message });
    await page.getByRole('button', { name: 'Set a tenant' }).click();
    await dialog.getByLabel('Tenant', { exact: true }).fill('new one');
    await dialog.getByLabel('Share of a busy queue').fill('0.5');
    await set.click();
    await dialog.getByRole('alert').getByText(message).waitFor();

    const sent = server().actions.map(({ path, body: { requestId: _id, ...body } }) => [
      path,
      body,
    ]);
    expect(sent).toEqual([
      ['/tenants/acme', { concurrency: null, perDay: { costUsd: 50, totalTokens: 5_000 } }],
      ['/tenants/new one', { weight: 0.5 }],
    ]);
  });

  it('offers nothing to set to those who may only look, and fits a phone', async () => {
    server().answer('/meta', { ...META, role: 'read' });
    const { page, check } = await open('/tenants', { width: 390, height: 844 });
    await page.getByRole('region', { name: 'Tenant acme' }).waitFor();
    await page.getByText('read only').waitFor();

    expect(await page.locator('main').getByRole('button').count()).toBe(0);
    await expectFits(page);
    await check();
    server().answer('/meta', null);
  });
});
